// What checks say about posteriors that are known to be right, too narrow, or too wide.
#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "jeffreys/base/input_error.h"
#include "jeffreys/sbi/posterior_check.h"
#include "sbi/small_posteriors.h"
#include "support/mistake_of.h"

namespace jeffreys::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

// Fitted to so many pairs that its own error does not show in a check.
Posterior posterior_of(double width) { return normal_posterior(NormalPairs(5000), width); }

Table fresh_pairs(Eigen::Index rows) { return NormalPairs(rows, 20).table(); }

PosteriorCheck checked(double width, Eigen::Index pairs = 300) {
  return check_posterior(posterior_of(width), fresh_pairs(pairs), {.samples = 100});
}

TEST(CheckPosterior, TrustsAPosteriorThatIsRight) {
  const PosteriorCheck check = checked(1);
  EXPECT_FALSE(check.miscalibrated());
  EXPECT_THAT(check.errors, IsEmpty());
  EXPECT_THAT(check.verdict, StartsWith("no sign of miscalibration (p = "));
  EXPECT_FALSE(check.few_pairs);
  EXPECT_EQ(check.ranks.samples, 100);
  EXPECT_EQ(check.ranks.parameter.rows(), 300);
  // 300 pairs: a standard error of 0.017.
  EXPECT_NEAR(check.highest_density.levels[2].coverage, 0.9, 0.07);
}

TEST(CheckPosterior, FindsOutWhoIsTooSureOrNotSureEnough) {
  const PosteriorCheck narrow = checked(0.5);
  EXPECT_LT(narrow.p_value, 1e-6);
  EXPECT_THAT(narrow.errors, Contains(Calibration::over_confident));
  EXPECT_THAT(narrow.errors, Not(Contains(Calibration::under_confident)));
  EXPECT_THAT(narrow.verdict, StartsWith("miscalibrated, over-confident"));
  // A region of 90 % of half the width holds 1 - 0.1^(1/4) = 44 %.
  EXPECT_NEAR(narrow.highest_density.levels[2].coverage, 0.44, 0.12);
  const PosteriorCheck wide = checked(2);
  EXPECT_TRUE(wide.miscalibrated());
  EXPECT_THAT(wide.errors, ElementsAre(Calibration::under_confident));
}

TEST(CheckPosterior, CorrectsForItsThreeTests) {
  const PosteriorCheck check = checked(0.85);
  const auto corrected = holm_correction(
      std::array{check.calibration.p_value, check.highest_density.p_value, check.tarp.p_value});
  EXPECT_EQ(check.p_value, *std::min_element(corrected.begin(), corrected.end()));
  EXPECT_GT(check.p_value, std::min({check.calibration.p_value, check.highest_density.p_value,
                                     check.tarp.p_value}));
}

TEST(CheckPosterior, SaysWherePairsAreFewAndRefusesFewer) {
  EXPECT_TRUE(checked(1, 99).few_pairs);
  EXPECT_FALSE(checked(1, 100).few_pairs);
  EXPECT_THAT([] { (void)checked(1, 19); },
              ThrowsMessage<InputError>(HasSubstr("there are 19 pairs; at least 20")));
  const Table lacking = table_from_matrix(Matrix<double>::Zero(30, 3), {"a", "b", "x1"});
  EXPECT_THAT([&] { (void)check_posterior(posterior_of(1), lacking); },
              ThrowsMessage<InputError>(HasSubstr("there is no column 'x2'")));
  EXPECT_THAT(
      mistake_of([] { (void)check_posterior(posterior_of(1), fresh_pairs(20), {.samples = 9}); }),
      HasSubstr("PosteriorCheckOptions.samples: expected at least 10, got 9"));
}

InformationGain information(const NormalPairs& pairs, double width = 1) {
  const Posterior posterior = normal_posterior(pairs, width, NormalPairs::prior());
  const PosteriorCheck check = check_posterior(posterior, fresh_pairs(1000), {.samples = 20});
  return check.information.value();
}

TEST(CheckPosterior, TellsTheInformationGained) {
  // Two parameters with half the prior's variance: log(2) nats in all.
  const InformationGain right = information(NormalPairs(5000));
  EXPECT_EQ(right.pairs, 1000U);
  EXPECT_NEAR(right.mean, std::log(2), 4 * right.standard_error);
  EXPECT_LT(right.standard_error, 0.05);
  EXPECT_NEAR(right.upper - right.mean, 1.96 * right.standard_error, 1e-12);
  EXPECT_NEAR(right.mean - right.lower, 1.96 * right.standard_error, 1e-12);
  // Deviations of half or twice the right ones cost log(w) + (1 / w^2 - 1) / 2 a parameter.
  for (const double width : {0.5, 2.0}) {
    const InformationGain wrong = information(NormalPairs(5000), width);
    const double cost = 2 * (std::log(width) + (1 / (width * width) - 1) / 2);
    EXPECT_NEAR(wrong.mean, std::log(2) - cost, 4 * wrong.standard_error) << width;
  }
}

