#include "jeffreys/evaluate/mixture_baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/log_sum_exp.h"
#include "evaluate/column_scale.h"
#include "evaluate/mixture_em.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

constexpr int kCountsWithoutGain = 2;

// 1, 2, 3, 4, 6, 8, 12, ...: steps of about 1.4.
std::size_t next_count(std::size_t count) {
  if (count < 4) return count + 1;
  const bool power_of_two = (count & (count - 1)) == 0;
  return power_of_two ? count + count / 2 : count / 3 * 4;
}

MixtureFitOptions fit_options(const MixtureOptions& options, std::size_t count,
                              double least_variance = kLeastVariance) {
  return {count, options.starts, options.seed, least_variance, &options.on_step};
}

std::vector<MixtureComponent> choose_components(const WeightedRows& training,
                                                const WeightedRows& validation,
                                                const MixtureOptions& options) {
  const std::size_t half = static_cast<std::size_t>(training.x.rows()) / 2;
  const std::size_t most = std::min(options.most_components, std::max<std::size_t>(half, 1));
  MixtureFit best;
  int without_gain = 0;
  for (std::size_t count = std::min(options.least_components, most);
       count <= most && without_gain < kCountsWithoutGain; count = next_count(count)) {
    MixtureFit fit = fit_mixture(training, validation, fit_options(options, count));
    const bool better = best.components.empty() || fit.score > best.score;
    without_gain = better ? 0 : without_gain + 1;
    if (better) best = std::move(fit);
  }
  return best.components;
}

// Rows that a mixture is fitted to, and those that judge it.
struct Fold {
  WeightedRows training;
  WeightedRows judges;
};

std::vector<Fold> judged_folds(const Matrix<double>& x, std::span<const std::size_t> parts) {
  const std::set<std::size_t> different(parts.begin(), parts.end());
  check_at_least("different parts", static_cast<std::int64_t>(different.size()), 2);
  std::vector<Fold> folds;
  for (const std::size_t part : different) {
    std::vector<std::size_t> own;
    std::vector<std::size_t> others;
    for (std::size_t row = 0; row < parts.size(); ++row) {
      (parts[row] == part ? own : others).push_back(row);
    }
    folds.push_back({{x(others, Eigen::all)}, {x(own, Eigen::all)}});
  }
  return folds;
}

struct MixtureChoice {
  std::size_t count = 1;
  double least_variance = kLeastVariance;
  int steps = 0;
  double score = -std::numeric_limits<double>::infinity();
};

MixtureChoice judge(const std::vector<Fold>& folds, std::size_t count, double least_variance,
                    const MixtureOptions& options) {
  MixtureChoice choice{count, least_variance, 0, 0};
  double rows = 0;
  for (const Fold& fold : folds) {
    const MixtureFit fit =
        fit_mixture(fold.training, fold.judges, fit_options(options, count, least_variance));
    choice.score += fit.score * static_cast<double>(fold.judges.x.rows());
    choice.steps += fit.steps;
    rows += static_cast<double>(fold.judges.x.rows());
  }
  choice.score /= rows;
  choice.steps =
      (choice.steps + static_cast<int>(folds.size()) / 2) / static_cast<int>(folds.size());
  return choice;
}

// One Gaussian tries every least variance. More components need more of it, if any: they try the
// best so far and the next.
MixtureChoice cross_validate(const std::vector<Fold>& folds, Eigen::Index rows,
                             const MixtureOptions& options) {
  constexpr std::array kLeast = {kLeastVariance, 1e-3, 1e-2, 1e-1};
  const auto half = static_cast<std::size_t>(rows) / 2;
  const std::size_t most = std::min(options.most_components, std::max<std::size_t>(half, 1));
  MixtureChoice best;
  int without_gain = 0;
  for (std::size_t count = std::min(options.least_components, most);
       count <= most && without_gain < kCountsWithoutGain; count = next_count(count)) {
    bool better = false;
    const double first = best.least_variance;
    int tried = 0;
    for (const double least : kLeast) {
      if (least < first || (count > 1 && ++tried > 2)) continue;
      const MixtureChoice choice = judge(folds, count, least, options);
      if (!(choice.score > best.score)) continue;
      better = true;
      best = choice;
    }
    without_gain = better ? 0 : without_gain + 1;
  }
  return best;
}

