#include "jeffreys/evaluate/stacking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/model_helpers.h"

namespace jeffreys {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

TEST(Stacking, FindsTheSharesOfSeparateSources) {
  Matrix<double> log_prob = Matrix<double>::Constant(100, 2, -50);
  log_prob.col(0).head(70).setConstant(-1);
  log_prob.col(1).tail(30).setConstant(3);  // the level of a row does not matter
  const std::vector<double> weights = stacking_weights(log_prob);
  EXPECT_NEAR(weights[0], 0.7, 1e-6);
  EXPECT_NEAR(weights[1], 0.3, 1e-6);
}

// At the maximum the mean of p_k / mixture is 1 where the weight is positive, and at most 1
// elsewhere.
TEST(Stacking, IsAMaximum) {
  const Matrix<double> log_prob = 2 * testing::normals(200, 5, 3);
  const std::vector<double> weights = stacking_weights(log_prob);
  const Vector<double> mixed = mixed_log_prob(log_prob, weights);
  double sum = 0;
  for (Eigen::Index k = 0; k < 5; ++k) {
    const double weight = weights[static_cast<std::size_t>(k)];
    const double slope = (log_prob.col(k) - mixed).array().exp().mean();
    sum += weight;
    EXPECT_LT(slope, 1 + 1e-3) << k;
    if (weight > 0.01) {
      EXPECT_NEAR(slope, 1, 1e-3) << k;
    }
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(Stacking, LeavesOutWhatIsImpossible) {
  Matrix<double> log_prob = Matrix<double>::Zero(10, 3);
  log_prob.col(1).setConstant(kImpossible);
  log_prob(3, 2) = std::numeric_limits<double>::quiet_NaN();
  log_prob.row(5).setConstant(kImpossible);
  const std::vector<double> weights = stacking_weights(log_prob);
  EXPECT_EQ(weights[1], 0);
  EXPECT_GT(weights[0], weights[2]);
  EXPECT_NEAR(weights[0] + weights[2], 1, 1e-9);
  const Vector<double> mixed = mixed_log_prob(log_prob, weights);
  EXPECT_EQ(mixed(5), kImpossible);
  EXPECT_NEAR(mixed(3), std::log(weights[0]), 1e-12);
}

TEST(Stacking, ARowThatCountsTwiceIsTwoRows) {
  const Matrix<double> log_prob = 2 * testing::normals(60, 3, 3);
  Vector<double> counts(60);
  std::vector<Eigen::Index> repeated;
  for (Eigen::Index i = 0; i < 60; ++i) {
    counts(i) = static_cast<double>(i % 3);
    for (Eigen::Index k = 0; k < i % 3; ++k) repeated.push_back(i);
  }
  const std::vector<double> weighted = stacking_weights(log_prob, 5 * counts);
  const std::vector<double> plain = stacking_weights(log_prob);
  const std::vector<double> expected = stacking_weights(log_prob(repeated, Eigen::all));
  double apart = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(weighted[k], expected[k], 1e-6);
    apart = std::max(apart, std::abs(plain[k] - expected[k]));
  }
  EXPECT_GT(apart, 1e-3);
  EXPECT_THROW(static_cast<void>(stacking_weights(log_prob, Vector<double>::Ones(2))),
               std::invalid_argument);
}

TEST(Stacking, OfNoRowsIsEven) {
  EXPECT_EQ(stacking_weights(Matrix<double>(0, 4)), std::vector<double>(4, 0.25));
  EXPECT_THROW(static_cast<void>(stacking_weights(Matrix<double>(3, 0))), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(mixed_log_prob(Matrix<double>(3, 2), {1})), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys
