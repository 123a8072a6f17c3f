// Differences over overlapping splits.
#include "jeffreys/evaluate/resampled_interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "jeffreys/evaluate/seeds.h"

namespace jeffreys {
namespace {

TEST(ResampledDifference, IsStudentsIntervalForSplitsThatShareNothing) {
  const std::vector<double> zeros(5, 0.0);
  const std::vector<double> values = {0.3, -0.1, 0.4, 0.2, 0.25};
  const ResampledDifference found = resampled_difference(values, 0);
  const PairedInterval expected = paired_interval(zeros, values);
  EXPECT_DOUBLE_EQ(found.mean, expected.mean);
  EXPECT_NEAR(found.lower, expected.lower, 1e-12);
  EXPECT_NEAR(found.upper, expected.upper, 1e-12);
  EXPECT_EQ(found.splits, 5u);
}

// Nadeau and Bengio: variance (1/J + n_test/n_train) s^2, by hand for values with s = 1.
TEST(ResampledDifference, GrowsWithTheRowsThatSplitsShare) {
  const std::vector<double> values = {1, 2, 3};
  const ResampledDifference found = resampled_difference(values, 0.2);  // n_test/n_train = 1/4
  EXPECT_DOUBLE_EQ(found.mean, 2);
  EXPECT_NEAR(found.standard_error, std::sqrt(1.0 / 3 + 0.25), 1e-12);
  EXPECT_NEAR(found.upper - found.mean, student_t_quantile(0.975, 2) * found.standard_error, 1e-12);
}

// Means of ten splits of 200 rows, 20 % for the test: their intervals hold the true mean 0 in
// about 95 % of 400 tables, plain ones in fewer.
TEST(ResampledDifference, HoldsTheTruthAsOftenAsItSays) {
  std::uint64_t state = 1;
  const auto uniform = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (static_cast<double>(state >> 11) + 0.5) / 9007199254740992.0;
  };
  int corrected = 0;
  int plain = 0;
  constexpr int kTables = 400;
  for (int t = 0; t < kTables; ++t) {
    std::vector<double> rows(200);
    for (double& row : rows)
      row = std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307 * uniform());
    std::vector<double> means;
    for (int split = 0; split < 10; ++split) {
      for (std::size_t i = 0; i < 40; ++i) {
        std::swap(rows[i],
                  rows[i + static_cast<std::size_t>(uniform() * static_cast<double>(200 - i))]);
      }
      double sum = 0;
      for (std::size_t i = 0; i < 40; ++i) sum += rows[i] / 40;
      means.push_back(sum);
    }
    const ResampledDifference right = resampled_difference(means, 0.2);
    const ResampledDifference naive = resampled_difference(means, 0);
    corrected += right.lower < 0 && right.upper > 0 ? 1 : 0;
    plain += naive.lower < 0 && naive.upper > 0 ? 1 : 0;
  }
  // Standard error of the share: 0.011.
  EXPECT_NEAR(static_cast<double>(corrected) / kTables, 0.95, 0.05);
  EXPECT_LT(static_cast<double>(plain) / kTables, 0.85);
}

TEST(ResampledDifference, OneSplitExcludesNothing) {
  const std::vector<double> one = {0.5};
  const ResampledDifference found = resampled_difference(one, 0.2);
  EXPECT_EQ(found.mean, 0.5);
  EXPECT_TRUE(std::isinf(found.upper) && std::isinf(found.lower));
  EXPECT_THROW(static_cast<void>(resampled_difference({}, 0.2)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(resampled_difference(one, 1)), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys
