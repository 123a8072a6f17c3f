#include "jeffreys/evaluate/mixture_baseline.h"

#include <algorithm>
#include <limits>
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

std::vector<MixtureComponent> choose_components(const Matrix<double>& training,
                                                const Matrix<double>& validation,
                                                const MixtureOptions& options) {
  const std::size_t half = static_cast<std::size_t>(training.rows()) / 2;
  const std::size_t most = std::min(options.most_components, std::max<std::size_t>(half, 1));
  MixtureFit best;
  int without_gain = 0;
  for (std::size_t count = 1; count <= most && without_gain < kCountsWithoutGain;
       count = next_count(count)) {
    MixtureFit fit = fit_mixture(training, validation, count, options.starts, options.seed);
    const bool better = best.components.empty() || fit.score > best.score;
    without_gain = better ? 0 : without_gain + 1;
    if (better) best = std::move(fit);
  }
  return best.components;
}

}  // namespace

void MixtureOptions::validate() const {
  check_at_least("most_components", static_cast<std::int64_t>(most_components), 1);
  check_at_least("starts", static_cast<std::int64_t>(starts), 1);
}

MixtureBaseline::MixtureBaseline(const MatrixView<double>& training,
                                 const MatrixView<double>& validation,
                                 const MixtureOptions& options) {
  options.validate();
  check_fit_rows(training, validation);
  const ColumnScale scale(training);
  components_ =
      choose_components(scale.standardized(training), scale.standardized(validation), options);
  std::erase_if(components_, [](const MixtureComponent& part) { return part.weight == 0; });
  for (MixtureComponent& part : components_) {
    part.mean = part.mean.transpose().cwiseProduct(scale.deviation) + scale.mean;
    part.factor = scale.deviation.asDiagonal() * part.factor;
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
