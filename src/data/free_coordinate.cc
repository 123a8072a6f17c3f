#include "data/free_coordinate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jeffreys {
namespace {

constexpr double kLogarithm = 0.1;
const double kLinear = std::sqrt(12.0);  // a uniform distribution then has the deviation 1
constexpr int kMostSteps = 100;

bool two_ends(const Bounds& ends) { return std::isfinite(ends.lower) && std::isfinite(ends.upper); }

// The coordinate as a function of the logit of u, and its derivative.
double coordinate_of(double logit) {
  return kLinear * (1 / (1 + std::exp(-logit)) - 0.5) + kLogarithm * logit;
}
double slope_at(double logit) {
  const double share = 1 / (1 + std::exp(-std::abs(logit)));
  return kLinear * share * (1 - share) + kLogarithm;
}

// Newton's method, kept in an interval that halves where a step would leave it.
double logit_of(double coordinate) {
  // The linear part is within -+ sqrt(12) / 2.
  double least = (coordinate - kLinear / 2) / kLogarithm;
  double most = (coordinate + kLinear / 2) / kLogarithm;
  double logit = std::clamp(coordinate, least, most);
  for (int step = 0; step < kMostSteps; ++step) {
    const double miss = coordinate_of(logit) - coordinate;
    (miss > 0 ? most : least) = logit;
    double next = logit - miss / slope_at(logit);
    if (!(next > least && next < most)) next = least + (most - least) / 2;
    if (std::abs(next - logit) <= 1e-15 * std::max(1.0, std::abs(logit))) return next;
    logit = next;
  }
  return logit;
}

}  // namespace

double free_coordinate(const Distribution& distribution, double value) {
  const Bounds ends = distribution.support();
  if (!two_ends(ends)) return distribution.normal_score(value);
  if (std::isnan(value)) return value;
  if (value <= ends.lower) return -std::numeric_limits<double>::infinity();
  if (value >= ends.upper) return std::numeric_limits<double>::infinity();
  const double below = value - ends.lower;
  const double above = ends.upper - value;
  return kLinear * (below / (ends.upper - ends.lower) - 0.5) +
         kLogarithm * (std::log(below) - std::log(above));
}

double from_free_coordinate(const Distribution& distribution, double coordinate) {
  const Bounds ends = distribution.support();
  if (!two_ends(ends)) return distribution.from_normal_score(coordinate);
  if (std::isnan(coordinate)) return coordinate;
  // Beyond, values are at the ends in double precision.
  constexpr double kFarthest = 100;
  const double logit = logit_of(std::clamp(coordinate, -kFarthest, kFarthest));
  const double width = ends.upper - ends.lower;
  // From the nearer end, so that values near either keep their precision.
  const double value = logit < 0 ? ends.lower + width / (1 + std::exp(-logit))
                                 : ends.upper - width / (1 + std::exp(logit));
  return std::clamp(value, std::nextafter(ends.lower, ends.upper),
                    std::nextafter(ends.upper, ends.lower));
}

double log_coordinate_slope(const Distribution& distribution, double value) {
  const Bounds ends = distribution.support();
  if (!two_ends(ends)) return distribution.log_score_slope(value);
  const double width = ends.upper - ends.lower;
  return std::log(kLinear / width +
                  kLogarithm * (1 / (value - ends.lower) + 1 / (ends.upper - value)));
}

}  // namespace jeffreys
