// Mean negative log density of rows that a model has not seen, with its standard error.
#pragma once

#include <cstddef>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

struct MeanNll {
  double nll = 0;
  double standard_error = 0;  // of the mean, from the spread over rows
  std::size_t rows = 0;
};

// From log densities, one for each row. No rows: NaN. weights: how much each row counts, in any
// unit; none: all the same.
[[nodiscard]] MeanNll mean_nll(const VectorView<double>& log_prob,
                               const VectorView<double>& weights = Vector<double>());

// The mean difference b - a of two models' log densities of the same rows: positive where b fits
// better. Its error is smaller than those of the two means.
struct PairedDifference {
  double mean = 0;
  double standard_error = 0;
};
[[nodiscard]] PairedDifference paired_difference(
    const VectorView<double>& a, const VectorView<double>& b,
    const VectorView<double>& weights = Vector<double>());

}  // namespace jeffreys
