// Normal scores of values with bounds.
#include "table/bound_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "table/tables.h"

namespace jeffreys {
namespace {

using jeffreys::testing::normal_numbers;
using jeffreys::testing::transformed;

constexpr Bounds kPositive{.lower = 0};

double phi(double score) { return 0.5 * std::erfc(-score / std::sqrt(2.0)); }

std::vector<double> draws(const std::function<double(double)>& quantile, std::size_t rows = 2000) {
  return transformed(normal_numbers(rows, 1), [&](double score) { return quantile(phi(score)); });
}

struct Case {
  const char* name;
  Bounds reach;
  std::function<double(double)> quantile;
};

std::vector<Case> cases() {
  return {{"exponential", kPositive, [](double p) { return -2.7 * std::log1p(-p); }},
          {"Weibull", kPositive, [](double p) { return std::pow(-std::log1p(-p), 2.0); }},
          {"Pareto", kPositive, [](double p) { return std::pow(1 - p, -0.4) - 1; }},
          {"below", {.upper = 5}, [](double p) { return 5 + std::log1p(-p); }},
          {"uniform", {-1, 3}, [](double p) { return 4 * p - 1; }},
          {"towards the ends", {0, 1}, [](double p) { return 0.5 - 0.5 * std::cos(M_PI * p); }}};
}

TEST(BoundMap, ScoresOfDataAreStandardNormalInTheTailsToo) {
  for (const Case& c : cases()) {
    const BoundMap map(c.reach, BoundMap::fit(c.reach, draws(c.quantile)));
    for (const double probability : {1e-4, 0.01, 0.3, 0.7, 0.99, 0.9999}) {
      const double value = c.quantile(c.reach.upper == 5 ? 1 - probability : probability);
      const double expected =
          probability < 0.5 ? 1 - phi(-map.score(value).value) : phi(map.score(value).value);
      // Within a factor of 2 of the tail's probability.
      const double tail = std::min(probability, 1 - probability);
      EXPECT_LT(std::abs(std::log(std::min(expected, 1 - expected) / tail)), std::log(2))
          << c.name << " " << probability;
    }
  }
}

TEST(BoundMap, ValuesComeBack) {
  for (const Case& c : cases()) {
    for (const BoundShape& shape : {BoundMap::fit(c.reach, draws(c.quantile)), BoundShape{}}) {
      const BoundMap map(c.reach, shape);
      for (const double probability : {1e-9, 1e-3, 0.5, 0.999, 1 - 1e-9}) {
        const double value = c.quantile(probability);
        EXPECT_NEAR(map.value(map.score(value).value), value, 1e-9 * (1 + std::abs(value)))
            << c.name;
      }
    }
  }
}

TEST(BoundMap, TheSlopeIsTheDerivative) {
  for (const Case& c : cases()) {
    for (const BoundShape& shape : {BoundMap::fit(c.reach, draws(c.quantile)), BoundShape{}}) {
      const BoundMap map(c.reach, shape);
      for (const double probability : {0.01, 0.4, 0.9}) {
        const double value = c.quantile(probability);
        const double step = 1e-4 * std::exp(-map.score(value).log_slope);
        const double slope =
            (map.score(value + step).value - map.score(value - step).value) / (2 * step);
        EXPECT_NEAR(map.score(value).log_slope, std::log(slope), 1e-5) << c.name;
      }
    }
  }
}

TEST(BoundMap, TakesLogarithmsWhereTheyAreNormal) {
  const auto log_normal = transformed(normal_numbers(500, 2), [](double v) { return std::exp(v); });
  EXPECT_EQ(BoundMap::fit(kPositive, log_normal), BoundShape{});
  const auto logistic =
      transformed(normal_numbers(500, 3), [](double v) { return 1 / (1 + std::exp(-2 * v)); });
  EXPECT_EQ(BoundMap::fit({0, 1}, logistic), BoundShape{});
}

TEST(BoundMap, NeverLeavesTheReach) {
  for (const Case& c : cases()) {
    const BoundMap map(c.reach, BoundMap::fit(c.reach, draws(c.quantile, 10)));
    for (const double score : {-1e300, -40.0, -10.0, 10.0, 40.0, 1e300}) {
      const double value = map.value(score);
      EXPECT_TRUE(value >= c.reach.lower && value <= c.reach.upper && std::isfinite(value))
          << c.name << " " << score;
    }
  }
}

}  // namespace
}  // namespace jeffreys
