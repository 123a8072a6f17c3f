// Derivatives of rows' values by central finite differences.
#pragma once

#include "jeffreys/base/matrix.h"

namespace jeffreys::testing {

// log p has corners at the knots of its splines and where a ReLU turns on. A difference across a
// corner is no derivative: there the estimates of two step sizes lie apart, and `doubt` shows it.
struct RowDerivatives {
  Vector<double> value;
  Vector<double> doubt;
};

// d values / d step at 0 for each row, for a function of the step. Differences over h and 2 h give
// an estimate free of their h^2 term; the doubt is its distance from the same estimate over 2 h and
// 4 h. Each row takes the one of three steps h that leaves the least doubt: rounding speaks for
// long steps, corners and curvature speak for short ones.
template <typename Function>
RowDerivatives differentiate(const Function& values_at) {
  const auto slope = [&](double step) -> Vector<double> {
    return (values_at(step) - values_at(-step)) / (2 * step);
  };
  RowDerivatives best;
  for (const double h : {1e-4, 1e-5, 1e-6}) {
    const Vector<double> two = slope(2 * h);
    const Vector<double> fine = (4 * slope(h) - two) / 3;
    const Vector<double> doubt = (fine - (4 * two - slope(4 * h)) / 3).cwiseAbs();
    if (best.value.size() == 0) best = {fine, doubt};
    best.value = (doubt.array() < best.doubt.array()).select(fine, best.value).eval();
    best.doubt = best.doubt.cwiseMin(doubt).eval();
  }
  return best;
}

}  // namespace jeffreys::testing
