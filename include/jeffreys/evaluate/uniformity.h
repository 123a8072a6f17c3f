// Tests of uniformity for ranks, and the tails of the distributions they need. A true value that
// comes from the same distribution as L samples has each rank 0, 1, ..., L with the same
// probability: every diagnostic of a posterior is a test of that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jeffreys {

// Probability that a chi-square variable exceeds the value.
[[nodiscard]] double chi_square_tail(double value, std::size_t degrees_of_freedom);

// Probability that the largest distance between the empirical distribution function of n uniform
// numbers and their true one exceeds `distance` (Kolmogorov-Smirnov, two-sided). By Kolmogorov's
// series with Vrbik's correction for finite n: off by at most 3e-3 for 10 numbers, 6e-4 for 20 and
// 2e-4 for 100.
[[nodiscard]] double kolmogorov_smirnov_tail(double distance, std::size_t n);
// The distance that has this tail, 0 < tail < 1: half the width of the band in which the whole
// empirical distribution function lies with probability 1 - tail.
[[nodiscard]] double kolmogorov_smirnov_distance(double tail, std::size_t n);

// Holm's step-down correction of p-values of several tests: rejecting those below a level keeps the
// probability of any false rejection below it, however the tests depend on each other.
[[nodiscard]] std::vector<double> holm_correction(std::span<const double> p_values);

// A bar of a histogram of ranks.
struct RankBin {
  int count = 0;
  double expected = 0;  // exact: bins may differ by one in how many ranks they hold
  int lower = 0;        // the count of a uniform rank lies in lower ... upper with probability 0.99
  int upper = 0;        // (pointwise: of 100 bars one is expected to be outside)
};

struct UniformityTest {
  // As many as 2 n^(2/5) (Mann and Wald), but no more than n / 5, so that about 5 counts are
  // expected in each, nor more than there are ranks.
  std::vector<RankBin> bins = {};
  double chi_square = 0;
  double chi_square_p_value = 1;
  double distance = 0;  // Kolmogorov-Smirnov, after ranks were spread over their interval
  double distance_p_value = 1;
  double p_value = 1;  // twice the smaller of both p-values (Bonferroni), at most 1
  // How many standard errors the ranks' mean, and their mean distance from the middle, lie above
  // those of uniform ones: whether they lean to one side, and whether they avoid the middle.
  double location = 0;
  double spread = 0;
};

// ranks [n], each 0 ... most. For the test by distance, which is for numbers without ties, a rank r
// becomes a uniform number between r / (most + 1) and (r + 1) / (most + 1), the same for the same
// seed. Throws std::invalid_argument for fewer than 10 ranks, or one outside 0 ... most.
[[nodiscard]] UniformityTest uniformity_test(std::span<const int> ranks, int most,
                                             std::uint64_t seed = 0);

}  // namespace jeffreys
