// Summaries over seeds against tables of Student's distribution and sums by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "jeffreys/evaluate/seeds.h"
#include "support/not_finite.h"

namespace jeffreys {
namespace {

TEST(Seeds, QuantilesAreThoseOfPrintedTables) {
  struct Entry {
    double probability;
    std::size_t degrees;
    double t;
  };
  for (const auto& [probability, degrees, t] :
       {Entry{0.975, 1, 12.7062}, Entry{0.975, 2, 4.30265}, Entry{0.975, 3, 3.18245},
        Entry{0.975, 4, 2.77645}, Entry{0.975, 9, 2.26216}, Entry{0.975, 29, 2.04523},
        Entry{0.975, 30, 2.04227}, Entry{0.975, 49, 2.00958}, Entry{0.95, 5, 2.01505},
        Entry{0.995, 10, 3.16927}, Entry{0.75, 1, 1.0}, Entry{0.975, 1000, 1.96234}}) {
    EXPECT_NEAR(student_t_quantile(probability, degrees), t, 5e-5 * t) << degrees;
    EXPECT_NEAR(student_t_quantile(1 - probability, degrees), -t, 5e-5 * t) << degrees;
  }
  EXPECT_NEAR(student_t_quantile(0.5, 7), 0, 1e-12);
}

TEST(Seeds, SummaryIsMeanAndDeviationOfOneRun) {
  const SeedSummary summary = seed_summary(std::vector<double>{1, 2, 3, 6});
  EXPECT_DOUBLE_EQ(summary.mean, 3);
  EXPECT_DOUBLE_EQ(summary.standard_deviation, std::sqrt(14.0 / 3));
  EXPECT_EQ(summary.n, 4u);
}

TEST(Seeds, OneRunHasNoDeviation) {
  const SeedSummary summary = seed_summary(std::vector<double>{5});
  EXPECT_EQ(summary.mean, 5);
  EXPECT_TRUE(std::isnan(summary.standard_deviation));
}

TEST(Seeds, IntervalIsStudentsForTheDifferences) {
  // Differences 1, 2, 3: mean 2, deviation 1, so the half width is 4.30265 / sqrt(3).
  const PairedInterval interval =
      paired_interval(std::vector<double>{10, 20, 30}, std::vector<double>{11, 22, 33});
  EXPECT_DOUBLE_EQ(interval.mean, 2);
  EXPECT_NEAR(interval.lower, 2 - 4.30265 / std::sqrt(3), 1e-5);
  EXPECT_NEAR(interval.upper, 2 + 4.30265 / std::sqrt(3), 1e-5);
  EXPECT_EQ(interval.n, 3u);
}

TEST(Seeds, WhatAllRunsShareDoesNotWidenTheInterval) {
  const std::vector<double> a{0, 100, -50, 7};
  std::vector<double> b;
  for (const double value : a) b.push_back(value + 0.25);
  const PairedInterval interval = paired_interval(a, b);
  EXPECT_DOUBLE_EQ(interval.lower, 0.25);
  EXPECT_DOUBLE_EQ(interval.upper, 0.25);
}

TEST(Seeds, OnePairExcludesNothing) {
  const PairedInterval interval = paired_interval(std::vector<double>{1}, std::vector<double>{3});
  EXPECT_EQ(interval.mean, 2);
  EXPECT_EQ(interval.lower, -kInfinity);
  EXPECT_EQ(interval.upper, kInfinity);
}

TEST(Seeds, RefusesWhatHasNoAnswer) {
  EXPECT_THROW((void)seed_summary({}), std::invalid_argument);
  EXPECT_THROW((void)paired_interval({}, {}), std::invalid_argument);
  EXPECT_THROW((void)paired_interval(std::vector<double>{1, 2}, std::vector<double>{1}),
               std::invalid_argument);
  EXPECT_THROW((void)student_t_quantile(0.975, 0), std::invalid_argument);
  for (const double probability : {0.0, 1.0, std::nan("")}) {
    EXPECT_THROW((void)student_t_quantile(probability, 3), std::invalid_argument);
  }
}

}  // namespace
}  // namespace jeffreys
