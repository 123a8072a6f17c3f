#include "jeffreys/truth/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "support/not_finite.h"
#include "truth/task_grid.h"

namespace jeffreys {
namespace {

class TaskLaws : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Task> task_ = make_task(GetParam(), 3);
};

void expect_inside(const Matrix<double>& x, const ParameterRange& range) {
  for (Eigen::Index c = 0; c < x.cols(); ++c) {
    EXPECT_GE(x.col(c).minCoeff(), range.lower[c]) << "column " << c;
    EXPECT_LE(x.col(c).maxCoeff(), range.upper[c]) << "column " << c;
  }
}

TEST_P(TaskLaws, SamplesLieInTheirRangesWithFiniteDensities) {
  const Matrix<double> prior = task_->sample_prior(20000, 1);
  expect_inside(prior, task_->prior_range());
  EXPECT_TRUE(task_->prior_log_prob(prior).allFinite());
  EXPECT_TRUE(task_->log_likelihood(prior, task_->simulate(prior, 1)).allFinite());
  const Matrix<double> posterior = task_->sample_posterior(20000, task_->observation(), 1);
  expect_inside(posterior, task_->posterior_range(task_->observation()));
  EXPECT_TRUE(task_->posterior_log_prob(posterior, task_->observation()).allFinite());
}

TEST_P(TaskLaws, PosteriorIsPriorTimesLikelihoodOverEvidence) {
  const Matrix<double> parameters = task_->sample_prior(200, 2);
  for (const Vector<double>& observation :
       {task_->observation(), Vector<double>(task_->simulate(parameters, 2).row(7))}) {
    const Matrix<double> outcomes = observation.transpose().replicate(parameters.rows(), 1);
    const Vector<double> joint =
        task_->prior_log_prob(parameters) + task_->log_likelihood(parameters, outcomes);
    const Vector<double> posterior = task_->posterior_log_prob(parameters, observation);
    const double evidence = task_->log_evidence(observation);
    for (Eigen::Index i = 0; i < joint.size(); ++i) {
      EXPECT_NEAR(joint[i] - posterior[i], evidence, 1e-12 * (1 + std::abs(joint[i])));
    }
  }
}

// Parameters from the prior have uniform ranks among draws from the posterior of an outcome that
// they led to. So do their posterior densities.
TEST_P(TaskLaws, RanksOfTrueParametersAreUniform) {
  constexpr Eigen::Index kTrials = 400;
  constexpr Eigen::Index kDraws = 99;
  constexpr std::size_t kBins = 10;
  const Matrix<double> truths = task_->sample_prior(kTrials, 3);
  const Matrix<double> outcomes = task_->simulate(truths, 3);
  std::vector<std::array<double, kBins>> counts(static_cast<std::size_t>(truths.cols()) + 1);
  for (auto& bins : counts) bins.fill(0);
  for (Eigen::Index i = 0; i < kTrials; ++i) {
    const Vector<double> outcome = outcomes.row(i);
    Matrix<double> all(kDraws + 1, truths.cols() + 1);
    all.leftCols(truths.cols()) << truths.row(i),
        task_->sample_posterior(kDraws, outcome, static_cast<std::uint64_t>(i));
    all.rightCols(1) = task_->posterior_log_prob(all.leftCols(truths.cols()), outcome);
    for (Eigen::Index c = 0; c < all.cols(); ++c) {
      const auto rank = static_cast<std::size_t>((all.col(c).array() < all(0, c)).count());
      ++counts[static_cast<std::size_t>(c)][rank * kBins / (kDraws + 1)];
    }
  }
  for (const auto& bins : counts) {
    constexpr double kExpected = kTrials / static_cast<double>(kBins);
    double chi_square = 0;
    for (const double count : bins) chi_square += std::pow(count - kExpected, 2) / kExpected;
    // Mean 9, deviation sqrt(18): above this with probability 2e-4.
    EXPECT_LT(chi_square, kBins - 1 + 5.4 * std::sqrt(2.0 * (kBins - 1)));
  }
}

TEST_P(TaskLaws, SameSeedSameBits) {
  const auto same = make_task(GetParam(), 3);
  const Matrix<double> prior = task_->sample_prior(700, 5, 2);
  EXPECT_EQ(prior, same->sample_prior(700, 5, 2));
  EXPECT_EQ(prior.topRows(301), task_->sample_prior(301, 5, 2));
  EXPECT_NE(prior, task_->sample_prior(700, 6, 2));
  EXPECT_NE(prior, task_->sample_prior(700, 5, 3));

  const Matrix<double> outcomes = task_->simulate(prior, 5, 2);
  EXPECT_EQ(outcomes, same->simulate(prior, 5, 2));
  EXPECT_EQ(outcomes.topRows(301), task_->simulate(prior.topRows(301), 5, 2));
  EXPECT_NE(outcomes, task_->simulate(prior, 6, 2));
  EXPECT_NE(outcomes, task_->simulate(prior, 5, 3));

  const Vector<double> observation = task_->observation();
  const Matrix<double> posterior = task_->sample_posterior(700, observation, 5);
  EXPECT_EQ(posterior, same->sample_posterior(700, observation, 5));
  EXPECT_EQ(posterior.topRows(301), task_->sample_posterior(301, observation, 5));
  EXPECT_NE(posterior, task_->sample_posterior(700, observation, 6));
}

TEST_P(TaskLaws, FarAndUndefinedRowsStayAlone) {
  Matrix<double> parameters = task_->sample_prior(5, 6);
  Matrix<double> outcomes = task_->simulate(parameters, 6);
  parameters(1, 0) = kNan;
  parameters(2, 1) = -kInfinity;
  parameters.row(3).setConstant(1e200);
  outcomes(4, 1) = kNan;
  const Vector<double> prior = task_->prior_log_prob(parameters);
  const Vector<double> likelihood = task_->log_likelihood(parameters, outcomes);
  const Vector<double> posterior = task_->posterior_log_prob(parameters, task_->observation());
  for (const Vector<double>& log_p : {prior, likelihood, posterior}) {
    EXPECT_TRUE(std::isfinite(log_p[0]));
    EXPECT_TRUE(std::isnan(log_p[1]));
    EXPECT_EQ(log_p[2], -kInfinity);
    EXPECT_LT(log_p[3], -1e300);
  }
  EXPECT_TRUE(std::isfinite(prior[4]));
  EXPECT_TRUE(std::isnan(likelihood[4]));
  EXPECT_TRUE(task_->simulate(parameters, 6).row(0).allFinite());
}

TEST_P(TaskLaws, RefusesWrongShapes) {
  const Eigen::Index width = task_->parameters();
  const Matrix<double> wide = Matrix<double>::Zero(4, width + 1);
  const Matrix<double> right = Matrix<double>::Zero(4, width);
  Vector<double> observation = task_->observation();
  EXPECT_THROW(task_->sample_prior(-1, 0), std::invalid_argument);
  EXPECT_THROW(task_->sample_posterior(-1, observation, 0), std::invalid_argument);
  EXPECT_THROW(task_->simulate(wide, 0), std::invalid_argument);
  EXPECT_THROW(task_->prior_log_prob(wide), std::invalid_argument);
  EXPECT_THROW(task_->posterior_log_prob(wide, observation), std::invalid_argument);
  EXPECT_THROW(task_->log_likelihood(right, wide), std::invalid_argument);
  EXPECT_THROW(task_->log_likelihood(right, right.topRows(3)), std::invalid_argument);
  EXPECT_THROW(task_->posterior_range(Vector<double>::Zero(width + 1)), std::invalid_argument);
  observation[1] = kNan;
  EXPECT_THROW(task_->log_evidence(observation), std::invalid_argument);
  EXPECT_THROW(task_->sample_posterior(1, observation, 0), std::invalid_argument);
  EXPECT_THROW(task_->posterior_log_prob(right, observation), std::invalid_argument);
  EXPECT_EQ(task_->sample_prior(0, 0).rows(), 0);
  EXPECT_EQ(task_->sample_posterior(0, task_->observation(), 0).rows(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, TaskLaws, ::testing::ValuesIn(task_names()),
                         [](const auto& each) { return each.param; });

TEST(Task, NamesWhatItHas) {
  const auto moons = make_task("two_moons", 7);
  EXPECT_EQ(moons->name(), "two_moons");
  EXPECT_THAT(moons->parameter_names(), ::testing::ElementsAre("parameter_1", "parameter_2"));
  EXPECT_THAT(moons->outcome_names(), ::testing::ElementsAre("outcome_1", "outcome_2"));
  EXPECT_EQ(make_task("linear_gaussian")->parameters(), 10);
  EXPECT_EQ(make_task("linear_gaussian", 4)->outcomes(), 4);
}

TEST(Task, RefusesWhatItDoesNotKnow) {
  try {
    make_task("three_moons");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("gaussian_mixture_sbibm"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("'three_moons'"));
  }
  EXPECT_THROW(make_task("linear_gaussian", 0), std::invalid_argument);
}

TEST(Task, RefusesObservationsThatCannotBe) {
  for (const char* name : {"two_moons", "gaussian_mixture", "gaussian_mixture_sbibm"}) {
    const auto task = make_task(name);
    const Vector<double> observation = Vector<double>::Constant(2, 90);
    EXPECT_EQ(task->log_evidence(observation), -kInfinity);
    EXPECT_THROW(task->posterior_log_prob(Matrix<double>::Zero(1, 2), observation),
                 std::invalid_argument);
    EXPECT_THROW(task->sample_posterior(1, observation, 0), std::invalid_argument);
    EXPECT_EQ(task->posterior_range(observation).upper, task->prior_range().upper);
  }
}

TEST(Task, TwoMoonsGivesUpWhereAlmostEverythingIsCutOff) {
  const auto task = make_task("two_moons");
  const Eigen::Vector2d observation(0.3 - std::sqrt(2.0), 0.01);
  // Expected: 0.5 of the 1,010,000 candidates for 10 rows.
  EXPECT_NEAR(2 * std::exp(task->log_evidence(observation)), 4.5e-7, 1e-8);
  try {
    task->sample_posterior(10, observation, 0);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("acceptance rate"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("of 10 rows"));
  }
}

TEST(Task, LinearGaussianHasTheConjugatePosterior) {
  const auto task = make_task("linear_gaussian");
  const Matrix<double> parameters = task->sample_prior(100, 1);
  const Vector<double> observation = task->simulate(parameters, 1).row(0);
  const Vector<double> log_p = task->posterior_log_prob(parameters, observation);
  for (Eigen::Index i = 0; i < parameters.rows(); ++i) {
    const double squares = (parameters.row(i) - 0.5 * observation.transpose()).squaredNorm();
    EXPECT_NEAR(log_p[i], -0.5 * squares / 0.05 - 5 * std::log(2 * M_PI * 0.05), 1e-10);
  }
}

TEST(Task, LinearGaussianSamplesHaveTheConjugateMoments) {
  constexpr Eigen::Index kRows = 40000;
  const auto task = make_task("linear_gaussian");
  const Matrix<double> x = task->sample_posterior(kRows, task->observation(), 2);
  const Matrix<double> centered = x.rowwise() - x.colwise().mean();
  const Matrix<double> covariance = centered.transpose() * centered / kRows;
  for (Eigen::Index c = 0; c < 10; ++c) {
    EXPECT_NEAR(x.col(c).mean(), 0.25, 4 * std::sqrt(0.05 / kRows));
    for (Eigen::Index d = 0; d < 10; ++d) {
      // The standard error of a covariance of 0, and 1 / sqrt(2) of that of a variance.
      const double error = 0.05 / std::sqrt(kRows);
      EXPECT_NEAR(covariance(c, d), c == d ? 0.05 : 0, 4 * std::sqrt(2.0) * error);
    }
  }
}

TEST(Task, GaussianMixtureKnowsTheMassInTheSquare) {
  const auto task = make_task("gaussian_mixture");
  const double wide = std::pow(std::erf(0.25 / std::sqrt(2.0)), 2);
  const double narrow = std::pow(std::erf(2.5 / std::sqrt(2.0)), 2);
  EXPECT_NEAR(wide, 0.0390, 5e-5);
  EXPECT_NEAR(narrow, 0.9753, 5e-5);
  EXPECT_NEAR(task->log_evidence(task->observation()), std::log(0.5 * (wide + narrow) / 0.25),
              1e-12);
  // Far out only the tail of the wide one remains, between 36.5 and 37 deviations.
  const double tail = 0.5 * (std::erfc(36.5 / std::sqrt(2.0)) - std::erfc(37 / std::sqrt(2.0)));
  EXPECT_NEAR(task->log_evidence(Eigen::Vector2d(37.5, 0.75)),
              std::log(0.5 * tail * std::erf(0.25 / std::sqrt(2.0)) / 0.25), 1e-9);
}

}  // namespace
}  // namespace jeffreys
