// Coordinates without ends.
#include "data/free_coordinate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace jeffreys {
namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();
constexpr double kRounding = std::numeric_limits<double>::epsilon();

std::vector<Distribution> with_two_ends() {
  return {Distribution::uniform(-1, 1),
          Distribution::uniform(0, 1e-9),
          Distribution::uniform(1e6, 1e6 + 1),
          Distribution::uniform(-1e100, 3e100),
          Distribution::normal(0, 1, {.lower = -0.5, .upper = 3}),
          Distribution::normal(0, 1, {.lower = -1e6, .upper = 1e6}),
          Distribution::log_normal(-2, 0.5, {.upper = 4})};
}

std::vector<Distribution> with_one_end_or_none() {
  return {Distribution::normal(5, 2), Distribution::normal(0, 3, {.lower = 0}),
          Distribution::normal(0, 3, {.upper = -2}), Distribution::log_normal(-1, 2)};
}

std::vector<Distribution> with_any_ends() {
  std::vector<Distribution> all = with_two_ends();
  for (const Distribution& distribution : with_one_end_or_none()) all.push_back(distribution);
  return all;
}

// Shares of the way between two ends, or probabilities, from one side to the other.
std::vector<double> shares_of_the_way() {
  std::vector<double> shares{1e-9, 1e-6, 1e-4, 1e-3};
  for (int i = 1; i < 100; ++i) shares.push_back(i / 100.0);
  for (const double share : {1e-3, 1e-4, 1e-6, 1e-9}) shares.push_back(1 - share);
  return shares;
}

double value_at(const Distribution& distribution, double share) {
  const auto [lower, upper] = distribution.support();
  const bool two_ends = std::isfinite(lower) && std::isfinite(upper);
  return two_ends ? lower + (upper - lower) * share : distribution.quantile(share);
}

// What a double near the ends of the support, or near the value, cannot resolve.
double resolution_at(const Distribution& distribution, double value) {
  double largest = std::abs(value);
  const auto [lower, upper] = distribution.support();
  for (const double end : {lower, upper}) {
    if (std::isfinite(end)) largest = std::max(largest, std::abs(end));
  }
  return kRounding * largest;
}

TEST(FreeCoordinate, ValuesComeBack) {
  for (const Distribution& distribution : with_any_ends()) {
    for (const double share : shares_of_the_way()) {
      const double value = value_at(distribution, share);
      const double again = from_free_coordinate(distribution, free_coordinate(distribution, value));
      EXPECT_NEAR(again, value, 100 * resolution_at(distribution, value))
          << distribution.describe() << " at " << share;
    }
  }
}

TEST(FreeCoordinate, CoordinatesComeBack) {
  for (const Distribution& distribution : with_any_ends()) {
    for (double coordinate = -2.2; coordinate < 2.21; coordinate += 0.05) {
      const double value = from_free_coordinate(distribution, coordinate);
      const double slope = std::exp(log_coordinate_slope(distribution, value));
      EXPECT_NEAR(free_coordinate(distribution, value), coordinate,
                  1e-13 + 2 * slope * resolution_at(distribution, value))
          << distribution.describe();
    }
  }
}

TEST(FreeCoordinate, TheSlopeIsThatOfTheCoordinate) {
  for (const Distribution& distribution : with_any_ends()) {
    const auto [lower, upper] = distribution.support();
    for (double share = 1e-3; share < 1; share += 0.0499) {
      const double value = value_at(distribution, share);
      const double room = std::min(
          {value - lower, upper - value, std::exp(-log_coordinate_slope(distribution, value))});
      const double step = 1e-4 * room;
      const double rise =
          free_coordinate(distribution, value + step) - free_coordinate(distribution, value - step);
      // The differences' own error: 1e-8 / 3 of the third derivative, and rounding.
      const double rounding = resolution_at(distribution, value) / step;
      EXPECT_NEAR(std::log(rise / (2 * step)), log_coordinate_slope(distribution, value),
                  1e-7 + 4 * rounding)
          << distribution.describe() << " at " << share;
    }
  }
}

