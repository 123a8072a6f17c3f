#include "jeffreys/evaluate/two_sample_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/checks.h"
#include "evaluate/boosted_trees.h"
#include "jeffreys/table/split.h"

namespace jeffreys {
namespace {

// Values between bins, as scikit-learn chooses them: midpoints between neighbours if there are few
// different values, else quantiles of the column.
std::vector<double> bin_limits(std::vector<double> column) {
  std::sort(column.begin(), column.end());
  std::vector<double> distinct = column;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<double> limits;
  if (distinct.size() <= kMostBins) {
    for (std::size_t i = 1; i < distinct.size(); ++i) {
      limits.push_back(std::midpoint(distinct[i - 1], distinct[i]));
    }
    return limits;
  }
  for (int bin = 1; bin < kMostBins; ++bin) {
    const double place = static_cast<double>(column.size() - 1) * bin / kMostBins;
    limits.push_back(std::midpoint(column[static_cast<std::size_t>(std::floor(place))],
                                   column[static_cast<std::size_t>(std::ceil(place))]));
  }
  return limits;
}

// Bin numbers of a column by the values of the training rows. Trees see the order of values alone,
// so nothing is lost to float, whatever the column's units.
void bin_column(const Matrix<double>& x, const std::vector<std::size_t>& training, Eigen::Index c,
                Matrix<float>& binned) {
  std::vector<double> known;
  for (const std::size_t row : training) {
    const double value = x(static_cast<Eigen::Index>(row), c);
    if (!std::isnan(value)) known.push_back(value);
  }
  const std::vector<double> limits = bin_limits(std::move(known));
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const auto bin = std::lower_bound(limits.begin(), limits.end(), x(i, c)) - limits.begin();
    binned(i, c) =
        std::isnan(x(i, c)) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(bin);
  }
}

Matrix<float> binned_rows(const Matrix<double>& x, const std::vector<std::size_t>& training) {
  Matrix<float> binned(x.rows(), x.cols());
  for (Eigen::Index c = 0; c < x.cols(); ++c) bin_column(x, training, c, binned);
  return binned;
}

// Infinite values become the largest ones, so that there is a number between them and all others.
Matrix<double> both_kinds(const MatrixView<double>& exact, const MatrixView<double>& model) {
  Matrix<double> rows(2 * exact.rows(), exact.cols());
  rows << exact, model;
  return rows.unaryExpr([](double value) {
    return std::clamp(value, std::numeric_limits<double>::lowest(),
                      std::numeric_limits<double>::max());
  });
}

void check_inputs(const MatrixView<double>& exact, const MatrixView<double>& model) {
  check_at_least("columns of exact", exact.cols(), 1);
  check_at_least("rows of exact", exact.rows(), 1);
  check_columns("model", model.cols(), exact.cols());
  if (model.rows() != exact.rows()) {
    throw std::invalid_argument(
        fmt::format("model: expected {} rows (as exact: else guessing would not score 0.5), got {}",
                    exact.rows(), model.rows()));
  }
}

}  // namespace

void TwoSampleOptions::validate() const {
  if (!(test_share > 0 && test_share < 1)) {
    throw std::invalid_argument(
        fmt::format("test_share: expected more than 0 and less than 1, got {}", test_share));
  }
}

TwoSampleResult classifier_two_sample_test(const MatrixView<double>& exact,
                                           const MatrixView<double>& model,
                                           const TwoSampleOptions& options) {
  options.validate();
  check_inputs(exact, model);
  const Matrix<double> rows = both_kinds(exact, model);
  const auto label = [&](std::size_t row) {
    return static_cast<Eigen::Index>(row) < exact.rows() ? 1.0F : 0.0F;
  };
  const Split split =
      split_rows(static_cast<std::size_t>(rows.rows()), options.test_share, options.seed);
  std::vector<float> labels;
  for (const std::size_t row : split.training) labels.push_back(label(row));

  if (std::equal(labels.begin() + 1, labels.end(), labels.begin())) {
    throw std::invalid_argument(fmt::format(
        "exact: expected more rows, to learn from rows of both kinds, got {}", exact.rows()));
  }

  const Matrix<float> binned = binned_rows(rows, split.training);
  const std::vector<float> probabilities = boosted_tree_probabilities(
      binned(split.training, Eigen::all), labels, binned(split.validation, Eigen::all));
  std::size_t right = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if ((probabilities[i] > 0.5F) == (label(split.validation[i]) == 1.0F)) ++right;
  }
  const auto tests = static_cast<double>(probabilities.size());
  const double accuracy = static_cast<double>(right) / tests;
  return {.accuracy = accuracy,
          .standard_error = std::sqrt(accuracy * (1 - accuracy) / tests),
          .test_rows = probabilities.size(),
          .definition = fmt::format("C2ST: accuracy on a random {} of 2 x {} rows of {}",
                                    options.test_share, exact.rows(), boosted_trees_definition())};
}

}  // namespace jeffreys
