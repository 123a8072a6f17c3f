// A density on a grid, from samples: a histogram, blurred as much as predicts held-out samples
// best.
#pragma once

#include <array>
#include <vector>

#include "jeffreys/base/matrix.h"
#include "report/range.h"

namespace jeffreys::report {

// The shares of the samples that the drawn regions hold.
inline constexpr std::array<double, 2> kRegionShares = {0.5, 0.9};

struct SmoothDensity {
  Matrix<double> density = {};  // [rows, columns] of cells, relative to the highest: 0 to 1
  // Where the density is at least so high lies a share kRegionShares[i] of all samples.
  std::array<double, 2> thresholds = {};
};

// Of one column (one row of cells), and of two: x along the columns of cells, y along the rows.
// Samples outside the ranges count for nothing. Nothing is smoothed across the ends of the ranges.
SmoothDensity smooth_density(const std::vector<double>& x, const Interval& range,
                             Eigen::Index cells);
SmoothDensity smooth_density(const std::vector<double>& x, const Interval& x_range,
                             const std::vector<double>& y, const Interval& y_range,
                             Eigen::Index cells);

// The density between the centers of cells, for `factor` times as many cells each way.
Matrix<double> refined(const Matrix<double>& cells, Eigen::Index factor);

}  // namespace jeffreys::report
