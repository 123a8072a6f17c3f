// The importance estimate of zeta and its diagnostics.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "jeffreys/objective/dual.h"
#include "jeffreys/objective/importance.h"
#include "kernels/random.h"
#include "support/model_helpers.h"
#include "support/not_finite.h"

namespace jeffreys {
namespace {

std::vector<double> normal_weights(Eigen::Index count, double deviation, std::uint64_t seed) {
  const Matrix<double> z = deviation * testing::normals(count, 1, seed);
  return {z.data(), z.data() + z.size()};
}

std::vector<double> shifted(std::vector<double> log_weights, double shift) {
  for (double& value : log_weights) value += shift;
  return log_weights;
}

struct Sums {
  explicit Sums(const std::vector<double>& log_weights) {
    for (const double value : log_weights) {
      sum += std::exp(value);
      squares += std::exp(2 * value);
    }
  }
  double sum = 0;
  double squares = 0;
};

TEST(ImportanceEstimate, IsThatOfDirectSums) {
  const std::vector<double> log_weights = normal_weights(300, 1.5, 1);
  const Sums sums(log_weights);
  const ImportanceEstimate estimate = importance_estimate(log_weights);
  EXPECT_NEAR(estimate.log_zeta, std::log(sums.sum / 300), 1e-12);
  EXPECT_NEAR(estimate.effective_sample_size, sums.sum * sums.sum / sums.squares / 300, 1e-12);
  EXPECT_EQ(estimate.pareto_k, pareto_k(log_weights));
}

TEST(ImportanceEstimate, MovesWithAFactorOfAnySize) {
  const std::vector<double> log_weights = normal_weights(300, 1.5, 2);
  const ImportanceEstimate at_one = importance_estimate(log_weights);
  for (const double shift : {-1e4, -700.0, 700.0, 1e4}) {
    const ImportanceEstimate estimate = importance_estimate(shifted(log_weights, shift));
    EXPECT_NEAR(estimate.log_zeta, at_one.log_zeta + shift, 1e-11) << shift;
    EXPECT_NEAR(estimate.effective_sample_size, at_one.effective_sample_size, 1e-10) << shift;
    EXPECT_NEAR(estimate.pareto_k, at_one.pareto_k, 1e-8) << shift;
  }
}

TEST(ImportanceEstimate, TakesWeightsFarApart) {
  std::vector<double> log_weights(50, -1e4);
  log_weights[7] = 1e4;
  const ImportanceEstimate estimate = importance_estimate(log_weights);
  EXPECT_NEAR(estimate.log_zeta, 1e4 - std::log(50), 1e-11);
  EXPECT_NEAR(estimate.effective_sample_size, 1.0 / 50, 1e-15);
  EXPECT_GT(estimate.pareto_k, 0.7);
}

TEST(ImportanceEstimate, EqualWeightsAreWorthAllSamples) {
  for (const double value : {-1e4, 0.3, 1e4}) {
    const ImportanceEstimate estimate = importance_estimate(std::vector<double>(100, value));
    EXPECT_NEAR(estimate.log_zeta, value, 1e-12 * std::abs(value));
    EXPECT_NEAR(estimate.effective_sample_size, 1, 1e-12);
    EXPECT_LT(estimate.pareto_k, 0.7);
  }
}

TEST(ImportanceEstimate, OfNothingIsAZetaOfZero) {
  const ImportanceEstimate estimate = importance_estimate({});
  EXPECT_EQ(estimate.log_zeta, -kInfinity);
  EXPECT_EQ(importance_estimate(std::vector<double>(30, -kInfinity)).log_zeta, -kInfinity);
}

TEST(ImportanceEstimate, CountsWeightsOfZero) {
  std::vector<double> log_weights(40, -kInfinity);
  std::fill(log_weights.begin(), log_weights.begin() + 10, 1.0);
  const ImportanceEstimate estimate = importance_estimate(log_weights);
  EXPECT_NEAR(estimate.log_zeta, 1 + std::log(0.25), 1e-12);
  EXPECT_NEAR(estimate.effective_sample_size, 0.25, 1e-12);
}

TEST(ImportanceEstimate, ShowsNanAndInfinity) {
  std::vector<double> log_weights = normal_weights(100, 1, 3);
  log_weights[60] = kInfinity;
  EXPECT_EQ(importance_estimate(log_weights).log_zeta, kInfinity);
  EXPECT_EQ(importance_estimate(log_weights).effective_sample_size, 0);
  log_weights[99] = kNan;
  EXPECT_TRUE(std::isnan(importance_estimate(log_weights).log_zeta));
  EXPECT_TRUE(std::isnan(importance_estimate(log_weights).effective_sample_size));
}

// u^-k for uniform u: an exact Pareto tail of shape k.
std::vector<double> pareto_weights(std::size_t count, double k, std::uint64_t seed) {
  std::vector<double> uniforms(count);
  kernels::fill_uniforms(
      kernels::RandomArguments<double>{{seed, 9, 0}, 0, count, 1, uniforms.data()});
  for (double& u : uniforms) u = -k * std::log(u);
  return uniforms;
}

// 300 exceedances of 10,000 weights: the shape's standard error is (1 + k) / sqrt(300), 0.07 to
// 0.11, plus a pull towards 0.5 of 10 observations (at most 0.013). Four of them for each seed; the
// mean of 20 seeds has a standard error 4.5 times smaller.
TEST(ParetoK, FindsTheShapeOfAParetoTail) {
  for (const double k : {0.2, 0.5, 0.9}) {
    const double error = (1 + k) / std::sqrt(300.0);
    const double pulled = (300 * k + 10 * 0.5) / 310;
    double mean = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const double found = pareto_k(pareto_weights(10000, k, seed));
      EXPECT_NEAR(found, pulled, 4 * error) << "k " << k << " seed " << seed;
      mean += found / 20;
    }
    EXPECT_NEAR(mean, pulled, 3 * error / std::sqrt(20.0) + 0.01) << "k " << k;
  }
}

TEST(ParetoK, OfBoundedWeightsIsBelowZero) {
  std::vector<double> log_weights(10000);
  kernels::fill_uniforms(
      kernels::RandomArguments<double>{{4, 9, 0}, 0, log_weights.size(), 1, log_weights.data()});
  for (double& value : log_weights) value = std::log(value);
  EXPECT_LT(pareto_k(log_weights), -0.5);  // uniform weights: shape -1
}

TEST(ParetoK, OfTooFewWeightsIsInfinity) {
  EXPECT_EQ(pareto_k(normal_weights(24, 1, 5)), kInfinity);
  EXPECT_TRUE(std::isfinite(pareto_k(normal_weights(25, 1, 5))));
  EXPECT_EQ(pareto_k({}), kInfinity);
}

TEST(ParetoK, DoesNotDependOnTheOrder) {
  std::vector<double> log_weights = normal_weights(1000, 2, 6);
  const double k = pareto_k(log_weights);
  std::reverse(log_weights.begin(), log_weights.end());
  EXPECT_EQ(pareto_k(log_weights), k);
}

// 40 weights: the tail is the largest 8, which tie with the threshold in any number.
TEST(ParetoK, OfTiedWeightsIsANumber) {
  for (std::size_t distinct = 0; distinct <= 9; ++distinct) {
    std::vector<double> log_weights(40, 0.0);
    for (std::size_t i = 0; i < distinct; ++i) log_weights[i] = 0.1 * static_cast<double>(i + 1);
    EXPECT_FALSE(std::isnan(pareto_k(log_weights))) << distinct << " larger weights";
  }
}

TEST(LogZetaByCondition, IsTheEstimateOfEachColumn) {
  const Eigen::Index samples = 12;
  const Eigen::Index conditions = 5;
  Matrix<double> log_weights = 2 * testing::normals(samples, conditions, 7);
  log_weights.col(1).array() += 1e4;
  log_weights.col(2).array() -= 1e4;
  log_weights.col(3).setConstant(-kInfinity);
  log_weights(4, 4) = kNan;
  const Vector<double> log_zeta = log_zeta_by_condition(
      {log_weights.data(), static_cast<std::size_t>(log_weights.size())}, conditions);
  ASSERT_EQ(log_zeta.size(), conditions);
  for (Eigen::Index i = 0; i < 3; ++i) {
    const Vector<double> own = log_weights.col(i);
    const double expected =
        importance_estimate({own.data(), static_cast<std::size_t>(samples)}).log_zeta;
    EXPECT_NEAR(log_zeta(i), expected, 1e-11) << i;
  }
  EXPECT_EQ(log_zeta(3), -kInfinity);
  EXPECT_TRUE(std::isnan(log_zeta(4)));
}

TEST(LogZetaByCondition, RefusesUnevenCounts) {
  const std::vector<double> log_weights(10, 0.0);
  EXPECT_THROW((void)log_zeta_by_condition(log_weights, 3), std::invalid_argument);
  EXPECT_THROW((void)log_zeta_by_condition(log_weights, 0), std::invalid_argument);
  EXPECT_THROW((void)log_zeta_by_condition({}, 1), std::invalid_argument);
}

TEST(ZetaLevel, OfRawZetaIsTheLogOfTheMean) {
  const DualSettings raw{.zeta_constraint = ZetaConstraint::raw};
  const Vector<double> log_zeta = testing::normals(6, 1, 8);
  EXPECT_NEAR(zeta_level(log_zeta, raw), std::log(log_zeta.array().exp().mean()), 1e-12);
  const Vector<double> large = log_zeta.array() + 1e4;
  EXPECT_NEAR(zeta_level(large, raw), zeta_level(log_zeta, raw) + 1e4, 1e-11);
  Vector<double> broken = log_zeta;
  broken(2) = kNan;
  EXPECT_TRUE(std::isnan(zeta_level(broken, raw)));
  EXPECT_TRUE(std::isnan(zeta_level(broken, {})));
}

// Log weights of many conditions, each with a zeta of its own: normal numbers of deviation s around
// it, whose effective share is exp(-s^2) and whose log zeta is s^2 / 2 above their mean.
class Conditions : public ::testing::TestWithParam<double> {
 protected:
  static constexpr Eigen::Index kConditions = 20000;
  static constexpr Eigen::Index kEach = 5;

