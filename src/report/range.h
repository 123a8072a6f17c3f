// Which part of the numbers a panel shows.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys::report {

// Not of NaN, nor beyond 1e100, where differences of coordinates overflow inside gnuplot.
bool can_be_drawn(double value);

// An interval that can be drawn: finite, not empty.
struct Interval {
  double min = 0;
  double max = 1;
};

// Around all values that can be drawn, with a margin; on a logarithmic axis those above 0.
Interval fit(const std::vector<const std::vector<double>*>& values, bool logarithmic = false);
// The given ends, or those of `fitted` where they are kFit; widened where it would be empty.
Interval choose(double min, double max, const Interval& fitted);

// The values that can be drawn.
std::vector<double> drawable(const std::vector<double>& values);
// The value below which a fraction of the values lies; they must not be empty.
double quantile(std::vector<double> values, double fraction);

std::vector<double> column_of(const MatrixView<double>& matrix, Eigen::Index column);

}  // namespace jeffreys::report
