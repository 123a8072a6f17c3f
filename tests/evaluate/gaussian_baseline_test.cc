// The Gaussian that every fit is compared with.
#include "jeffreys/evaluate/gaussian_baseline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/model_helpers.h"

namespace jeffreys {
namespace {

using testing::normals;

double mean_nll(const GaussianBaseline& model, const Matrix<double>& rows) {
  return -model.log_prob(rows, Matrix<double>(rows.rows(), 0)).mean();
}

double entropy(Eigen::Index columns) {
  return 0.5 * static_cast<double>(columns) * std::log(2 * std::numbers::pi * std::numbers::e);
}

TEST(GaussianBaseline, FindsMeanAndCovarianceOfManyRows) {
  Matrix<double> x = normals(20'000, 2, 1);
  x.col(1) = 3 * x.col(1) + 2 * x.col(0);
  x.col(0).array() += 5;
  const GaussianBaseline model(x, Matrix<double>(x.rows(), 0));
  EXPECT_LT(model.shrinkage(), 1e-3);
  // The entropy of the source: two standard normals and a scale of 3.
  EXPECT_NEAR(mean_nll(model, x), entropy(2) + std::log(3.0), 0.02);
}

// Of few rows in many columns, without correlations: a plain covariance is singular.
TEST(GaussianBaseline, OfMoreColumnsThanRowsIsNearlyIndependent) {
  const GaussianBaseline model(normals(30, 40, 2), Matrix<double>(30, 0));
  EXPECT_GT(model.shrinkage(), 0.8);
  EXPECT_NEAR(mean_nll(model, normals(2000, 40, 3)), entropy(40), 4);
}

TEST(GaussianBaseline, KeepsStrongCorrelationsOfFewRows) {
  const auto rows = [](Eigen::Index count, std::uint64_t seed) {
    Matrix<double> x = 0.3 * normals(count, 20, seed);
    return Matrix<double>(x.colwise() + normals(count, 1, seed + 1).col(0));
  };
  const GaussianBaseline model(rows(60, 4), Matrix<double>(60, 0));
  EXPECT_LT(model.shrinkage(), 0.1);
  const Matrix<double> fresh = rows(2000, 6);
  EXPECT_LT(mean_nll(model, fresh), entropy(20) - 12);  // independent columns: entropy + 0.9
}

// The shrinkage by its definition: the mean squared error of the correlation matrix as an average
// over rows, divided by its squared distance from a multiple of the identity.
TEST(GaussianBaseline, ShrinksAsLedoitAndWolfDo) {
  Matrix<double> x = normals(25, 3, 7);
  x.col(2) += 0.5 * x.col(0);
  const GaussianBaseline model(x, Matrix<double>(25, 0));
  Matrix<double> z = x.rowwise() - x.colwise().mean();
  z.array().rowwise() /= (z.colwise().squaredNorm() / 25).cwiseSqrt().array();
  const Eigen::MatrixXd correlation = z.transpose() * z / 25;
  double error = 0;
  for (Eigen::Index i = 0; i < 25; ++i) {
    error += (z.row(i).transpose() * z.row(i) - correlation).squaredNorm() / (25 * 25);
  }
  const double apart = (correlation - Eigen::MatrixXd::Identity(3, 3)).squaredNorm();
  EXPECT_NEAR(model.shrinkage(), std::min(1.0, error / apart), 1e-6);
}

TEST(GaussianBaseline, RegressesOnConditions) {
  const Matrix<double> context = normals(500, 2, 8);
  Matrix<double> x = 0.1 * normals(500, 1, 9);
  x.col(0) += 2 * context.col(0) - context.col(1);
  x.col(0).array() += 4;
  const GaussianBaseline model(x, context);
  EXPECT_NEAR(-model.log_prob(x, context).mean(), entropy(1) + std::log(0.1), 0.1);
}

TEST(GaussianBaseline, TakesACopyOfAColumn) {
  Matrix<double> x = normals(100, 2, 10);
  x.col(1) = x.col(0);
  EXPECT_TRUE(
      GaussianBaseline(x, Matrix<double>(100, 0)).log_prob(x, Matrix<double>(100, 0)).allFinite());
}

}  // namespace
}  // namespace jeffreys