Vector<double> with_mean_one(const char* name, const VectorView<double>& weights,
                             Eigen::Index rows) {
  if (weights.size() == 0) return {};
  check_size(name, weights.size(), rows);
  if (!(weights.minCoeff() >= 0) || !(weights.sum() > 0)) {
    throw std::invalid_argument(
        fmt::format("{}: expected numbers that are not negative, and not all 0", name));
  }
  return weights / weights.mean();
}

}  // namespace

void MixtureOptions::validate() const {
  check_between("least_components", static_cast<std::int64_t>(least_components), 1,
                static_cast<std::int64_t>(most_components));
  check_at_least("starts", static_cast<std::int64_t>(starts), 1);
}

MixtureBaseline::MixtureBaseline(const MatrixView<double>& training,
                                 const MatrixView<double>& validation,
                                 const MixtureOptions& options, const VectorView<double>& weights,
                                 const VectorView<double>& validation_weights) {
  options.validate();
  check_fit_rows(training, validation);
  const ColumnScale scale(training);
  set_components(
      choose_components(
          {scale.standardized(training), with_mean_one("weights", weights, training.rows())},
          {scale.standardized(validation),
           with_mean_one("validation_weights", validation_weights, validation.rows())},
          options),
      scale.mean, scale.deviation);
}

MixtureBaseline::MixtureBaseline(const MatrixView<double>& x, std::span<const std::size_t> parts,
                                 const MixtureOptions& options) {
  options.validate();
  check_fit_rows(x, x);
  check_size("parts", static_cast<std::int64_t>(parts.size()), x.rows());
  const ColumnScale scale(x);
  const Matrix<double> rows = scale.standardized(x);
  const MixtureChoice best = cross_validate(judged_folds(rows, parts), x.rows(), options);
  set_components(
      fit_mixture({rows}, fit_options(options, best.count, best.least_variance), best.steps),
      scale.mean, scale.deviation);
}

void MixtureBaseline::set_components(std::vector<MixtureComponent> components,
                                     const Eigen::RowVectorXd& mean,
                                     const Eigen::RowVectorXd& deviation) {
  components_ = std::move(components);
  std::erase_if(components_, [](const MixtureComponent& part) { return part.weight == 0; });
  for (MixtureComponent& part : components_) {
    part.mean = part.mean.transpose().cwiseProduct(deviation) + mean;
    part.factor = deviation.asDiagonal() * part.factor;
  }
}

Vector<double> MixtureBaseline::log_prob(const MatrixView<double>& x) const {
  check_columns("x", x.cols(), components_.front().mean.size());
  Vector<double> result = log_sum_exp_of_rows(log_joint(x, components_));
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    if (!x.row(i).allFinite()) result[i] = std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

Matrix<double> MixtureBaseline::sample(Eigen::Index rows, std::uint64_t seed) const {
  check_at_least("rows", rows, 0);
  const Eigen::Index features = components_.front().mean.size();
  Vector<double> uniform(rows);
  Matrix<double> x(rows, features);
  const auto count = static_cast<std::size_t>(rows);
  kernels::fill_uniforms(
      kernels::RandomArguments<double>{{seed, kMixturePart, 0}, 0, count, 1, uniform.data()});
  kernels::fill_normals(kernels::RandomArguments<double>{
      {seed, kMixtureNoise, 0}, 0, count, static_cast<std::size_t>(features), x.data()});
  for (Eigen::Index i = 0; i < rows; ++i) {
    double rest = uniform[i];
    auto part = components_.begin();
    while (part + 1 != components_.end() && rest >= part->weight) rest -= (part++)->weight;
    x.row(i) = (part->factor * x.row(i).transpose() + part->mean).transpose().eval();
  }
  return x;
}

}  // namespace jeffreys
