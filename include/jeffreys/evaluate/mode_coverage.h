// Which modes of a mixture a model's samples reach, and how many samples lie at no mode at all: the
// two ways in which a fit by one KL divergence alone fails (ap:kl_behaviors).
#pragma once

#include <cstddef>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// The share of samples [rows, features] at each of centers [modes, features]: those nearer to it
// than to any other centre, and no further than `radius` (say, 3 deviations). A sample with a NaN
// is at none. Throws std::invalid_argument for no samples, no centres or a radius that is not
// positive.
[[nodiscard]] Vector<double> mode_shares(const MatrixView<double>& samples,
                                         const MatrixView<double>& centers, double radius);

struct ModeCoverage {
  std::size_t modes = 0;
  std::size_t covered = 0;  // modes with at least `least_fraction` of what they should have
  double covered_share = 0;
  double precision = 0;  // share of samples within the radius of any mode
};

// shares: mode_shares of a model's samples. expected: what they should be; mode_shares of rows from
// the true density are right for modes that overlap or weigh differently, 1/modes for all does for
// equal modes that lie apart. A mode of which nothing is expected throws std::invalid_argument, as
// does a least_fraction that is not positive.
[[nodiscard]] ModeCoverage mode_coverage(const VectorView<double>& shares,
                                         const VectorView<double>& expected,
                                         double least_fraction = 0.1);

}  // namespace jeffreys
