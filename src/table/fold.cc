#include "table/fold.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jeffreys {

// How far inside lands what is at this distance beyond an end.
double Fold::depth(double distance) const {
  return std::isfinite(width_) ? -width_ * std::expm1(-distance / width_) : distance;
}

// The inverse, for a value with so much room between it and the opposite end; one end only has no
// opposite.
double Fold::distance(double room) const { return -width_ * std::log(room / width_); }

double Fold::inside(double value) const {
  if (std::isnan(value)) return value;
  const auto [lower, upper] = ends_;
  double folded = value;
  if (value < lower) folded = lower + depth(lower - value);
  if (value > upper) folded = upper - depth(value - upper);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return std::clamp(folded, std::nextafter(lower, kInfinity), std::nextafter(upper, -kInfinity));
}

std::optional<Fold::Source> Fold::below(double value) const {
  const auto [lower, upper] = ends_;
  if (!std::isfinite(lower)) return std::nullopt;
  if (!std::isfinite(upper)) return Source{lower - (value - lower), 0};
  return Source{lower - distance(upper - value), -std::log((upper - value) / width_)};
}

std::optional<Fold::Source> Fold::above(double value) const {
  const auto [lower, upper] = ends_;
  if (!std::isfinite(upper)) return std::nullopt;
  if (!std::isfinite(lower)) return Source{upper + (upper - value), 0};
  return Source{upper + distance(value - lower), -std::log((value - lower) / width_)};
}

}  // namespace jeffreys
