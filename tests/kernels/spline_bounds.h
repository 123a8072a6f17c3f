// How far a spline kernel may be from the exact spline.
//
// A kernel's knots, and its results, are off by some rounding errors of numbers up to 10 in
// magnitude: less than delta = 64 epsilon. A steep spline (slopes reach 1e6, where a narrow bin is
// high) or its inverse (where a wide bin is low) magnifies this, so no fixed bound holds for all
// parameters. But the exact spline f rises, so a computed y is as good as it can be when it lies
// between f(x - delta) and f(x + delta), give or take delta, and a computed x when y lies between
// f(x - delta) and f(x + delta), give or take delta. These bounds need no slopes; where a slope is
// constant they say that errors are magnified by it, or by 1 / slope in the inverse.
#pragma once

#include <algorithm>
#include <limits>

#include "kernels/error_meter.h"
#include "kernels/spline_reference.h"

namespace jeffreys::kernels {

template <typename T>
inline constexpr double kDelta = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());

// y as the value at x, up to `units` times the errors that one evaluation may make.
template <typename T>
void add_value_error(const ReferenceSpline<double>& exact, T x, T y, double units,
                     ErrorMeter& errors) {
  const double delta = units * kDelta<T>;
  const auto at = static_cast<double>(x);
  errors.add_between(static_cast<double>(y), exact.value(at - delta), exact.value(at + delta),
                     delta);
}

struct Range {
  double low;
  double high;
};

// The log determinants within delta of x; the logarithm's slope is extreme at knots, so these
// count.
inline Range log_determinants_near(const ReferenceSpline<double>& exact, double x, double delta) {
  Range range{exact.log_determinant(x), exact.log_determinant(x)};
  const auto include = [&](double at) {
    const double value = exact.log_determinant(at);
    range = {std::min(range.low, value), std::max(range.high, value)};
  };
  for (int i = -16; i <= 16; ++i) include(x + delta * i / 16);
  for (const double knot : exact.x_knots()) {
    if (std::abs(knot - x) <= delta) include(knot);
  }
  return range;
}

template <typename T>
void add_log_determinant_error(const ReferenceSpline<double>& exact, T x, T log_determinant,
                               ErrorMeter& errors) {
  const Range range = log_determinants_near(exact, static_cast<double>(x), kDelta<T>);
  errors.add_between(static_cast<double>(log_determinant), range.low, range.high, kDelta<T>);
}

}  // namespace jeffreys::kernels
