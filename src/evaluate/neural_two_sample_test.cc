#include "jeffreys/evaluate/neural_two_sample_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/checks.h"
#include "base/shuffle.h"
#include "evaluate/classifier_network.h"
#include "evaluate/column_scale.h"
#include "jeffreys/base/random_purpose.h"

namespace jeffreys {
namespace {

constexpr std::size_t kUnitsPerFeature = 10;
constexpr std::size_t kMostFolds = 1000;

void check_rows(const char* argument, const MatrixView<double>& rows) {
  if (!rows.allFinite()) {
    throw std::invalid_argument(
        fmt::format("{}: expected finite values, got NaN or infinity", argument));
  }
}

void check_inputs(const MatrixView<double>& exact, const MatrixView<double>& model,
                  std::size_t folds) {
  check_at_least("columns of exact", exact.cols(), 1);
  check_at_least("rows of exact (as many as folds)", exact.rows(),
                 static_cast<std::int64_t>(folds));
  check_columns("model", model.cols(), exact.cols());
  if (model.rows() != exact.rows()) {
    throw std::invalid_argument(
        fmt::format("model: expected {} rows (as exact: else guessing would not score 0.5), got {}",
                    exact.rows(), model.rows()));
  }
  check_rows("exact", exact);
  check_rows("model", model);
}

// Both kinds in units of the exact rows. Any network can tell values beyond the limit from others,
// and below it float holds all that training computes from them, squares of gradients included.
Matrix<float> scaled_rows(const MatrixView<double>& exact, const MatrixView<double>& model) {
  constexpr double kFarthest = 1e6;
  const ColumnScale scale(exact);
  if (!scale.deviation.allFinite()) {
    throw std::invalid_argument("exact: expected values with finite squares, got larger ones");
  }
  Matrix<double> rows(2 * exact.rows(), exact.cols());
  rows << scale.standardized(exact), scale.standardized(model);
  return rows.cwiseMax(-kFarthest).cwiseMin(kFarthest).cast<float>();
}

struct FoldScore {
  double accuracy;
  std::size_t epochs;
};

// Learns from all rows of `order` but those of one fold, and scores on these.
FoldScore score_fold(const LabeledRows& data, std::span<const std::size_t> order, std::size_t fold,
                     const NeuralTwoSampleOptions& options) {
  const std::size_t share = order.size() / options.folds;
  const std::size_t larger = order.size() % options.folds;  // folds with one row more, which lead
  const std::size_t first = fold * share + std::min(fold, larger);
  const auto test = order.subspan(first, share + (fold < larger ? 1 : 0));
  std::vector<std::size_t> training(order.begin(), test.begin());
  training.insert(training.end(), test.end(), order.end());

  const auto features = static_cast<std::size_t>(data.x.cols());
  ClassifierNetwork network(features, kUnitsPerFeature * features, options.seed, fold);
  const std::size_t epochs = network.train(data, std::move(training), options.max_epochs);
  const std::vector<float> logits = network.logits(data.x, test);
  std::size_t right = 0;
  for (std::size_t i = 0; i < test.size(); ++i) {
    if ((logits[i] > 0) == (data.sign[test[i]] > 0)) ++right;
  }
  return {static_cast<double>(right) / static_cast<double>(test.size()), epochs};
}

double standard_error(const std::vector<double>& accuracies, double mean, std::size_t rows) {
  const auto folds = static_cast<double>(accuracies.size());
  double squares = 0;
  for (const double accuracy : accuracies) squares += (accuracy - mean) * (accuracy - mean);
  return std::sqrt(
      std::max(mean * (1 - mean) / static_cast<double>(rows), squares / (folds - 1) / folds));
}

}  // namespace

void NeuralTwoSampleOptions::validate() const {
  check_between("folds", static_cast<std::int64_t>(folds), 2, kMostFolds);
  check_between("max_epochs", static_cast<std::int64_t>(max_epochs), 1, 1000000);
}

NeuralTwoSampleResult neural_two_sample_test(const MatrixView<double>& exact,
                                             const MatrixView<double>& model,
                                             const NeuralTwoSampleOptions& options) {
  options.validate();
  check_inputs(exact, model, options.folds);
  const Matrix<float> x = scaled_rows(exact, model);
  const auto half = static_cast<std::size_t>(exact.rows());
  std::vector<float> sign(2 * half, 1.0F);
  std::fill_n(sign.begin(), half, -1.0F);
  std::vector<std::size_t> order(2 * half);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, {options.seed, kFoldOrder, 0});

  NeuralTwoSampleResult result;
  for (std::size_t fold = 0; fold < options.folds; ++fold) {
    const FoldScore score = score_fold({x, sign}, order, fold, options);
    result.fold_accuracies.push_back(score.accuracy);
    result.most_epochs = std::max(result.most_epochs, score.epochs);
  }
  const std::vector<double>& accuracies = result.fold_accuracies;
  result.accuracy = std::accumulate(accuracies.begin(), accuracies.end(), 0.0) /
                    static_cast<double>(accuracies.size());
  result.standard_error = standard_error(accuracies, result.accuracy, order.size());
  result.definition = fmt::format(
      "C2ST by sbibm's definition: accuracy in {}-fold cross-validation on 2 x {} rows of a "
      "network "
      "with 2 x {} ReLU units, trained as scikit-learn's MLPClassifier",
      options.folds, exact.rows(), kUnitsPerFeature * static_cast<std::size_t>(exact.cols()));
  return result;
}

}  // namespace jeffreys
