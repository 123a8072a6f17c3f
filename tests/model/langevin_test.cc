// Langevin chains on densities that are known exactly: spline flows, which also draw exact samples.
#include "jeffreys/model/langevin.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/model_helpers.h"

namespace jeffreys {
namespace {

using testing::normals;
using testing::same_bits;

// Mean over rows of a statistic, with its standard error.
struct Estimate {
  double mean;
  double error;
};

Estimate estimate(const Vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = values.mean();
  return {mean, std::sqrt((values.array() - mean).square().sum() / (n - 1) / n)};
}

// Statistics that tell two densities in 2-D apart: means, second moments, the product and log p.
Matrix<double> statistics(const SplineFlow<double>& target, const Matrix<double>& x) {
  Matrix<double> result(x.rows(), 6);
  result << x, x.array().square().matrix(), x.col(0).cwiseProduct(x.col(1)), target.log_prob(x);
  return result;
}

// The largest distance of the chains' statistics from exact ones, in standard errors of the
// difference.
double largest_deviation(const SplineFlow<double>& target, const Matrix<double>& x) {
  const Matrix<double> actual = statistics(target, x);
  const Matrix<double> exact = statistics(target, target.sample(20000, {.seed = 99}).x);
  double largest = 0;
  for (Eigen::Index s = 0; s < actual.cols(); ++s) {
    const Estimate a = estimate(actual.col(s));
    const Estimate b = estimate(exact.col(s));
    largest = std::max(largest, std::abs(a.mean - b.mean) / std::hypot(a.error, b.error));
  }
  return largest;
}

class Langevin : public ::testing::Test {
 protected:
  Langevin() { testing::add_parameter_noise(target, 0.1, 1); }

  [[nodiscard]] LangevinResult<double> run(const Matrix<double>& start, int steps, double step_size,
                                           Metropolis metropolis, std::uint64_t seed = 5) const {
    return langevin<double>(target, start, Matrix<double>(),
                            {.steps = steps, .step_size = step_size, .metropolis = metropolis},
                            {.seed = seed});
  }

