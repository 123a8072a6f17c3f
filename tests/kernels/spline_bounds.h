// How far a spline kernel may be from the exact spline.
//
// A kernel's knots, and its results, are off by some rounding errors of numbers up to 10 in
// magnitude: less than delta = 64 epsilon. A steep spline (slopes reach 1e4, where a narrow bin is
// high) or its inverse (where a wide bin is low) magnifies this, so no fixed bound holds for all
// parameters. But the exact spline f rises, so a computed y is as good as it can be when it lies
// between f(x - delta) and f(x + delta), give or take delta, and a computed x when y lies between
// f(x - delta) and f(x + delta), give or take delta. These bounds need no slopes; where a slope is
// constant they say that errors are magnified by it, or by 1 / slope in the inverse.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/error_meter.h"
#include "kernels/spline_reference.h"

namespace jeffreys::kernels {

template <typename T>
inline constexpr double kDelta = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());

// y as the value at x.
template <typename T>
void add_value_error(const ExactSpline& exact, T x, T y, ErrorMeter& errors) {
  errors.add_between(y, exact.value(x - kDelta<T>), exact.value(x + kDelta<T>), kDelta<T>);
}

struct Range {
  double low;
  double high;
};

// The log determinants within delta of x; they are extreme at knots, so these count.
inline Range log_determinants_near(const ExactSpline& exact, double x, double delta) {
  const auto at_x = static_cast<double>(exact.log_determinant(x));
  Range range{at_x, at_x};
  const auto include = [&](long double at) {
    const auto value = static_cast<double>(exact.log_determinant(at));
    range = {std::min(range.low, value), std::max(range.high, value)};
  };
  for (int i = -16; i <= 16; ++i) include(x + static_cast<long double>(delta) * i / 16);
  for (const long double knot : exact.x_knots()) {
    if (std::abs(knot - x) <= delta) include(knot);
  }
  return range;
}

template <typename T>
void add_log_determinant_error(const ExactSpline& exact, T x, T log_determinant,
                               ErrorMeter& errors) {
  const Range range = log_determinants_near(exact, x, kDelta<T>);
  errors.add_between(log_determinant, range.low, range.high, kDelta<T>);
}

}  // namespace jeffreys::kernels
