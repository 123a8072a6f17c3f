// Posteriors of two parameters against integrals and against the paper's way to draw from them.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "jeffreys/truth/task.h"
#include "truth/task_grid.h"

namespace jeffreys {
namespace {

const double kRoot = std::sqrt(2.0);

// An observation, and one of which the prior cuts off a part.
struct Case {
  std::string task;
  double x;
  double y;
};

class Posterior : public ::testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<Task> task_ = make_task(GetParam().task);
  Vector<double> observation_ = Eigen::Vector2d(GetParam().x, GetParam().y);
};

TEST_P(Posterior, IntegratesToOne) {
  // Crescents end at jumps, where the rule errs; see EvidenceAgrees below for more digits.
  const double tolerance = GetParam().task == "two_moons" ? 2e-4 : 1e-4;
  EXPECT_NEAR(testing::integrate_posterior(*task_, observation_, 900).mass, 1, tolerance);
}

TEST_P(Posterior, MeanLogDensityOfSamplesIsMinusEntropy) {
  constexpr Eigen::Index kRows = 40000;
  const double entropy = testing::integrate_posterior(*task_, observation_, 900).entropy;
  const Vector<double> log_p =
      task_->posterior_log_prob(task_->sample_posterior(kRows, observation_, 4), observation_);
  const double error = std::sqrt((log_p.array() - log_p.mean()).square().mean() / kRows);
  EXPECT_NEAR(-log_p.mean(), entropy, 4 * error);
  EXPECT_LT(error, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Cases, Posterior,
                         ::testing::Values(Case{"two_moons", 0, 0}, Case{"two_moons", 0.3, 0.1},
                                           Case{"two_moons", -0.88, 0.3},
                                           Case{"gaussian_mixture", 0.75, 0.75},
                                           Case{"gaussian_mixture", 1.1, 0.3},
                                           Case{"gaussian_mixture_sbibm", 0.75, 0.75},
                                           Case{"gaussian_mixture_sbibm", -9.9, 9.5}));

// Columns whose moments tell posteriors apart, those of two moons in particular.
Matrix<double> features_of(const Matrix<double>& parameters) {
  Matrix<double> result(parameters.rows(), 4);
  result.leftCols(2) = parameters;
  result.col(2) = (parameters.col(0) + parameters.col(1)).cwiseAbs() / kRoot;
  result.col(3) = (parameters.col(1) - parameters.col(0)) / kRoot;
  return result;
}

// The paper: "sampling from the prior, running the simulator and keeping" what is close.
Matrix<double> kept_near(const Task& task, const Vector<double>& observation, double tolerance,
                         Eigen::Index simulations) {
  constexpr Eigen::Index kAtATime = 100000;
  std::vector<double> kept;
  for (Eigen::Index done = 0; done < simulations; done += kAtATime) {
    const auto iteration = static_cast<std::uint64_t>(done / kAtATime);
    const Matrix<double> parameters = task.sample_prior(kAtATime, 8, iteration);
    const Matrix<double> outcomes = task.simulate(parameters, 8, iteration);
    for (Eigen::Index i = 0; i < kAtATime; ++i) {
      if ((outcomes.row(i) - observation.transpose()).norm() > tolerance) continue;
      kept.insert(kept.end(), {parameters(i, 0), parameters(i, 1)});
    }
  }
  return Eigen::Map<Matrix<double>>(kept.data(), static_cast<Eigen::Index>(kept.size() / 2), 2);
}

class CloseSimulations : public ::testing::TestWithParam<std::string> {};

TEST_P(CloseSimulations, HaveTheMomentsOfExactSamples) {
  const auto task = make_task(GetParam());
  constexpr double kTolerance = 0.01;
  const Matrix<double> close = kept_near(*task, task->observation(), kTolerance, 4000000);
  const auto count = static_cast<double>(close.rows());
  // Of outcomes uniform in a disc: density of the outcome times the disc's area.
  const double expected =
      4e6 * M_PI * kTolerance * kTolerance * std::exp(task->log_evidence(task->observation()));
  // The evidence at the disc's edge differs from that in its middle by less than 1 %.
  EXPECT_NEAR(count, expected, 4 * std::sqrt(expected) + 0.01 * expected);

  const Matrix<double> exact = features_of(task->sample_posterior(100000, task->observation(), 8));
  const Matrix<double> features = features_of(close);
  for (Eigen::Index c = 0; c < features.cols(); ++c) {
    const auto squares = (exact.col(c).array() - exact.col(c).mean()).square();
    const double variance = squares.mean();
    EXPECT_NEAR(features.col(c).mean(), exact.col(c).mean(), 4 * std::sqrt(variance / count))
        << "feature " << c;
    const double close_variance =
        (features.col(c).array() - features.col(c).mean()).square().mean();
    const double error = std::sqrt((squares - variance).square().mean() / count);
    // What is kept is smeared by at most the variance of a coordinate of a disc.
    EXPECT_NEAR(close_variance, variance, 4 * error + 0.25 * kTolerance * kTolerance)
        << "feature " << c;
  }
}

INSTANTIATE_TEST_SUITE_P(Paper, CloseSimulations,
                         ::testing::Values("two_moons", "gaussian_mixture"),
                         [](const auto& each) { return each.param; });

// The part of the noise that leads into the prior's square; each of two copies has it.
double part_inside(double x, double y) {
  return 2 * std::exp(make_task("two_moons")->log_evidence(Eigen::Vector2d(x, y)));
}

TEST(TwoMoons, EvidenceIsThatOfWholeCrescentsOrOfExactParts) {
  EXPECT_NEAR(part_inside(0, 0), 1, 1e-12);
  // |u| = q_1: not cut off, but nothing to spare.
  EXPECT_NEAR(part_inside(0.25, 0), 1, 1e-12);
  // The edge of the square goes through the centre of the circle, at 45 degrees to the crescent's.
  EXPECT_NEAR(part_inside(0.55 - kRoot, 0.3), 0.25, 1e-10);
  EXPECT_NEAR(part_inside(0.25, kRoot), 0.25, 1e-10);
}

TEST(TwoMoons, EvidenceAgreesWithAnIntegralInOtherCoordinates) {
  // By Gauss-Legendre rules on small squares of the plane of q, broken where the prior cuts off.
  EXPECT_NEAR(part_inside(-0.66463584, -0.42604533), 0.426544229254, 1e-7);
  EXPECT_NEAR(part_inside(0.14563406, -1.170141), 0.872523387681, 1e-7);
  EXPECT_NEAR(part_inside(0.3, 0.1), 0.662142904208, 1e-7);
  EXPECT_NEAR(part_inside(0.34, 0.2), 0.253085460382, 1e-7);
  EXPECT_NEAR(part_inside(0.28, 1.35), 0.388538665979, 1e-7);
}

TEST(TwoMoons, HasTheEntropyOfTwoCrescents) {
  const auto task = make_task("two_moons");
  // log 2 for the choice of one; log pi for the angle, that of a normal number for r, and E[log r],
  // whose series at r = 0.1 with relative deviation d is log 0.1 - d^2 / 2 - 3 d^4 / 4 - ...
  constexpr double kRelative = 0.1;
  const double mean_log_radius = std::log(0.1) - std::pow(kRelative, 2) / 2 -
                                 3 * std::pow(kRelative, 4) / 4 - 15 * std::pow(kRelative, 6) / 6;
  const double entropy = std::log(2.0) + std::log(M_PI) +
                         0.5 * std::log(2 * M_PI * M_E * 0.01 * 0.01) + mean_log_radius;
  EXPECT_NEAR(testing::integrate_posterior(*task, task->observation(), 900).entropy, entropy, 2e-3);
}

TEST(TwoMoons, BothCrescentsAreDrawnEquallyOften) {
  constexpr Eigen::Index kRows = 40000;
  const auto task = make_task("two_moons");
  const Matrix<double> x = task->sample_posterior(kRows, task->observation(), 9);
  const auto right = static_cast<double>((x.rowwise().sum().array() > 0).count());
  EXPECT_NEAR(right / kRows, 0.5, 4 * 0.5 / std::sqrt(kRows));
}

TEST(TwoMoons, PolesDoNotSpoilAGrid) {
  const auto task = make_task("two_moons");
  Matrix<double> parameters(2, 2);
  parameters << 0.125, 0.125, 0.125 / kRoot, 0.125 / kRoot;
  // An observation for which the parameters of the first row mean q = 0.
  const Eigen::Vector2d observation(0.25 - 0.25 / kRoot, 0);
  const Vector<double> log_p = task->posterior_log_prob(parameters, observation);
  EXPECT_TRUE(log_p.allFinite());
  EXPECT_LT(log_p[0], -20);
}

}  // namespace
}  // namespace jeffreys
