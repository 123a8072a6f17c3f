#include "jeffreys/evaluate/divergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/checks.h"

namespace jeffreys {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kNormal95 = 1.959963984540054;

// Of rows that were drawn from this density.
void check_own_density(const char* argument, const VectorView<double>& log_p) {
  check_at_least(fmt::format("rows of {}", argument), log_p.size(), 1);
  for (Eigen::Index i = 0; i < log_p.size(); ++i) {
    if (log_p[i] == -kInfinity) {
      throw std::invalid_argument(fmt::format(
          "{}: expected more than -infinity, since its rows are drawn from it, got -infinity in "
          "row {}",
          argument, i));
    }
  }
}

// Of a mean, from deviations whose own mean is zero.
double error_of_mean(const Vector<double>& deviations) {
  const auto rows = static_cast<double>(deviations.size());
  return std::sqrt(deviations.squaredNorm() / (rows - 1) / rows);
}

// Mean of log(own / other) over rows drawn from `own`.
DivergenceEstimate mean_log_ratio(const VectorView<double>& own, const VectorView<double>& other) {
  const Vector<double> ratio = own - other;
  const double value = ratio.mean();
  const double outside = (other.array() == -kInfinity).cast<double>().mean();
  if (std::isinf(value)) return {value, kNan, outside};
  return {value, error_of_mean(ratio.array() - value), outside};
}

DivergenceEstimate sum(const DivergenceEstimate& forward, const DivergenceEstimate& reverse) {
  return {.value = forward.value + reverse.value,
          .standard_error = std::hypot(forward.standard_error, reverse.standard_error),
          .outside = std::max(forward.outside, reverse.outside)};
}

// Expectation under the proxy of f - log p_exact, from rows of the main model.
struct WeightedRatio {
  double mean = 0;
  double outside = 0;
  Vector<double> deviations;  // of the rows' contributions; their mean is zero
};

WeightedRatio weighted_ratio(const VectorView<double>& exact, const VectorView<double>& f,
                             const Vector<double>& weights) {
  // A row without weight says nothing, whatever its densities are.
  const auto counts = (weights.array() != 0).eval();
  const Vector<double> ratio = counts.select((f - exact).array(), 0.0);
  const Vector<double> parts = weights.cwiseProduct(ratio);
  WeightedRatio result{.mean = parts.mean(), .outside = 0, .deviations = {}};
  result.outside = (exact.array() == -kInfinity).select(weights.array(), 0.0).mean();
  result.deviations = parts - result.mean * weights;
  return result;
}

}  // namespace

Jeffreys jeffreys_divergence(const VectorView<double>& data_log_p_exact,
                             const VectorView<double>& data_log_p_model,
                             const VectorView<double>& sample_log_p_exact,
                             const VectorView<double>& sample_log_p_model) {
  check_size("data_log_p_model", data_log_p_model.size(), data_log_p_exact.size());
  check_size("sample_log_p_model", sample_log_p_model.size(), sample_log_p_exact.size());
  check_own_density("data_log_p_exact", data_log_p_exact);
  check_own_density("sample_log_p_model", sample_log_p_model);
  const DivergenceEstimate forward = mean_log_ratio(data_log_p_exact, data_log_p_model);
  const DivergenceEstimate reverse = mean_log_ratio(sample_log_p_model, sample_log_p_exact);
  return {forward, reverse, sum(forward, reverse)};
}

ZetaEstimate estimate_zeta(const VectorView<double>& log_weights) {
  check_at_least("log_weights", log_weights.size(), 1);
  const double top = log_weights.maxCoeff<Eigen::PropagateNaN>();
  if (!std::isfinite(top)) return {top, std::exp(top), kNan, kNan, kNan};
  const auto rows = static_cast<double>(log_weights.size());
  const Vector<double> weights = (log_weights.array() - top).exp();
  const double mean = weights.mean();
  const double log_zeta = top + std::log(mean);
  const double error = error_of_mean(weights.array() / mean - 1);  // of log zeta, to first order
  return {.log_zeta = log_zeta,
          .zeta = std::exp(log_zeta),
          .lower = std::exp(log_zeta - kNormal95 * error),
          .upper = std::exp(log_zeta + kNormal95 * error),
          .effective_sample_size = mean * mean * rows / weights.squaredNorm()};
}

ProxyDivergence proxy_divergence(const VectorView<double>& data_log_p_exact,
                                 const VectorView<double>& data_log_unnormalized,
                                 const VectorView<double>& sample_log_p_exact,
                                 const VectorView<double>& sample_log_p_main,
                                 const VectorView<double>& sample_log_unnormalized) {
  check_size("data_log_unnormalized", data_log_unnormalized.size(), data_log_p_exact.size());
  check_size("sample_log_p_main", sample_log_p_main.size(), sample_log_p_exact.size());
  check_size("sample_log_unnormalized", sample_log_unnormalized.size(), sample_log_p_exact.size());
  check_own_density("data_log_p_exact", data_log_p_exact);
  check_own_density("sample_log_p_main", sample_log_p_main);

  const Vector<double> log_weights = sample_log_unnormalized - sample_log_p_main;
  const ZetaEstimate zeta = estimate_zeta(log_weights);
  const Vector<double> weights = (log_weights.array() - zeta.log_zeta).exp();  // of mean 1
  const Vector<double> zeta_deviations = weights.array() - 1;                  // of log zeta

  DivergenceEstimate forward = mean_log_ratio(data_log_p_exact, data_log_unnormalized);
  const double data_error = forward.standard_error;
  forward.value += zeta.log_zeta;
  forward.standard_error = std::hypot(data_error, error_of_mean(zeta_deviations));

  const WeightedRatio ratio = weighted_ratio(sample_log_p_exact, sample_log_unnormalized, weights);
  const DivergenceEstimate reverse{
      .value = ratio.mean - zeta.log_zeta,
      .standard_error = error_of_mean(ratio.deviations - zeta_deviations),
      .outside = ratio.outside};

  // The errors of zeta in both directions cancel, so those of the sum are not those of its parts.
  DivergenceEstimate both = sum(forward, reverse);
  both.standard_error = std::hypot(data_error, error_of_mean(ratio.deviations));
  return {{forward, reverse, both}, zeta};
}

}  // namespace jeffreys
