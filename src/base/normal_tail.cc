#include "base/normal_tail.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

namespace jeffreys {
namespace {

constexpr double kLogRootTwoPi = 0.91893853320467274178;
constexpr double kLogHalf = -std::numbers::ln2;
constexpr double kRootHalf = 1 / std::numbers::sqrt2;

// Newton's method below gains digits quadratically from a start with one or two; more steps than
// this would only repeat the last bit.
constexpr int kMostNewtonSteps = 12;
constexpr double kLastBits = 4 * std::numeric_limits<double>::epsilon();

double upper_tail(double x) { return 0.5 * std::erfc(x * kRootHalf); }

// Intervals over which the density hardly changes: Gauss-Legendre with five points is exact to the
// last bits there, where differences of tails are not.
bool is_short(double begin, double width) { return width * (1 + std::abs(begin)) < 0.2; }

double log_mass_of_short(double begin, double width) {
  constexpr std::array<double, 3> kPlaces{0, 0.53846931010568309104, 0.90617984593866399280};
  constexpr std::array<double, 3> kWeights{0.56888888888888888889, 0.47862867049936646804,
                                           0.23692688505618908751};
  const auto relative_density = [&](double place) {
    const double step = 0.5 * width * (1 + place);
    return std::exp(-step * (begin + 0.5 * step));
  };
  double mean = 0.5 * kWeights[0] * relative_density(0);
  for (const std::size_t i : {1u, 2u}) {
    mean += 0.5 * kWeights[i] * (relative_density(kPlaces[i]) + relative_density(-kPlaces[i]));
  }
  return log_normal_density(begin) + std::log(width) + std::log(mean);
}

// log(exp(larger) - exp(smaller))
double log_difference(double larger, double smaller) {
  return larger + std::log1p(-std::exp(smaller - larger));
}

// Newton's method for the logarithm of the width, in which the mass of a short interval is linear.
double refined_width(double begin, double log_mass, double width) {
  for (int step = 0; step < kMostNewtonSteps; ++step) {
    const double reached = log_mass_between(begin, width);
    const double slope = width * std::exp(log_normal_density(begin + width) - reached);
    const double change = (log_mass - reached) / slope;
    width *= std::exp(change);
    if (!(std::abs(change) > kLastBits)) break;
  }
  return width;
}

}  // namespace

double log_normal_density(double x) { return -0.5 * x * x - kLogRootTwoPi; }

double log_upper_tail(double x) {
  constexpr double kFar = 35;  // before erfc loses digits, and where the series below has them all
  if (x < kFar) return std::log(upper_tail(x));
  const double y = 1 / (x * x);
  const double series = -y * (1 - 3 * y * (1 - 5 * y * (1 - 7 * y * (1 - 9 * y * (1 - 11 * y)))));
  return log_normal_density(x) - std::log(x) + std::log1p(series);
}

double upper_tail_quantile(double log_probability) {
  if (!std::isfinite(log_probability)) return -log_probability;
  if (log_probability >= kLogHalf) return 0;
  // Abramowitz and Stegun 26.2.23, good to 0.0005 for the probabilities that occur.
  const double t = std::sqrt(-2 * log_probability);
  double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                     (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  // log Q is concave, so Newton's method converges from everywhere.
  for (int step = 0; step < kMostNewtonSteps; ++step) {
    const double reached = log_upper_tail(x);
    const double change = (reached - log_probability) * std::exp(reached - log_normal_density(x));
    x += change;
    if (!(std::abs(change) > kLastBits * x)) break;
  }
  return std::max(x, 0.0);
}

double log_mass_between(double begin, double width) {
  if (is_short(begin, width)) return log_mass_of_short(begin, width);
  const double end = begin + width;
  if (begin > 0) return log_difference(log_upper_tail(begin), log_upper_tail(end));
  if (end < 0) return log_difference(log_upper_tail(-end), log_upper_tail(-begin));
  return std::log(0.5 * (std::erf(end * kRootHalf) - std::erf(begin * kRootHalf)));
}

double width_of_mass(double begin, double log_mass) {
  const double linear = std::exp(log_mass - log_normal_density(begin));
  if (linear < std::numeric_limits<double>::min()) return linear;
  if (is_short(begin, linear)) return refined_width(begin, log_mass, linear);
  if (begin > 0) {
    return upper_tail_quantile(log_difference(log_upper_tail(begin), log_mass)) - begin;
  }
  const double log_before = log_upper_tail(-begin);
  const double log_below = log_before < log_mass
                               ? log_mass + std::log1p(std::exp(log_before - log_mass))
                               : log_before + std::log1p(std::exp(log_mass - log_before));
  const double end = log_below < kLogHalf ? -upper_tail_quantile(log_below)
                                          : upper_tail_quantile(std::log(-std::expm1(log_below)));
  return end - begin;
}

}  // namespace jeffreys
