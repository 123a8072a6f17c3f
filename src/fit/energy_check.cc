#include "jeffreys/fit/energy_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "jeffreys/base/random_purpose.h"
#include "jeffreys/model/defensive_samples.h"
#include "jeffreys/objective/importance.h"

namespace jeffreys {
namespace {

constexpr double kLowSampleSize = 0.1;
constexpr double kHighParetoK = 0.7;
// Below this the rest of the mass does not change a verdict.
constexpr double kMuchUnseen = 0.1;
constexpr double kSomeUnseen = 0.05;
constexpr double kLargeDifference = 0.05;
constexpr Eigen::Index kSamplesAtOnce = 1 << 16;

std::span<const double> as_span(const Vector<double>& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

// The conditions first to first + context.rows() - 1.
template <typename T>
void normalize_part(const Density<T>& main, const UnnormalizedDensity<T>& proxy,
                    const Matrix<T>& context, Eigen::Index samples, std::uint64_t seed,
                    Eigen::Index first, EnergyNormalizer& result) {
  const Eigen::Index conditions = context.cols() > 0 ? context.rows() : 1;
  const DefensiveSamples<T> drawn =
      defensive_samples<T>(main, samples, context, {seed, kRowZeta, 0});
  const Vector<double> f = proxy.log_unnormalized(drawn.x, context).template cast<double>();
  const Vector<double> plain = f - drawn.log_prob;
  const Vector<double> mixed = f - drawn.log_mixture;
  const Eigen::Map<const Matrix<double>> by_condition(mixed.data(), samples, conditions);
  const Eigen::Map<const Matrix<double>> plain_by_condition(plain.data(), samples, conditions);
  const Eigen::Index half = samples / 2;
  for (Eigen::Index i = 0; i < conditions; ++i) {
    const Vector<double> all = by_condition.col(i);
    const Vector<double> own = plain_by_condition.col(i).head(half);
    // The first half of either kind.
    Vector<double> fewer(half / 2 * 2);
    fewer << all.head(half / 2), all.segment(half, half / 2);
    const ImportanceEstimate estimate = importance_estimate(as_span(own));
    const ImportanceEstimate mixture = importance_estimate(as_span(all));
    result.log_zeta(first + i) = mixture.log_zeta;
    result.log_zeta_half(first + i) = importance_estimate(as_span(fewer)).log_zeta;
    result.effective_sample_size(first + i) = estimate.effective_sample_size;
    result.pareto_k(first + i) = mixture.pareto_k;
    result.unseen(first + i) = 1 - std::exp(estimate.log_zeta - result.log_zeta(first + i));
  }
}

double quantile(Vector<double> values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.data(), values.data() + place, values.data() + values.size());
  return values(place);
}

}  // namespace

template <typename T>
EnergyNormalizer normalize_energy(const Density<T>& main, const UnnormalizedDensity<T>& proxy,
                                  const MatrixView<T>& context, Eigen::Index samples,
                                  std::uint64_t seed) {
  const Eigen::Index conditions = proxy.context_features() > 0 ? context.rows() : 1;
  EnergyNormalizer result;
  for (Vector<double>* values : {&result.log_zeta, &result.log_zeta_half,
                                 &result.effective_sample_size, &result.pareto_k, &result.unseen}) {
    values->resize(conditions);
  }
  const Eigen::Index step = std::max<Eigen::Index>(kSamplesAtOnce / samples, 1);
  for (Eigen::Index first = 0; first < conditions; first += step) {
    const Eigen::Index count = std::min(step, conditions - first);
    const Matrix<T> part =
        proxy.context_features() > 0 ? Matrix<T>(context.middleRows(first, count)) : Matrix<T>();
    normalize_part<T>(main, proxy, part, samples, seed, first, result);
  }
  return result;
}

std::vector<std::string> EnergyCheck::warnings() const {
  std::vector<std::string> list;
  if (conditions == 0) return list;
  if (!(effective_sample_size >= kLowSampleSize)) {
    list.push_back(fmt::format(
        "energy model not usable: effective sample size {:.1f} % of its importance weights",
        100 * effective_sample_size));
  } else if (!(pareto_k <= kHighParetoK)) {
    list.push_back(fmt::format(
        "energy model's normaliser is uncertain: Pareto k {:.2f} of its weights (above 0.7)",
        pareto_k));
  }
  if (unseen > kSomeUnseen) {
    list.push_back(fmt::format(
        "{:.0f} % of the energy model's mass is where the main model has hardly any samples",
        100 * unseen));
  }
  if (!(std::abs(log_zeta - log_zeta_half) < kLargeDifference)) {
    list.push_back(fmt::format(
        "the energy model's NLL is uncertain: with half as many samples for its normaliser it "
        "differs by {:+.3f}",
        log_zeta_half - log_zeta));
  }
  return list;
}

bool EnergyCheck::usable() const {
  return effective_sample_size >= kLowSampleSize && pareto_k <= kHighParetoK &&
         unseen < kMuchUnseen && std::isfinite(log_zeta);
}

EnergyCheck summarize(const EnergyNormalizer& n, Eigen::Index samples) {
  constexpr double kMost = 0.9;
  return {.conditions = n.log_zeta.size(),
          .samples = samples,
          .log_zeta = n.log_zeta.mean(),
          .log_zeta_lowest = n.log_zeta.minCoeff(),
          .log_zeta_highest = n.log_zeta.maxCoeff(),
          .log_zeta_half = n.log_zeta_half.mean(),
          .effective_sample_size = n.effective_sample_size.mean(),
          .pareto_k = quantile(n.pareto_k, kMost),
          .unseen = n.unseen.mean()};
}

template EnergyNormalizer normalize_energy(const Density<float>&, const UnnormalizedDensity<float>&,
                                           const MatrixView<float>&, Eigen::Index, std::uint64_t);
template EnergyNormalizer normalize_energy(const Density<double>&,
                                           const UnnormalizedDensity<double>&,
                                           const MatrixView<double>&, Eigen::Index, std::uint64_t);

}  // namespace jeffreys