TEST(FreeCoordinate, ValuesAreStrictlyInsideForEveryNumber) {
  for (const Distribution& distribution : with_any_ends()) {
    const auto [lower, upper] = distribution.support();
    for (const double size : {0.0, 1.7, 10.0, 99.0, 101.0, 1e10, 1e300, kNoEnd}) {
      for (const double coordinate : {-size, size}) {
        const double value = from_free_coordinate(distribution, coordinate);
        EXPECT_TRUE(std::isfinite(value) && value > lower && value < upper)
            << distribution.describe() << ": " << value << " at " << coordinate;
      }
    }
    EXPECT_TRUE(std::isnan(from_free_coordinate(distribution, std::nan(""))));
    EXPECT_TRUE(std::isnan(free_coordinate(distribution, std::nan(""))));
  }
}

TEST(FreeCoordinate, EndsAndWhatIsBeyondAreInfinite) {
  for (const Distribution& distribution : with_any_ends()) {
    const auto [lower, upper] = distribution.support();
    if (std::isfinite(lower)) {
      EXPECT_EQ(free_coordinate(distribution, lower), -kNoEnd);
      EXPECT_EQ(free_coordinate(distribution, lower - 1), -kNoEnd);
    }
    if (std::isfinite(upper)) {
      EXPECT_EQ(free_coordinate(distribution, upper), kNoEnd);
      EXPECT_EQ(free_coordinate(distribution, upper + std::abs(upper) + 1), kNoEnd);
    }
  }
}

TEST(FreeCoordinate, BothWaysAreMonotone) {
  for (const Distribution& distribution : with_any_ends()) {
    double before = -kNoEnd;
    for (const double share : shares_of_the_way()) {
      const double coordinate = free_coordinate(distribution, value_at(distribution, share));
      EXPECT_GT(coordinate, before) << distribution.describe() << " at " << share;
      before = coordinate;
    }
    double value_before = -kNoEnd;
    for (double coordinate = -130; coordinate < 130; coordinate += 0.01) {
      const double value = from_free_coordinate(distribution, coordinate);
      EXPECT_GE(value, value_before) << distribution.describe() << " at " << coordinate;
      value_before = value;
    }
  }
}

TEST(FreeCoordinate, BetweenTwoEndsOnlyTheEndsMatter) {
  const Distribution uniform = Distribution::uniform(-3, 1);
  const Distribution normal = Distribution::normal(0, 2, {.lower = -3, .upper = 1});
  for (const double share : shares_of_the_way()) {
    const double value = value_at(uniform, share);
    const double coordinate = free_coordinate(uniform, value);
    EXPECT_EQ(free_coordinate(normal, value), coordinate);
    EXPECT_EQ(log_coordinate_slope(normal, value), log_coordinate_slope(uniform, value));
    EXPECT_EQ(from_free_coordinate(normal, coordinate), from_free_coordinate(uniform, coordinate));
  }
}

// A line of slope sqrt(12) / width that a logarithm bends at the ends: a small share of it in the
// middle, the larger one the nearer to them, and the same at both.
TEST(FreeCoordinate, IsNearlyALineBetweenTwoEnds) {
  const double line = std::sqrt(12.0);
  const Distribution uniform = Distribution::uniform(0, 4);
  const auto share_of_bend = [&](double value) {
    return 4 * std::exp(log_coordinate_slope(uniform, value)) / line - 1;
  };
  EXPECT_EQ(free_coordinate(uniform, 2), 0);
  EXPECT_GT(share_of_bend(2), 0.01);
  EXPECT_LT(share_of_bend(2), 0.3);
  for (const double u : {1e-6, 1e-3, 0.1, 0.3}) {
    EXPECT_NEAR(free_coordinate(uniform, 4 * u), -free_coordinate(uniform, 4 - 4 * u), 1e-9);
    EXPECT_NEAR(share_of_bend(4 * u) / share_of_bend(2), 0.25 / (u * (1 - u)), 1e-6 / u);
    const double bend = free_coordinate(uniform, 4 * u) - line * (u - 0.5);
    EXPECT_NEAR(bend, line * share_of_bend(2) / 4 * std::log(u / (1 - u)), 1e-9);
  }
}

TEST(FreeCoordinate, OtherwiseItIsTheNormalScore) {
  for (const Distribution& distribution : with_one_end_or_none()) {
    for (const double share : shares_of_the_way()) {
      const double value = value_at(distribution, share);
      const double score = distribution.normal_score(value);
      EXPECT_EQ(free_coordinate(distribution, value), score);
      EXPECT_EQ(from_free_coordinate(distribution, score), distribution.from_normal_score(score));
      EXPECT_EQ(log_coordinate_slope(distribution, value), distribution.log_score_slope(value));
    }
  }
}

}  // namespace
}  // namespace jeffreys
