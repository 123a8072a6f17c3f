#include "experiment/gaussian_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <type_traits>

namespace jeffreys::experiment {
namespace {

// The trapezoidal rule converges faster than any power of the step on a Gaussian times a smooth
// function. Beyond 12 deviations lies less than rounding; the step resolves the kink of the
// mixture's log density between modes that are up to ten deviations apart.
constexpr double kReach = 12;
constexpr int kNodes = 2401;

constexpr int kMostSteps = 100;
constexpr double kLeastShare = 1e-3;  // of a Newton step
constexpr double kFlat = 1e-10;       // of the gradient
constexpr double kEqual = 1e-11;      // of divergences, above their rounding

const double kLogRootTwoPi = 0.5 * std::log(2 * std::numbers::pi);

void check(const LineGaussian& gaussian, const char* name) {
  if (std::isfinite(gaussian.mean) && gaussian.deviation > 0 && std::isfinite(gaussian.deviation)) {
    return;
  }
  throw std::invalid_argument(
      fmt::format("{}: expected a finite mean and deviation > 0, got {} and {}", name,
                  gaussian.mean, gaussian.deviation));
}

// The mean of f(z, x) over x = mean + deviation z with z normal.
template <typename F>
auto expectation(const LineGaussian& gaussian, const F& f) {
  const double step = 2 * kReach / (kNodes - 1);
  decltype(f(0.0, 0.0)) sum{};
  for (int i = 0; i < kNodes; ++i) {
    const double z = -kReach + step * i;
    const double weight = step * std::exp(-z * z / 2 - kLogRootTwoPi);
    const auto value = f(z, gaussian.mean + gaussian.deviation * z);
    if constexpr (std::is_same_v<decltype(sum), double>) {
      sum += weight * value;
    } else {
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += weight * value[k];
    }
  }
  return sum;
}

struct LogDensity {
  double value = 0;
  double slope = 0;
  double curvature = 0;
};

LogDensity log_density(const LineMixture& mixture, double x) {
  // Relative to the largest term: far outside all densities are 0.
  double largest = -std::numeric_limits<double>::infinity();
  const auto log_term = [&](const LineGaussian& part) {
    const double z = (x - part.mean) / part.deviation;
    return -z * z / 2 - std::log(part.deviation);
  };
  for (const LineGaussian& part : mixture.components) largest = std::max(largest, log_term(part));
  double sum = 0;
  double first = 0;
  double second = 0;
  for (const LineGaussian& part : mixture.components) {
    const double share = std::exp(log_term(part) - largest);
    const double precision = 1 / (part.deviation * part.deviation);
    const double slope = -(x - part.mean) * precision;
    sum += share;
    first += share * slope;
    second += share * (slope * slope - precision);
  }
  const double slope = first / sum;
  return {largest + std::log(sum) - kLogRootTwoPi -
              std::log(static_cast<double>(mixture.components.size())),
          slope, second / sum - slope * slope};
}

// The expected log density of the Gaussian is known; that of the mixture needs an integral.
DivergenceValue forward_divergence(const LineMixture& mixture, const LineGaussian& gaussian) {
  double negative_entropy = 0;
  for (const LineGaussian& part : mixture.components) {
    negative_entropy +=
        expectation(part, [&](double, double x) { return log_density(mixture, x).value; });
  }
  negative_entropy /= static_cast<double>(mixture.components.size());
  const LineGaussian moments = mixture.moments();
  const double precision = 1 / (gaussian.deviation * gaussian.deviation);
  const double shift = gaussian.mean - moments.mean;
  const double spread = (moments.deviation * moments.deviation + shift * shift) * precision;
  return {.value = negative_entropy + kLogRootTwoPi + std::log(gaussian.deviation) + spread / 2,
          .d_mean = shift * precision,
          .d_log = 1 - spread,
          .d_mean_mean = precision,
          .d_mean_log = -2 * shift * precision,
          .d_log_log = 2 * spread};
}

DivergenceValue reverse_divergence(const LineMixture& mixture, const LineGaussian& gaussian) {
  const auto expected = expectation(gaussian, [&](double z, double x) {
    const LogDensity log_p = log_density(mixture, x);
    const double d_log = gaussian.deviation * z;  // of x
    return std::array{log_p.value,
                      log_p.slope,
                      log_p.slope * d_log,
                      log_p.curvature,
                      log_p.curvature * d_log,
                      log_p.curvature * d_log * d_log + log_p.slope * d_log};
  });
  return {.value = -0.5 - kLogRootTwoPi - std::log(gaussian.deviation) - expected[0],
          .d_mean = -expected[1],
          .d_log = -1 - expected[2],
          .d_mean_mean = -expected[3],
          .d_mean_log = -expected[4],
          .d_log_log = -expected[5]};
}

DivergenceValue sum_of(const DivergenceValue& a, const DivergenceValue& b) {
  return {a.value + b.value,           a.d_mean + b.d_mean,
          a.d_log + b.d_log,           a.d_mean_mean + b.d_mean_mean,
          a.d_mean_log + b.d_mean_log, a.d_log_log + b.d_log_log};
}

// Where the Hessian has directions of descent or none, the smaller eigenvalue is lifted.
LineGaussian newton_step(const LineGaussian& at, const DivergenceValue& local, double share) {
  const double middle = (local.d_mean_mean + local.d_log_log) / 2;
  const double radius = std::hypot((local.d_mean_mean - local.d_log_log) / 2, local.d_mean_log);
  const double least = middle - radius;
  const double lift = std::max(0.0, 1e-3 * (std::abs(middle) + radius) - least);
  const double a = local.d_mean_mean + lift;
  const double b = local.d_mean_log;
  const double c = local.d_log_log + lift;
  const double determinant = a * c - b * b;
  const double mean = -(c * local.d_mean - b * local.d_log) / determinant;
  const double log = -(a * local.d_log - b * local.d_mean) / determinant;
  // No more than a factor of e at once.
  const double shrink = share / std::max({1.0, std::abs(log), std::abs(mean) / at.deviation});
  return {at.mean + shrink * mean, at.deviation * std::exp(shrink * log)};
}

LineGaussian descend(const LineMixture& mixture, Divergence kind, LineGaussian at) {
  DivergenceValue here = divergence(mixture, at, kind);
  for (int i = 0; i < kMostSteps && std::hypot(here.d_mean, here.d_log) > kFlat; ++i) {
    double share = 1;
    LineGaussian next = newton_step(at, here, share);
    DivergenceValue there = divergence(mixture, next, kind);
    while (!(there.value <= here.value + kEqual) && share > kLeastShare) {
      share /= 2;
      next = newton_step(at, here, share);
      there = divergence(mixture, next, kind);
    }
    if (!(there.value <= here.value + kEqual)) break;
    at = next;
    here = there;
  }
  return at;
}

}  // namespace

double LineGaussian::density(double x) const {
  const double z = (x - mean) / deviation;
  return std::exp(-z * z / 2 - kLogRootTwoPi) / deviation;
}

double LineMixture::density(double x) const { return std::exp(log_density(*this, x).value); }

LineGaussian LineMixture::moments() const {
  const auto n = static_cast<double>(components.size());
  double mean = 0;
  for (const LineGaussian& part : components) mean += part.mean / n;
  double variance = 0;
  for (const LineGaussian& part : components) {
    variance += (part.deviation * part.deviation + std::pow(part.mean - mean, 2)) / n;
  }
  return {mean, std::sqrt(variance)};
}

DivergenceValue divergence(const LineMixture& mixture, const LineGaussian& gaussian,
                           Divergence kind) {
  if (mixture.components.empty()) {
    throw std::invalid_argument("mixture: expected at least one component, got none");
  }
  for (const LineGaussian& part : mixture.components) check(part, "mixture");
  check(gaussian, "gaussian");
  if (kind == Divergence::forward) return forward_divergence(mixture, gaussian);
  if (kind == Divergence::reverse) return reverse_divergence(mixture, gaussian);
  return sum_of(forward_divergence(mixture, gaussian), reverse_divergence(mixture, gaussian));
}

LineGaussian fit_gaussian(const LineMixture& mixture, Divergence kind) {
  LineGaussian best = descend(mixture, kind, mixture.moments());
  double lowest = divergence(mixture, best, kind).value;
  for (const LineGaussian& part : mixture.components) {
    const LineGaussian found = descend(mixture, kind, part);
    const double value = divergence(mixture, found, kind).value;
    if (value >= lowest - kEqual) continue;
    lowest = value;
    best = found;
  }
  return best;
}

}  // namespace jeffreys::experiment
