// The difference of two methods over several random splits of the same rows.
#pragma once

#include <cstddef>
#include <span>

namespace jeffreys {

struct ResampledDifference {
  double mean = 0;
  double standard_error = 0;  // corrected; NaN for one split
  double lower = 0;           // of the 95 % interval by Student's t
  double upper = 0;
  std::size_t splits = 0;
};

// differences[i]: of split i. test_share: of all rows, how many each split judges by.
//
// Splits of the same rows overlap, and differences on them are alike: taken for independent, they
// would promise too much. Nadeau and Bengio (2003, "Inference for the generalization error")
// estimate their correlation as the share rho of rows that two test sets have in common, which
// makes the variance of the mean (1 / splits + rho / (1 - rho)) times that of one difference; rho =
// test_share, so that rho / (1 - rho) is their test rows / training rows where all rows are used.
//
// One split alone excludes nothing: its interval is from minus to plus infinity. Throws
// std::invalid_argument for no splits, or unless 0 <= test_share < 1.
[[nodiscard]] ResampledDifference resampled_difference(std::span<const double> differences,
                                                       double test_share);

}  // namespace jeffreys