TEST(CheckPosterior, FindsThePriorCalibratedAndWithoutInformation) {
  NormalPairs pairs(5000);
  pairs.parameters = NormalPairs::prior().sample(5000, 77);  // without regard to the outcomes
  const PosteriorCheck check = check_posterior(normal_posterior(pairs, 1, NormalPairs::prior()),
                                               fresh_pairs(500), {.samples = 100});
  EXPECT_FALSE(check.miscalibrated());
  // The slopes of its regressions are chance, with a standard error of 0.01 each.
  EXPECT_NEAR(check.information->mean, 0, 0.06);
  EXPECT_LT(check.information->standard_error, 0.02);
}

TEST(CheckPosterior, KnowsNoInformationWithoutAPrior) {
  EXPECT_FALSE(checked(1, 20).information.has_value());
}

TEST(CheckPosterior, CountsPairsBeyondTheTrainingPairsInPlaceOfRefusingThem) {
  Table pairs = fresh_pairs(50);
  EXPECT_EQ(check_posterior(posterior_of(1), pairs, {.samples = 10}).beyond_training, 0U);
  pairs.columns[2].numbers[7] = 30;
  pairs.columns[3].numbers[9] = -30;
  EXPECT_EQ(check_posterior(posterior_of(1), pairs, {.samples = 10}).beyond_training, 2U);
}

TEST(CheckPosterior, IsWatchedAndStopsAtAnException) {
  std::vector<Eigen::Index> done;
  const auto on_pair = [&](Eigen::Index i, Eigen::Index pairs) {
    EXPECT_EQ(pairs, 20);
    done.push_back(i);
    if (i == 2) throw std::runtime_error("enough");
  };
  EXPECT_THAT(
      [&] {
        (void)check_posterior(posterior_of(1), fresh_pairs(20),
                              {.samples = 10, .on_pair = on_pair});
      },
      ThrowsMessage<std::runtime_error>("enough"));
  EXPECT_THAT(done, ElementsAre(0, 1, 2));
}

// Outcomes of parameters whose first column is b, without the last row, which failed.
Table simulated(const Matrix<double>& parameters) {
  const Eigen::Index rows = parameters.rows() - 1;
  Matrix<double> outcomes = parameters.topRows(rows) + NormalPairs::prior().sample(rows, 9);
  return table_from_matrix(outcomes, {"x2", "x1"});
}

TEST(CheckPrediction, TellsWhatIsExplainedFromWhatIsNot) {
  const Posterior posterior = posterior_of(1);
  const auto check = [&](double x1, double x2, std::int64_t rows) {
    return check_prediction(posterior, observation(x1, x2), rows, {"b", "a"}, simulated);
  };
  // Only if the columns are in the simulator's order: the outcomes are far apart.
  const PosteriorPrediction good = check(3, -3, default_predictions(2));
  EXPECT_EQ(good.verdict, "explains the observation");
  EXPECT_EQ(good.missing, 1);
  EXPECT_EQ(good.check.draws, 499);
  EXPECT_EQ(check(3, -3, 100).verdict,
            "explains the observation, as far as so few simulations show");
  EXPECT_THAT(mistake_of([&] { (void)check(30, 30, 500); }), HasSubstr("outcome x1 is 30"));
  // Of outcomes beyond all pairs the posterior explains half.
  const PosteriorPrediction beyond =
      check_prediction(posterior, observation(30, 30), 500, {"b", "a"}, simulated,
                       {.far = FarObservations::extrapolate});
  EXPECT_EQ(beyond.verdict, "does not explain the observation");
  EXPECT_THAT([&] { (void)check(0, 0, 20); },
              ThrowsMessage<InputError>(HasSubstr("only 19 of 20 simulations")));
  EXPECT_THAT(mistake_of([&] {
                (void)check_prediction(posterior, observation(0, 0), 50, {"a", "c"}, simulated);
              }),
              HasSubstr("parameters: expected the posterior's, a, b, got a, c"));
}

TEST(CheckPrediction, TakesMoreSimulationsForMoreOutcomes) {
  EXPECT_EQ(default_predictions(1), 500);
  EXPECT_EQ(default_predictions(8), 2000);
  EXPECT_EQ(default_predictions(100), 5000);
}

TEST(CheckAgainstReference, TellsSamplesOfAnotherWidthApart) {
  const Matrix<double> exact = NormalPairs::prior().sample(400, 11) * std::sqrt(0.5);
  const auto verdict = [&](double width) {
    return check_against_reference(posterior_of(width), observation(0, 0),
                                   table_from_matrix(exact, {"a", "b"}))
        .verdict;
  };
  EXPECT_EQ(verdict(1), "classifiers do not tell its samples from the reference");
  EXPECT_EQ(verdict(0.4), "classifiers tell its samples from the reference");
  const Table few = table_from_matrix(exact.topRows(19), {"a", "b"});
  EXPECT_THAT([&] { (void)check_against_reference(posterior_of(1), observation(0, 0), few); },
              ThrowsMessage<InputError>(HasSubstr("there are 19 reference samples; at least 20")));
}

}  // namespace
}  // namespace jeffreys::testing
