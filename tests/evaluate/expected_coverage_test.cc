// Coverage of an exact posterior, and of ones whose coverage is known or known to be wrong.
#include "jeffreys/evaluate/expected_coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "support/gaussian_posterior.h"

namespace jeffreys {
namespace {

using testing::gaussian_ranks;
using ::testing::HasSubstr;

TEST(ExpectedCoverage, TheExactPosteriorPasses) {
  const PosteriorRanks ranks = gaussian_ranks({.simulations = 1000});
  for (const ExpectedCoverage& result :
       {highest_density_coverage(ranks), reference_point_coverage(ranks)}) {
    EXPECT_EQ(result.calibration, Calibration::no_sign);
    EXPECT_THAT(result.verdict, HasSubstr("no sign of miscalibration with 1000 simulations"));
    ASSERT_EQ(result.levels.size(), 4U);
    for (const auto& level : result.levels) {
      EXPECT_NEAR(level.coverage, level.credibility, 4 * level.standard_error);
    }
    EXPECT_NEAR(result.levels[2].standard_error, std::sqrt(0.09 / 1000), 0.001);
    ASSERT_EQ(result.coverage.size(), 101U);
    EXPECT_EQ(result.coverage.front(), 0);
    EXPECT_EQ(result.coverage.back(), 1);
    EXPECT_TRUE(std::is_sorted(result.coverage.begin(), result.coverage.end()));
  }
}

TEST(ExpectedCoverage, CountsRanksBelowTheCredibility) {
  // Ranks 0 ... 9 once each and ten times 9 more: the region of 90 % holds 9 of 20.
  PosteriorRanks ranks{.samples = 9};
  for (int i = 0; i < 20; ++i) ranks.density.push_back(std::min(i, 9));
  const ExpectedCoverage result = highest_density_coverage(ranks);
  EXPECT_NEAR(result.levels[0].coverage, 5 / 20.0, 1e-12);
  EXPECT_NEAR(result.levels[2].coverage, 9 / 20.0, 1e-12);
  EXPECT_NEAR(result.levels[3].coverage, (9 + 0.5 * 11) / 20.0, 1e-12);
  // By hand: 11 of 24 after two of each kind are added.
  EXPECT_NEAR(result.levels[2].standard_error, std::sqrt(11.0 / 24 * 13 / 24 / 24), 1e-12);
  EXPECT_EQ(result.calibration, Calibration::over_confident);
}

TEST(ExpectedCoverage, IsThatOfAGaussianOfAnotherWidth) {
  // In one dimension the 68 % region of a posterior of 0.5 exact widths holds
  // 2 Phi(0.5 * 0.99446) - 1 = 0.38098 of the truths.
  const ExpectedCoverage result = highest_density_coverage(
      gaussian_ranks({.parameters = 1, .simulations = 2000, .samples = 400, .width = 0.5}));
  // The standard error is 0.0109; samples that are few add less than 0.001.
  EXPECT_NEAR(result.levels[1].coverage, 0.38098, 0.045);
}

TEST(ExpectedCoverage, PValuesOfTheExactPosteriorAreUniform) {
  // Of 200 the share below 0.2 has the standard error 0.028.
  int density = 0;
  int distance = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto ranks = gaussian_ranks({.simulations = 100, .samples = 30, .seed = seed});
    density += highest_density_coverage(ranks).p_value < 0.2 ? 1 : 0;
    distance += reference_point_coverage(ranks).p_value < 0.2 ? 1 : 0;
  }
  EXPECT_NEAR(density / 200.0, 0.2, 4 * 0.028);
  EXPECT_NEAR(distance / 200.0, 0.2, 4 * 0.028);
}

TEST(ExpectedCoverage, NamesTooNarrowTooWideAndShifted) {
  for (const Eigen::Index parameters : {1, 3, 10}) {
    const auto ranks = [&](double width, double shift) {
      return gaussian_ranks(
          {.parameters = parameters, .simulations = 600, .width = width, .shift = shift});
    };
    for (const auto diagnose : {highest_density_coverage, reference_point_coverage}) {
      const ExpectedCoverage narrow = diagnose(ranks(0.6, 0), 0.01);
      EXPECT_EQ(narrow.calibration, Calibration::over_confident) << parameters;
      EXPECT_THAT(narrow.verdict, HasSubstr("over-confident (too narrow or in the wrong place)"));
      const ExpectedCoverage wide = diagnose(ranks(1.7, 0), 0.01);
      EXPECT_EQ(wide.calibration, Calibration::under_confident) << parameters;
      const ExpectedCoverage shifted = diagnose(ranks(1, 3), 0.01);
      EXPECT_EQ(shifted.calibration, Calibration::over_confident) << parameters;
    }
  }
}

TEST(ExpectedCoverage, TheCurveLeavesItsBandWhereTheTestRejects) {
  for (const double width : {0.85, 1.0, 1.2}) {
    const ExpectedCoverage result =
        highest_density_coverage(gaussian_ranks({.simulations = 500, .width = width}), 0.05);
    EXPECT_EQ(result.distance > result.band, result.p_value < 0.05) << width;
  }
}

TEST(ExpectedCoverage, RefusesBadArguments) {
  const PosteriorRanks ranks = gaussian_ranks({.simulations = 20, .samples = 5});
  for (const double significance : {0.0, 1.0, std::nan("")}) {
    EXPECT_THROW((void)highest_density_coverage(ranks, significance), std::invalid_argument);
    EXPECT_THROW((void)reference_point_coverage(ranks, significance), std::invalid_argument);
  }
  EXPECT_THROW((void)highest_density_coverage({}), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys
