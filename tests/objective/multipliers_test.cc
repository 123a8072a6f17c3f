// The multiplier equation: closed-form slack, the level at which a multiplier rests, its inverse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "jeffreys/objective/dual.h"

namespace jeffreys {
namespace {

constexpr double kMultiplierStep = 1e-6;

const DualSettings kSettings{.level_scale = 0.5, .level_offset = 1.5, .zeta_slack = 0.25};
const Terms kLevels{1.3, -0.2, 4.0};
const Multipliers kSomeMultipliers{0.7, 1.9, 3.2, 0.4, 0.9};
const Vector<double> kLogZeta = Vector<double>::Constant(1, std::log(1.2));

// Members of a Terms, to perturb one at a time.
const std::vector<double Terms::*> kTerms{&Terms::forward, &Terms::reverse, &Terms::proxy};
const std::vector<double Multipliers::*> kAll{&Multipliers::forward, &Multipliers::reverse,
                                              &Multipliers::proxy, &Multipliers::zeta_lower,
                                              &Multipliers::zeta_upper};

double at_closed_form(const Multipliers& m) {
  return lagrangian(kLevels, kLogZeta, closed_form_slack(m), m, kSettings);
}

TEST(SettledMultiplier, HasTheValuesOfTheTable) {
  EXPECT_NEAR(settled_multiplier(0), 0.7937, 1e-3);
  EXPECT_NEAR(settled_multiplier(1), 2.112, 1e-3);
  EXPECT_NEAR(settled_multiplier(5), 10.005, 1e-3);
  EXPECT_NEAR(settled_multiplier(-1), 0.452, 1e-3);
}

std::vector<double> levels_of_all_sizes() {
  std::vector<double> levels{0};
  for (double size = 1e-6; size <= 1.01e6; size *= std::sqrt(10.0)) {
    levels.push_back(size);
    levels.push_back(-size);
  }
  return levels;
}

// lambda / 2 - 1 / (4 lambda^2) = level, relative to the larger of the two parts.
TEST(SettledMultiplier, SolvesItsEquationForEveryLevel) {
  for (const double level : levels_of_all_sizes()) {
    const double m = settled_multiplier(level);
    ASSERT_GT(m, 0) << level;
    const double grows = m / 2;
    const double falls = 1 / (4 * m * m);
    EXPECT_NEAR(grows - falls, level, 1e-12 * std::max(grows, falls)) << level;
  }
}

// Below -1/(4 kMinMultiplier^2) the floor inside delta keeps every multiplier from resting.
TEST(SettledMultiplier, IsTheInverseOfSettledLevel) {
  for (const double level : levels_of_all_sizes()) {
    if (level < -2.4e5) continue;
    const double again = settled_level(settled_multiplier(level));
    EXPECT_NEAR(again, level, 1e-12 * std::max(1.0, std::abs(level))) << level;
  }
  for (double m = 2e-3; m < 1e6; m *= 1.7) {
    EXPECT_NEAR(settled_multiplier(settled_level(m)) / m, 1, 1e-12) << m;
  }
}

TEST(SettledMultiplier, GrowsWithTheLevel) {
  std::vector<double> levels = levels_of_all_sizes();
  std::sort(levels.begin(), levels.end());
  for (std::size_t i = 1; i < levels.size(); ++i) {
    EXPECT_GT(settled_multiplier(levels[i]), settled_multiplier(levels[i - 1])) << levels[i];
  }
}

TEST(SettledMultiplier, TakesEnormousLevelsAndPassesNanOn) {
  for (const double level : {1e8, 1.1e8, 1e100, 1e300}) {
    EXPECT_NEAR(settled_multiplier(level) / level, 2, 1e-12) << level;
  }
  for (const double level : {-1e8, -1e100}) {
    EXPECT_NEAR(settled_multiplier(level) * 2 * std::sqrt(-level), 1, 1e-12) << level;
  }
  EXPECT_TRUE(std::isnan(settled_multiplier(std::numeric_limits<double>::quiet_NaN())));
}

TEST(ClosedFormSlack, IsTheMinimumOfTheLagrangian) {
  const Slack best = closed_form_slack(kSomeMultipliers);
  const double least = lagrangian(kLevels, kLogZeta, best, kSomeMultipliers, kSettings);
  for (const auto term : kTerms) {
    for (const double change : {-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0}) {
      Slack other = best;
      other.epsilon.*term += change;
      EXPECT_GT(lagrangian(kLevels, kLogZeta, other, kSomeMultipliers, kSettings), least) << change;
      other = best;
      other.delta.*term += change;
      EXPECT_GT(lagrangian(kLevels, kLogZeta, other, kSomeMultipliers, kSettings), least) << change;
    }
  }
}

TEST(ClosedFormSlack, CountsAMultiplierAsAtLeastTheFloorInsideDelta) {
  const double longest = 1 / (2 * kMinMultiplier);
  const Slack slack = closed_form_slack({0, 1e-4, kMinMultiplier, 0, 0});
  EXPECT_EQ(slack.delta.forward, longest);
  EXPECT_EQ(slack.delta.reverse, longest);
  EXPECT_EQ(slack.delta.proxy, longest);
  EXPECT_EQ(slack.epsilon.forward, 0);
  EXPECT_EQ(slack.epsilon.reverse, 5e-5);
  EXPECT_EQ(settled_level(0), -longest * longest);
  EXPECT_TRUE(std::isfinite(multiplier_residual({1, 1, 1}, {0, 0, 0, 0, 0}).forward));
}

// At the minimum over the slack the derivative of the Lagrangian is that with the slack held.
TEST(MultiplierGradient, IsTheDerivativeOfTheLagrangianAtTheClosedFormSlack) {
  const Multipliers gradient =
      multiplier_gradient(kLevels, kLogZeta(0), kSomeMultipliers, kSettings);
  for (const auto member : kAll) {
    Multipliers up = kSomeMultipliers;
    Multipliers down = kSomeMultipliers;
    up.*member += kMultiplierStep;
    down.*member -= kMultiplierStep;
    const double slope = (at_closed_form(up) - at_closed_form(down)) / (2 * kMultiplierStep);
    EXPECT_NEAR(gradient.*member, slope, 1e-8);
  }
}

TEST(MultiplierGradient, ContainsTheResidual) {
  const Multipliers gradient =
      multiplier_gradient(kLevels, kLogZeta(0), kSomeMultipliers, kSettings);
  const Terms residual = multiplier_residual(kLevels, kSomeMultipliers);
  EXPECT_EQ(gradient.forward, residual.forward);
  EXPECT_EQ(gradient.reverse, residual.reverse);
  EXPECT_EQ(gradient.proxy, residual.proxy);
  EXPECT_DOUBLE_EQ(gradient.zeta_lower, -kLogZeta(0));
  EXPECT_DOUBLE_EQ(gradient.zeta_upper, kLogZeta(0) - std::log1p(kSettings.zeta_slack));
}

TEST(MultiplierResidual, IsZeroWhereAllConstraintsRest) {
  const Terms residual = multiplier_residual(
      kLevels, {settled_multiplier(kLevels.forward), settled_multiplier(kLevels.reverse),
                settled_multiplier(kLevels.proxy), 0, 0});
  EXPECT_NEAR(residual.forward, 0, 1e-12);
  EXPECT_NEAR(residual.reverse, 0, 1e-12);
  EXPECT_NEAR(residual.proxy, 0, 1e-12);
}

TEST(Balance, IsTheForwardShare) {
  EXPECT_DOUBLE_EQ(balance({3, 1, 7, 5, 5}), 0.75);
  EXPECT_EQ(balance({2, 0, 1, 0, 0}), 1);
  EXPECT_EQ(balance({0, 2, 1, 0, 0}), 0);
  EXPECT_EQ(balance({0, 0, 1, 0, 0}), 0.5);
}

TEST(ConstraintLevels, ScaleAndMoveTheDivergences) {
  const Terms levels =
      constraint_levels({2, 3, 5}, {.level_scale = 0.5, .level_offset = -1, .reverse_scale = 10});
  EXPECT_DOUBLE_EQ(levels.forward, 1.5);
  EXPECT_DOUBLE_EQ(levels.reverse, 30);
  EXPECT_DOUBLE_EQ(levels.proxy, 3);
}

TEST(DualSettings, RefuseBadFieldsByName) {
  const auto refusal = [](const DualSettings& settings) -> std::string {
    try {
      settings.validate();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  using ::testing::HasSubstr;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal({}), "accepted");
  EXPECT_THAT(refusal({.level_scale = 0}), HasSubstr("level.scale"));
  EXPECT_THAT(refusal({.level_scale = nan}), HasSubstr("level.scale"));
  EXPECT_THAT(refusal({.level_offset = nan}), HasSubstr("level.offset"));
  EXPECT_THAT(refusal({.reverse_scale = -1}), HasSubstr("reverse.scale"));
  EXPECT_THAT(refusal({.zeta_slack = -0.1}), HasSubstr("zeta.slack"));
  EXPECT_THAT(refusal({.zeta_slack = nan}), HasSubstr("zeta.slack"));
}

}  // namespace
}  // namespace jeffreys
