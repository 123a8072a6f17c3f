#include "jeffreys/base/distribution.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <stdexcept>

#include "jeffreys/base/input_error.h"
#include "support/mistake_of.h"

namespace jeffreys {
namespace {

using jeffreys::testing::mistake_of;
using ::testing::HasSubstr;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Every kind, truncated in every way: at one end, at both, to a far tail, to next to nothing.
std::vector<Distribution> every_distribution() {
  return {Distribution::uniform(-1, 1),
          Distribution::uniform(0, 1e-9),
          Distribution::uniform(1e6, 1e6 + 1),
          Distribution::normal(2, 3),
          Distribution::normal(0, 1, {.lower = 0}),
          Distribution::normal(0, 1, {.upper = -3}),
          Distribution::normal(3, 2, {-1, 4}),
          Distribution::normal(0, 1, {8, 10}),
          Distribution::normal(0, 1, {-10, -8}),
          Distribution::normal(0, 1, {.lower = 60}),
          Distribution::normal(0, 1, {-50, 50}),
          Distribution::normal(0, 1, {0.25, 0.25 + 1e-6}),
          Distribution::log_normal(-1, 0.7),
          Distribution::log_normal(-1, 0.5, {.upper = 8}),
          Distribution::log_normal(-1, 0.5, {0.25, 2})};
}

// Simpson's rule.
double simpson(double from, double to, const std::function<double(double)>& function) {
  constexpr int kSteps = 4000;
  const double step = (to - from) / kSteps;
  double sum = function(from) + function(to);
  for (int i = 1; i < kSteps; ++i) sum += (i % 2 == 0 ? 2 : 4) * function(from + i * step);
  return sum * step / 3;
}

TEST(Distribution, DensitiesIntegrateToTheProbabilityBetweenQuantiles) {
  for (const Distribution& distribution : every_distribution()) {
    distribution.validate();
    const auto density = [&](double v) { return std::exp(distribution.log_prob(v)); };
    for (const double tail : {1e-12, 0.1}) {
      const double from = distribution.quantile(tail);
      const double to = distribution.quantile(1 - tail);
      // Piecewise, since the density of a log_normal is narrow beside its upper tail.
      const double middle = distribution.quantile(0.5);
      const double far = distribution.quantile(0.999);
      double sum = simpson(from, middle, density);
      sum += to > far ? simpson(middle, far, density) + simpson(far, to, density)
                      : simpson(middle, to, density);
      EXPECT_NEAR(sum, 1 - 2 * tail, 1e-9) << distribution.describe();
    }
  }
}

TEST(Distribution, NumbersOfArbitraryPrecision) {
  // Computed with 80 digits.
  struct Reference {
    Distribution distribution;
    double value;
    double score;
    double log_prob;
    double log_slope;
  };
  const std::vector<Reference> references{
      {Distribution::normal(0, 1, {.lower = 0}), 0x1p-30, -6.0458573160598000619,
       -0.2257913526447274328, 18.969342523636849879},
      {Distribution::normal(0, 1, {.lower = 0}), 0.5, -0.29780782083129795255,
       -0.35079135264472743236, 0.61249192963408854078},
      {Distribution::normal(0, 1, {.lower = 0}), 9, 8.9235844225742267484, -40.725791352644727432,
       0.008326653964643218118},
      {Distribution::normal(0, 1, {8, 10}), 8.0625, -0.25539093970517889828, 1.5925455139585531899,
       2.5440963132049730935},
      {Distribution::normal(0, 1, {8, 10}), 9.75, 5.1418614912921413241, -13.43675136104144681,
       0.70155696997974769642},
      {Distribution::normal(3, 2, {-1, 4}), 0.5, -1.1553719865160118519, -1.9909344014260429306,
       -0.4045536546083924525},
      {Distribution::normal(3, 2, {-1, 4}), 3.96875, 2.3973012215025704194, -1.3269939717385429306,
       2.4654711347749879119},
      {Distribution::normal(0, 1, {.lower = 60}), 60.015625, 0.275526353142973498,
       3.1570000770499659589, 4.1138959958927719717},
      {Distribution::normal(0, 1, {.upper = -3}), -3.5, -0.9449944574507467387,
       -0.4362123116943231985, 0.92923348381666513746},
      {Distribution::normal(0, 1, {0.25, 0.25 + 0x1p-20}), 0.25 + 0x1p-22, -0.67448967985805448401,
       13.862943670803671756, 15.009350368125854912},
      {Distribution::log_normal(-1, 0.5, {0.25, 2}), 0.75, 1.2903647597152574369,
       -0.70413752521507835062, 1.0473216145471014221},
      {Distribution::log_normal(-1, 0.5, {0.25, 2}), 1.9990234375, 4.6550200603885798296,
       -6.3998722093563646994, 5.3536722051583567442},
      {Distribution::log_normal(-1, 0.5, {.upper = 8}), 7, 5.9269011660559958972,
       -19.52847471394793832, -1.0454574646453036516}};
  for (const auto& [distribution, value, score, log_prob, log_slope] : references) {
    EXPECT_NEAR(distribution.normal_score(value), score, 2e-13) << distribution.describe();
    EXPECT_NEAR(distribution.log_prob(value), log_prob, 1e-12) << distribution.describe();
    EXPECT_NEAR(distribution.log_score_slope(value), log_slope, 1e-12) << distribution.describe();
    EXPECT_NEAR(distribution.from_normal_score(score) / value, 1, 1e-13) << distribution.describe();
  }
}

TEST(Distribution, ScoresAndValuesAreInverses) {
  for (const Distribution& distribution : every_distribution()) {
    for (double score = -7; score <= 7; score += 0.0625) {
      const double value = distribution.from_normal_score(score);
      const double again = distribution.from_normal_score(distribution.normal_score(value));
      EXPECT_NEAR(again, value, 1e-12 * std::abs(value))
          << distribution.describe() << " at " << score;
      // The value's own rounding, in units of the score, is all that may be lost.
      const double rounding =
          1e-15 * std::abs(value) * std::exp(distribution.log_score_slope(value));
      EXPECT_NEAR(distribution.normal_score(value), score, 1e-12 + rounding)
          << distribution.describe();
    }
  }
}

TEST(Distribution, QuantilesAreValuesOfScores) {
  for (const Distribution& distribution : every_distribution()) {
    for (const double probability : {0x1p-33, 1e-3, 0.3, 0.5, 0.75, 1 - 0x1p-20}) {
      const double score = distribution.normal_score(distribution.quantile(probability));
      const double rounding = 1e-15 * std::abs(distribution.quantile(probability)) *
                              std::exp(distribution.log_prob(distribution.quantile(probability)));
      EXPECT_NEAR(0.5 * std::erfc(-score / std::numbers::sqrt2), probability,
                  1e-12 * probability + rounding)
          << distribution.describe();
    }
  }
  for (const double probability : {0.0, 1.0, -0.5, 2.0, std::nan("")}) {
    EXPECT_THAT(mistake_of([&] { Distribution().quantile(probability); }),
                HasSubstr("between 0 and 1"));
  }
}

TEST(Distribution, TheSlopeIsThatOfTheScore) {
  for (const Distribution& distribution : every_distribution()) {
    for (const double score : {-5.0, -2.0, -0.1, 0.0, 1.0, 3.0}) {
      // Forward in the score, where a step is no smaller than the value's own digits allow.
      const double step = 1e-3;
      const double value = distribution.from_normal_score(score);
      const double slope = (distribution.from_normal_score(score + step) -
                            distribution.from_normal_score(score - step)) /
                           (2 * step);
      if (std::abs(value) * 1e-10 > slope * step) continue;  // too few digits for a difference
      EXPECT_NEAR(distribution.log_score_slope(value), -std::log(slope), 1e-4)
          << distribution.describe() << " at " << score;
    }
  }
}

TEST(Distribution, ValuesAreStrictlyInsideTheSupport) {
  for (const Distribution& distribution : every_distribution()) {
    const auto [lower, upper] = distribution.support();
    double before = -kNoLimit;
    for (const double score : {-kNoLimit, -1e308, -1e10, -300.0, -40.0, -30.0, -9.0, -1.0, 0.0, 1.0,
                               9.0, 30.0, 40.0, 300.0, 1e10, 1e308, kNoLimit}) {
      const double value = distribution.from_normal_score(score);
      EXPECT_TRUE(std::isfinite(value) && value > lower && value < upper)
          << distribution.describe() << " at " << score << " has " << value;
      EXPECT_GE(value, before) << distribution.describe() << " at " << score;
      before = value;
      if (std::abs(score) > 40) continue;
      EXPECT_TRUE(std::isfinite(distribution.normal_score(value))) << distribution.describe();
      EXPECT_TRUE(std::isfinite(distribution.log_score_slope(value))) << distribution.describe();
    }
    EXPECT_TRUE(std::isnan(distribution.from_normal_score(std::nan(""))));
    EXPECT_TRUE(std::isnan(distribution.normal_score(std::nan(""))));
    EXPECT_TRUE(std::isnan(distribution.log_prob(std::nan(""))));
  }
}

TEST(Distribution, TheSupportIncludesTheEndsThatAreGiven) {
  const Distribution uniform = Distribution::uniform(-1, 1);
  EXPECT_TRUE(uniform.contains(-1) && uniform.contains(1));
  EXPECT_NEAR(uniform.log_prob(1), -std::numbers::ln2, 1e-15);
  EXPECT_EQ(uniform.normal_score(1), kNoLimit);
  EXPECT_EQ(uniform.normal_score(-1), -kNoLimit);
  for (const double outside : {-1.0000001, 1.0000001, kNoLimit, -kNoLimit}) {
    EXPECT_FALSE(uniform.contains(outside));
    EXPECT_EQ(uniform.log_prob(outside), -kNoLimit);
  }
  EXPECT_FALSE(uniform.contains(std::nan("")));

  const Distribution positive = Distribution::log_normal(0, 1);
  EXPECT_EQ(positive.support(), (Bounds{.lower = 0}));
  EXPECT_FALSE(positive.contains(0));
  EXPECT_EQ(positive.log_prob(0), -kNoLimit);
  EXPECT_FALSE(Distribution::log_normal(0, 1, {.lower = 0}).contains(0));
  EXPECT_TRUE(Distribution::log_normal(0, 1, {.lower = 0.5}).contains(0.5));
  EXPECT_FALSE(Distribution::normal(0, 1).contains(kNoLimit));
}

TEST(Distribution, RefusesWhatIsNoDistribution) {
  const double nan = std::nan("");
  for (const auto& [distribution, problem] : std::vector<std::pair<Distribution, std::string>>{
           {Distribution::uniform(1, 1), "lower: expected a number below upper, 1, got 1"},
           {Distribution::uniform(2, 1), "lower: expected a number below upper, 1, got 2"},
           {Distribution::uniform(-kNoLimit, 1), "lower: expected a number within"},
           {Distribution::uniform(0, kNoLimit), "upper: expected a number within"},
           {Distribution::uniform(0, 1e200), "upper: expected a number within"},
           {Distribution::uniform(nan, 1), "lower: expected a number within"},
           {Distribution::uniform(1, std::nextafter(1, 2)), "lower: expected more room"},
           {{.kind = DistributionKind::uniform, .mean = 1, .bounds = {0, 1}}, "mean: expected 0"},
           {{.kind = DistributionKind::uniform, .deviation = 2, .bounds = {0, 1}},
            "deviation: expected 1"},
           {Distribution::normal(nan, 1), "mean: expected a finite number, got nan"},
           {Distribution::normal(kNoLimit, 1), "mean: expected a finite number, got inf"},
           {Distribution::normal(0, 0), "deviation: expected a positive number, got 0"},
           {Distribution::normal(0, -1), "deviation: expected a positive number, got -1"},
           {Distribution::normal(0, nan), "deviation: expected a positive number, got nan"},
           {Distribution::normal(1e9, 1e-9), "deviation: expected more beside the mean"},
           {Distribution::normal(0, 1e150), "deviation: expected draws of up to 1e150"},
           {Distribution::normal(0, 1, {3, 2}), "lower: expected a number below upper"},
           {Distribution::normal(0, 1, {.upper = nan}), "upper: expected a number within"},
           {Distribution::normal(0, 1, {.lower = 101}), "lower: expected at most 100 deviations"},
           {Distribution::normal(0, 1, {.upper = -101}), "upper: expected at most 100 deviations"},
           {Distribution::log_normal(0, 1, {.lower = -1}), "lower: expected 0 or more"},
           {Distribution::log_normal(0, 1, {.upper = 0}), "upper: expected a number above 0"},
           {Distribution::log_normal(400, 1), "mean: expected draws of up to 1e150"},
           {Distribution::log_normal(0, 60), "deviation: expected draws of up to 1e150"}}) {
    const Distribution& candidate = distribution;
    EXPECT_THAT(mistake_of([&] { candidate.validate(); }), HasSubstr(problem));
  }
}

TEST(Distribution, KindsHaveNames) {
  for (const std::string& name : distribution_names()) {
    EXPECT_EQ(name_of(parse_distribution_kind(name)), name);
  }
  EXPECT_EQ(mistake_of([] { parse_distribution_kind("gamma"); }),
            "distribution: expected one of uniform, normal, log_normal, got \"gamma\"");
}

TEST(Distribution, JsonKeepsEveryBit) {
  for (const Distribution& distribution : every_distribution()) {
    EXPECT_EQ(Distribution::from_json(distribution.to_json(), "m"), distribution);
  }
  EXPECT_EQ(Distribution::normal(0.1, 2, {.lower = 0}).to_json(),
            R"({"kind":"normal","mean":0.1,"deviation":2.0,"lower":0.0})");
}

TEST(Distribution, RefusesDamagedJson) {
  for (const auto& [text, problem] : std::vector<std::pair<std::string, std::string>>{
           {"", "not an object"},
           {"[]", "not an object"},
           {"{}", "no text in kind"},
           {R"({"kind": 1})", "no text in kind"},
           {R"({"kind": "gamma"})", "expected one of uniform"},
           {R"({"kind": "normal"})", "lacks mean"},
           {R"({"kind": "normal", "mean": "0", "deviation": 1})", "no number in mean"},
           {R"({"kind": "normal", "mean": 0, "deviation": -1})", "deviation: expected a positive"},
           {R"({"kind": "normal", "mean": 1e999, "deviation": 1})", "not an object"},
           {R"({"kind": "uniform", "lower": 0})", "upper: expected a number within"},
           {R"({"kind": "uniform", "lower": 0, "upper": null})", "no number in upper"},
           {R"({"kind": "uniform", "lower": 0, "upper": 1, "mean": 0})", "unknown \"mean\""}}) {
    try {
      Distribution::from_json(text, "m");
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_EQ(error.file(), "m");
      EXPECT_THAT(error.problem(), HasSubstr(problem)) << text;
    }
  }
}

TEST(Distribution, SpeaksToPeople) {
  EXPECT_EQ(Distribution::uniform(-1, 1).describe(), "uniform, -1 to 1");
  EXPECT_EQ(Distribution::normal(0.5, 2).describe(), "normal with mean 0.5 and deviation 2");
  EXPECT_EQ(Distribution::normal(0, 1, {.lower = 0}).describe(),
            "normal with mean 0 and deviation 1, 0 and above");
  EXPECT_EQ(Distribution::log_normal(0, 1, {.upper = 3}).describe(),
            "log_normal with mean 0 and deviation 1 of the logarithm, above 0 and up to 3");
  EXPECT_EQ(Distribution::normal(0, 1).describe_support(), "all numbers");
  EXPECT_EQ(Distribution::log_normal(0, 1).describe_support(), "above 0");
  EXPECT_EQ(Distribution::normal(0, 1, {.upper = 2}).describe_support(), "up to 2");
}

}  // namespace
}  // namespace jeffreys