  Conditions() {
    const Vector<double> offsets = 3 * testing::normals(kConditions, 1, 11);
    const double s = GetParam();
    log_weights = s * testing::normals(kConditions * kEach, 1, 12);
    log_weights += offsets.replicate(kEach, 1);
    truth = offsets.array() + s * s / 2;
  }
  [[nodiscard]] std::span<const double> all() const {
    return {log_weights.data(), static_cast<std::size_t>(log_weights.size())};
  }

  Vector<double> log_weights;
  Vector<double> truth;
};

TEST_P(Conditions, HaveAnEffectiveShareThatFewSamplesDoNotFlatter) {
  const double s = GetParam();
  const ImportanceEstimate found = importance_within_conditions(all(), kConditions);
  // Of the weights divided by their own zeta, without the means of five.
  Vector<double> centered = log_weights - truth.replicate(kEach, 1);
  const double plain =
      importance_estimate({centered.data(), static_cast<std::size_t>(centered.size())})
          .effective_sample_size;
  EXPECT_NEAR(plain, std::exp(-s * s), 0.02 + 0.1 * s);
  // The ratio of two means over 20,000 conditions has an error below 0.01. What few samples still
  // flatter: with s = 1.5 a true share of 0.11 shows as 0.32, where the plain one would say 0.46.
  EXPECT_LT(found.effective_sample_size, s < 1 ? std::exp(-s * s) + 0.03 : 0.34);
  Vector<double> divided =
      log_weights - log_zeta_by_condition(all(), kConditions).replicate(kEach, 1);
  const double flattered =
      importance_estimate({divided.data(), static_cast<std::size_t>(divided.size())})
          .effective_sample_size;
  if (s > 0) {
    EXPECT_LT(found.effective_sample_size, flattered - 0.03);
  }
  EXPECT_TRUE(std::isnan(found.pareto_k));
}

TEST_P(Conditions, HaveALogZetaThatTheJackknifeCorrects) {
  const Vector<double> plain = log_zeta_by_condition(all(), kConditions);
  const Vector<double> better = jackknife_log_zeta(all(), kConditions);
  const double plain_bias = (plain - truth).mean();
  const double bias = (better - truth).mean();
  EXPECT_LT(plain_bias, GetParam() > 0 ? -0.01 : 1e-12);
  // An error of a mean of 20,000 numbers with deviation below 1.
  EXPECT_LT(std::abs(bias), std::abs(plain_bias) / 2 + 0.02);
}

INSTANTIATE_TEST_SUITE_P(Deviations, Conditions, ::testing::Values(0.0, 0.5, 1.5));

TEST(ImportanceWithinConditions, CanFallToNothingWhereOneWeightIsAll) {
  const std::vector<double> one_is_all{0, 0, 100, 100, 0, 0};  // of two conditions, three samples
  EXPECT_NEAR(importance_within_conditions(one_is_all, 2).effective_sample_size, 0, 1e-12);
  const std::vector<double> equal{1, 2, 1, 2, 1, 2};
  EXPECT_NEAR(importance_within_conditions(equal, 2).effective_sample_size, 1, 1e-12);
  EXPECT_NEAR(importance_within_conditions(equal, 2).log_zeta, 1.5, 1e-12);
  EXPECT_TRUE(std::isnan(importance_within_conditions(equal, 6).effective_sample_size));
}

}  // namespace
}  // namespace jeffreys
