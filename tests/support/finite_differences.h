// Derivatives of rows' values by central finite differences.
#pragma once

#include "jeffreys/model/matrix.h"

namespace jeffreys::testing {

// log p has corners at the knots of its splines and where a ReLU turns on. A difference across a corner
// is no derivative: there the estimates of two step sizes lie apart, and `doubt` shows it.
template <typename Values>
struct Derivative {
  Values value;
  Values doubt;
};

// d values / d step at 0, for a function of the step. Differences over h and 2 h give an estimate free
// of their h^2 term; the doubt is its distance from the same estimate over 2 h and 4 h.
template <typename Function>
auto differentiate(const Function& values_at, double h) {
  const auto slope = [&](double step) {
    return ((values_at(step) - values_at(-step)) / (2 * step)).eval();
  };
  const auto one = slope(h);
  const auto two = slope(2 * h);
  const auto four = slope(4 * h);
  using Values = std::remove_const_t<decltype(one)>;
  const Values fine = (4 * one - two) / 3;
  const Values coarse = (4 * two - four) / 3;
  return Derivative<Values>{fine, (fine - coarse).cwiseAbs()};
}

}  // namespace jeffreys::testing
