// Mixtures and kernels by cross-validation, with conditions and without.
#include "jeffreys/evaluate/residual_baseline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/model_helpers.h"

namespace jeffreys {
namespace {

using testing::normals;

std::vector<std::size_t> each_alone(Eigen::Index rows) {
  std::vector<std::size_t> same(static_cast<std::size_t>(rows));
  std::iota(same.begin(), same.end(), std::size_t{0});
  return same;
}

// Two clusters: half of the rows around -3, half around 3.
Matrix<double> clusters(Eigen::Index rows, std::uint64_t seed) {
  Matrix<double> x = normals(rows, 2, seed);
  for (Eigen::Index r = 0; r < rows; ++r) x(r, 0) += r % 2 == 0 ? -3 : 3;
  return x;
}

double entropy_of_clusters() {
  // Two unit Gaussians six deviations apart: nearly disjoint.
  return 2 * 0.5 * std::log(2 * 3.14159265358979 * std::exp(1.0)) + std::log(2.0) - 0.005;
}

class ResidualBaselineOf : public ::testing::TestWithParam<ResidualDensity> {};

TEST_P(ResidualBaselineOf, ComesNearTheEntropy) {
  const Matrix<double> x = clusters(400, 1);
  const ResidualBaseline density(GetParam(), x, Matrix<double>(400, 0), each_alone(400), 0);
  const double nll = -density.log_prob(clusters(4000, 2), Matrix<double>(4000, 0)).mean();
  // Standard error of the mean: 0.016. A Gaussian would have 4.0.
  EXPECT_GT(nll, entropy_of_clusters() - 0.06);
  EXPECT_LT(nll, entropy_of_clusters() + (GetParam() == ResidualDensity::mixture ? 0.1 : 0.25));
}

TEST_P(ResidualBaselineOf, MovesWithItsConditions) {
  const Matrix<double> condition = normals(300, 1, 3);
  const Matrix<double> x = clusters(300, 4) + 10 * condition * Matrix<double>::Ones(1, 2);
  const ResidualBaseline density(GetParam(), x, condition, each_alone(300), 0);
  const Matrix<double> other = normals(3000, 1, 5);
  const Matrix<double> y = clusters(3000, 6) + 10 * other * Matrix<double>::Ones(1, 2);
  EXPECT_NEAR(-density.log_prob(y, other).mean(), entropy_of_clusters(), 0.35);
}

TEST_P(ResidualBaselineOf, IntegratesToOne) {
  const Matrix<double> x = clusters(60, 7).leftCols(1);
  const ResidualBaseline density(GetParam(), x, Matrix<double>(60, 0), each_alone(60), 0);
  const Matrix<double> grid = Vector<double>::LinSpaced(4001, -20, 20);
  EXPECT_NEAR(density.log_prob(grid, Matrix<double>(4001, 0)).array().exp().sum() * 0.01, 1, 1e-3);
}

// A row at several places must not be judged by itself: kernels would shrink to nothing.
TEST_P(ResidualBaselineOf, CopiesOfARowAreJudgedTogether) {
  const Matrix<double> x = clusters(100, 8);
  const Matrix<double> twice = x.replicate(2, 1);
  std::vector<std::size_t> same = each_alone(100);
  same.insert(same.end(), same.begin(), same.begin() + 100);
  const Matrix<double> none(100, 0);
  const ResidualBaseline once(GetParam(), x, none, each_alone(100), 0);
  const ResidualBaseline again(GetParam(), twice, none.replicate(2, 1), same, 0);
  const Matrix<double> y = clusters(500, 9);
  EXPECT_NEAR(once.log_prob(y, Matrix<double>(500, 0)).mean(),
              again.log_prob(y, Matrix<double>(500, 0)).mean(), 0.05);
}

// What is called between the steps ends the fit by an exception, and changes nothing otherwise.
TEST_P(ResidualBaselineOf, EndsWhereItIsTold) {
  struct Enough {};
  const Matrix<double> x = clusters(100, 1);
  const Matrix<double> none(100, 0);
  int calls = 0;
  const ResidualBaseline watched(GetParam(), x, none, each_alone(100), 0, [&] { ++calls; });
  const ResidualBaseline alone(GetParam(), x, none, each_alone(100), 0);
  EXPECT_EQ(watched.log_prob(x, none), alone.log_prob(x, none));
  ASSERT_GT(calls, 20);
  int left = 5;
  const auto stop = [&] {
    if (--left == 0) throw Enough();
  };
  EXPECT_THROW(ResidualBaseline(GetParam(), x, none, each_alone(100), 0, stop), Enough);
}

INSTANTIATE_TEST_SUITE_P(All, ResidualBaselineOf,
                         ::testing::Values(ResidualDensity::mixture, ResidualDensity::kernel),
                         [](const auto& each) {
                           return each.param == ResidualDensity::mixture ? "mixture" : "kernel";
                         });

// With fewer rows than columns a covariance by itself is singular.
TEST(ResidualBaseline, AMixtureOfFewRowsIsNoSpike) {
  const Matrix<double> x = normals(30, 40, 10);
  const ResidualBaseline mixture(ResidualDensity::mixture, x, Matrix<double>(30, 0), each_alone(30),
                                 0);
  const double nll = -mixture.log_prob(normals(200, 40, 11), Matrix<double>(200, 0)).mean();
  const double entropy = 40 * 0.5 * std::log(2 * 3.14159265358979 * std::exp(1.0));
  EXPECT_LT(nll, 3 * entropy);
}

}  // namespace
}  // namespace jeffreys