  SplineFlow<double> target{{.features = 2, .transforms = 2, .hidden = {12}, .seed = 3}};
};

// 3,000 chains from exact samples. Six statistics within 4.5 standard errors: the chance that one
// of them lies outside by accident is 4e-5.
TEST_F(Langevin, MetropolisKeepsTheTargetInvariant) {
  const Matrix<double> start = target.sample(3000, {.seed = 4}).x;
  const LangevinResult<double> chains = run(start, 60, 0.2, Metropolis::yes);
  EXPECT_LE(largest_deviation(target, chains.x), 4.5);
  EXPECT_GT(chains.acceptance_rate, 0.3);
  EXPECT_LT(chains.acceptance_rate, 0.95);
  EXPECT_GT((chains.x - start).rowwise().norm().mean(), 0.5);  // they did move
  EXPECT_EQ(chains.lost, 0);
}

// The same chains without the correction: the step is long enough for its bias to show, so the test
// above has the power to see a wrong correction.
TEST_F(Langevin, WithoutMetropolisALongStepIsBiased) {
  const Matrix<double> start = target.sample(3000, {.seed = 4}).x;
  EXPECT_GT(largest_deviation(target, run(start, 60, 0.2, Metropolis::no).x), 9);
}

TEST_F(Langevin, FindsTheTargetFromAWrongStart) {
  const Matrix<double> start =
      (0.1 * normals(2000, 2, 6)).rowwise() + Eigen::RowVector2d(2.5, -2.5);
  ASSERT_GT(largest_deviation(target, start), 50);
  EXPECT_LE(largest_deviation(target, run(start, 400, 0.15, Metropolis::yes).x), 4.5);
}

TEST_F(Langevin, ShortUncorrectedStepsFindTheTargetToo) {
  const Matrix<double> start = (0.1 * normals(1000, 2, 6)).array() + 1.0;
  ASSERT_GT(largest_deviation(target, start), 20);
  // A bias of the order of the step size is small against the standard errors of 1,000 chains.
  EXPECT_LE(largest_deviation(target, run(start, 1000, 0.01, Metropolis::no).x), 4.5);
}

TEST_F(Langevin, AcceptanceGoesToOneWithTheStep) {
  const Matrix<double> start = target.sample(1000, {.seed = 4}).x;
  double before = 0.0;
  for (const double step : {2.0, 0.3, 0.03, 1e-3}) {
    const double rate = run(start, 10, step, Metropolis::yes).acceptance_rate;
    EXPECT_GT(rate, before) << "step size " << step;
    EXPECT_LT(rate, 1.0) << "step size " << step;
    before = rate;
  }
  EXPECT_GT(run(start, 10, 1e-8, Metropolis::yes).acceptance_rate, 0.9999);
}

// x_1 = x_0 + s grad log q(x_0) + sqrt(2 s) z with z standard normal. Of 20,000 numbers z the mean
// has the standard error 1 / sqrt(20000) = 0.0071 and the mean square sqrt(2 / 20000) = 0.01; five
// of each.
TEST_F(Langevin, OneUncorrectedStepIsTheFormula) {
  constexpr double kStep = 0.02;
  const Matrix<double> x0 = target.sample(10000, {.seed = 4}).x;
  const Matrix<double> x1 = run(x0, 1, kStep, Metropolis::no).x;
  const Matrix<double> drift = kStep * target.input_gradient(x0).x;
  const Matrix<double> z = (x1 - x0 - drift) / std::sqrt(2 * kStep);
  EXPECT_NEAR(z.mean(), 0.0, 5 * 0.0071);
  EXPECT_NEAR(z.squaredNorm() / 20000, 1.0, 5 * 0.01);
  // Noise that knows nothing of where it is used: correlations have the standard error 0.0071 too.
  EXPECT_NEAR(z.cwiseProduct(drift).sum() / std::sqrt(20000.0) / drift.norm(), 0.0, 5 * 0.0071);
  EXPECT_NEAR(z.col(0).dot(z.col(1)) / 10000, 0.0, 5 * 0.01);
}

// The noise depends on the stream alone, so the moves of two densities differ by their drifts.
TEST_F(Langevin, NoiseDoesNotDependOnTheDensity) {
  constexpr double kStep = 0.02;
  const ResidualEnergy<double> other({.features = 2, .hidden = 16});
  const Matrix<double> x0 = normals(200, 2, 7);
  const LangevinOptions options{.steps = 1, .step_size = kStep};
  const Matrix<double> a = langevin<double>(target, x0, Matrix<double>(), options, {.seed = 5}).x;
  const Matrix<double> b = langevin<double>(other, x0, Matrix<double>(), options, {.seed = 5}).x;
  const Matrix<double> drifts = target.input_gradient(x0).x - other.input_gradient(x0).x;
  EXPECT_LE((a - b - kStep * drifts).cwiseAbs().maxCoeff(), 1e-13);
}

TEST_F(Langevin, NoiseOfAnotherStepIsIndependent) {
  // Two steps, the first one undone: what is left is the noise of the second.
  constexpr double kStep = 0.02;
  const Matrix<double> x0 = normals(10000, 2, 7);
  const auto noise = [&](const Matrix<double>& from, const Matrix<double>& to) -> Matrix<double> {
    return (to - from - kStep * target.input_gradient(from).x) / std::sqrt(2 * kStep);
  };
  const Matrix<double> x1 = run(x0, 1, kStep, Metropolis::no).x;
  const Matrix<double> x2 = run(x0, 2, kStep, Metropolis::no).x;
  const Matrix<double> first = noise(x0, x1);
  const Matrix<double> second = noise(x1, x2);
  EXPECT_NEAR(second.squaredNorm() / 20000, 1.0, 5 * 0.01);
  EXPECT_NEAR(first.cwiseProduct(second).sum() / 20000, 0.0, 5 * 0.0071);
}

TEST_F(Langevin, ReturnsTheDensityOfTheLastState) {
  const Matrix<double> start = normals(100, 2, 7);
  for (const Metropolis metropolis : {Metropolis::no, Metropolis::yes}) {
    const LangevinResult<double> chains = run(start, 5, 0.1, metropolis);
    EXPECT_TRUE(same_bits(chains.log_unnormalized, target.log_prob(chains.x)));
  }
}

TEST_F(Langevin, RunsAgainBitForBit) {
  const Matrix<double> start = normals(130, 2, 7);
  for (const Metropolis metropolis : {Metropolis::no, Metropolis::yes}) {
    const LangevinResult<double> first = run(start, 20, 0.1, metropolis);
    const LangevinResult<double> again = run(start, 20, 0.1, metropolis);
    EXPECT_TRUE(same_bits(first.x, again.x));
    EXPECT_EQ(first.acceptance_rate, again.acceptance_rate);
    EXPECT_FALSE(same_bits(first.x, run(start, 20, 0.1, metropolis, 6).x));
  }
}

TEST_F(Langevin, ZeroStepsReturnTheStart) {
  const Matrix<double> start = normals(10, 2, 7);
  const LangevinResult<double> chains = run(start, 0, 0.1, Metropolis::yes);
  EXPECT_TRUE(same_bits(chains.x, start));
  EXPECT_EQ(chains.acceptance_rate, 1.0);
}

TEST_F(Langevin, NoChainsAreFine) {
  EXPECT_EQ(run(Matrix<double>(0, 2), 3, 0.1, Metropolis::yes).x.rows(), 0);
}

TEST_F(Langevin, CountsLostChainsAndKeepsTheOthers) {
  const Matrix<double> start = normals(100, 2, 7);
  Matrix<double> broken = start;
  broken(3, 0) = std::numeric_limits<double>::quiet_NaN();
  broken(70, 1) = std::numeric_limits<double>::infinity();
  for (const Metropolis metropolis : {Metropolis::no, Metropolis::yes}) {
    const LangevinResult<double> clean = run(start, 10, 0.1, metropolis);
    LangevinResult<double> chains = run(broken, 10, 0.1, metropolis);
    EXPECT_EQ(clean.lost, 0);
    EXPECT_EQ(chains.lost, 2);
    EXPECT_TRUE(std::isnan(chains.log_unnormalized[3]));
    EXPECT_TRUE(std::isnan(chains.log_unnormalized[70]));
    chains.x.row(3) = clean.x.row(3);
    chains.x.row(70) = clean.x.row(70);
    EXPECT_TRUE(same_bits(chains.x, clean.x));
  }
}

// Chains from a flow's samples, on an energy model, with a context each.
TEST_F(Langevin, StartsFromAFlow) {
  const SplineFlow<double> start({.features = 2, .context_features = 1, .hidden = {8}});
  const FilmEnergy<double> energy({.features = 2, .context_features = 1, .hidden = 8});
  const Matrix<double> context = normals(50, 1, 8);
  const RandomStream stream{.seed = 9};
  const LangevinOptions none{.steps = 0};
  const LangevinResult<double> first =
      langevin_from<double>(energy, start, 50, context, none, stream);
  EXPECT_TRUE(same_bits(first.x, start.sample(50, context, stream).x));
  const LangevinOptions some{.steps = 3, .step_size = 0.01};
  EXPECT_TRUE(same_bits(langevin_from<double>(energy, start, 50, context, some, stream).x,
                        langevin<double>(energy, first.x, context, some, stream).x));
}

}  // namespace
}  // namespace jeffreys
