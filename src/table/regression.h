// Linear regression of a column on the context, for Schema::fit.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

struct LinearFit {
  std::vector<double> coefficients;  // one for each column of the context, then the intercept
  double deviation = 0;              // of the values from what it predicts
};

// Least squares over `rows` (empty: all) of context [n, features] and values [n], with a ridge of
// one row's weight, which decides where there are fewer rows than features.
LinearFit regress(const Matrix<double>& context, const Vector<double>& values,
                  std::span<const std::size_t> rows);

}  // namespace jeffreys
