// The multiplier equation: closed-form slack, the level at which a multiplier rests, its inverse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "jeffreys/objective/constraint.h"

namespace jeffreys {
namespace {

constexpr double kMultiplierStep = 1e-6;

const DualSettings kSettings{.level_scale = 0.5, .level_offset = 1.5, .zeta_slack = 0.25};
const Multipliers kStart{0.7, 1.9, 3.2, 0.4, 0.9};
const std::vector<double> kSome{0.7, 1.9, 3.2, 0.4, 0.9};
const std::vector<Constraint> kProblem = adaptive_problem(kSettings, kStart, false);
const Vector<double> kLogZeta = Vector<double>::Constant(1, std::log(1.2));

std::vector<double> levels_of(const std::vector<Constraint>& problem) {
  std::vector<double> levels;
  for (const Constraint& constraint : problem) {
    levels.push_back(constraint.level({{4.1, -0.2, 9.5}, kLogZeta(0)}));
  }
  return levels;
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
  for (const double level : {1.3, -0.2, 4.0}) {
    for (const double multiplier : {0.7, 1.9, 3.2}) {
      const Slack best = closed_form_slack(multiplier);
      const double least = adaptive_term(level, multiplier, best);
      for (const double change : {-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0}) {
        const Slack epsilon{best.epsilon + change, best.delta};
        const Slack delta{best.epsilon, best.delta + change};
        EXPECT_GT(adaptive_term(level, multiplier, epsilon), least) << change;
        EXPECT_GT(adaptive_term(level, multiplier, delta), least) << change;
      }
    }
  }
}

TEST(ClosedFormSlack, CountsAMultiplierAsAtLeastTheFloorInsideDelta) {
  const double longest = 1 / (2 * kMinMultiplier);
  for (const double multiplier : {0.0, 1e-4, kMinMultiplier}) {
    EXPECT_EQ(closed_form_slack(multiplier).delta, longest);
    EXPECT_EQ(closed_form_slack(multiplier).epsilon, multiplier / 2);
  }
  EXPECT_EQ(settled_level(0), -longest * longest);
  EXPECT_TRUE(std::isfinite(multiplier_gradient(kProblem[0], 1, 0)));
}

// At the minimum over the slack the derivative of the Lagrangian is that with the slack held. So it
// is for every kind of slack.
TEST(MultiplierGradient, IsTheDerivativeOfTheLagrangianAtTheClosedFormSlack) {
  std::vector<Constraint> fixed = fixed_epsilon_problem(kSettings, kStart, 2.5, false);
  for (Constraint& constraint : fixed) constraint.multiplier += 0.1;
  for (const std::vector<Constraint>& problem : {kProblem, fixed}) {
    const std::vector<double> levels = levels_of(problem);
    for (std::size_t k = 0; k < problem.size(); ++k) {
      if (problem[k].slack == SlackRule::none) continue;
      const auto at = [&](double change) {
        std::vector<double> changed = kSome;
        changed[k] += change;
        return lagrangian(problem, levels, changed, kLogZeta, kSettings);
      };
      const double slope = (at(kMultiplierStep) - at(-kMultiplierStep)) / (2 * kMultiplierStep);
      EXPECT_NEAR(multiplier_gradient(problem[k], levels[k], kSome[k]), slope, 1e-8)
          << problem[k].name;
    }
  }
}

TEST(MultiplierGradient, IsZeroWhereAConstraintRests) {
  for (const double level : {1.3, -0.2, 4.0}) {
    EXPECT_NEAR(multiplier_gradient(kProblem[0], level, settled_multiplier(level)), 0, 1e-12);
  }
}

TEST(AdaptiveProblem, HasThePapersConstraintsInThePapersOrder) {
  std::vector<std::string> names;
  for (const Constraint& constraint : kProblem) names.push_back(constraint.name);
  EXPECT_THAT(names,
              ::testing::ElementsAre("forward", "reverse", "proxy", "zeta_lower", "zeta_upper"));
  EXPECT_EQ(adaptive_problem(kSettings, kStart, true).size(), 3U);
  const std::vector<double> levels = levels_of(kProblem);
  EXPECT_DOUBLE_EQ(levels[0], 0.5 * (4.1 - 1.5));
  EXPECT_DOUBLE_EQ(levels[1], -0.2);
  EXPECT_DOUBLE_EQ(levels[2], 0.5 * (9.5 - 1.5));
  EXPECT_DOUBLE_EQ(levels[3], -kLogZeta(0));
  EXPECT_DOUBLE_EQ(levels[4], kLogZeta(0));
  EXPECT_DOUBLE_EQ(kProblem[4].bound, std::log1p(kSettings.zeta_slack));
}

// P:proxy: forward and reverse are the objective, the proxy's NLL has a bound in its own units.
TEST(FixedEpsilonProblem, BoundsTheProxyAndWeighsTheObjectiveByOne) {
  const std::vector<Constraint> problem = fixed_epsilon_problem(kSettings, kStart, 2.5, true);
  ASSERT_EQ(problem.size(), 3U);
  EXPECT_EQ(problem[0].multiplier, 1);
  EXPECT_EQ(problem[1].multiplier, 1);
  EXPECT_EQ(problem[0].slack, SlackRule::none);
  EXPECT_EQ(multiplier_gradient(problem[1], 3, 1), 0);
  const double at_bound = problem[2].level({{0, 0, 2.5}, 0});
  EXPECT_DOUBLE_EQ(multiplier_gradient(problem[2], at_bound, 0.3), 0);
  const double above = problem[2].level({{0, 0, 3.5}, 0});
  EXPECT_DOUBLE_EQ(multiplier_gradient(problem[2], above, 0.3), kSettings.level_scale);
}

TEST(Requirement, RefusesWhatItCannotHold) {
  const Statistic one = [](const MatrixView<double>& y) {
    return Vector<double>::Ones(y.rows()).eval();
  };
  EXPECT_THROW((void)requirement("", one, 1), std::invalid_argument);
  EXPECT_THROW((void)requirement("mean,x", one, 1), std::invalid_argument);
  EXPECT_THROW((void)requirement("h", {}, 1), std::invalid_argument);
  EXPECT_THROW((void)requirement("h", one, NAN), std::invalid_argument);
  EXPECT_THROW((void)requirement("h", one, 1, -1), std::invalid_argument);
}

TEST(Balance, IsTheForwardShare) {
  EXPECT_DOUBLE_EQ(balance(3, 1), 0.75);
  EXPECT_EQ(balance(2, 0), 1);
  EXPECT_EQ(balance(0, 2), 0);
  EXPECT_EQ(balance(0, 0), 0.5);
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
