// Closed forms of the Fréchet distance, and an independent formula: the square roots of the
// eigenvalues of S1 S2, which is not symmetric.
#include "jeffreys/evaluate/frechet_distance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>
#include <limits>

#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"
#include "support/mistake_of.h"

namespace jeffreys {
namespace {

using ::testing::HasSubstr;
using testing::mistake_of;

Matrix<double> normal_rows(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  Matrix<double> x(rows, columns);
  kernels::fill_normals(kernels::RandomArguments<double>{{seed, kFirstFree, 0},
                                                         0,
                                                         static_cast<std::size_t>(rows),
                                                         static_cast<std::size_t>(columns),
                                                         x.data()});
  return x;
}

// [size, columns], orthonormal columns.
Matrix<double> rotation(Eigen::Index size, Eigen::Index columns, std::uint64_t seed) {
  const Eigen::MatrixXd q =
      Eigen::HouseholderQR<Eigen::MatrixXd>(normal_rows(size, size, seed)).householderQ();
  return q.leftCols(columns);
}

// Of any rank.
Matrix<double> random_covariance(Eigen::Index size, Eigen::Index rank, std::uint64_t seed) {
  const Matrix<double> x = normal_rows(rank, size, seed);
  return x.transpose() * x;
}

Vector<double> random_mean(Eigen::Index size, std::uint64_t seed) {
  return normal_rows(size, 1, seed).col(0);
}

struct Gaussian {
  Vector<double> mean;
  Matrix<double> covariance;
};

double distance(const Gaussian& a, const Gaussian& b) {
  return frechet_distance(a.mean, a.covariance, b.mean, b.covariance);
}

double by_general_eigenvalues(const Gaussian& a, const Gaussian& b) {
  const Eigen::MatrixXd product = a.covariance * b.covariance;
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(product, false);
  double root = 0;
  for (const std::complex<double>& value : solver.eigenvalues()) {
    root += std::sqrt(std::max(value.real(), 0.0));
  }
  return (a.mean - b.mean).squaredNorm() + a.covariance.trace() + b.covariance.trace() - 2 * root;
}

TEST(FrechetDistance, OneFeature) {
  const Matrix<double> a{{4.0}};
  const Matrix<double> b{{0.25}};
  // (1 - 3)^2 + (2 - 0.5)^2
  EXPECT_NEAR(frechet_distance(Vector<double>{{1.0}}, a, Vector<double>{{3.0}}, b), 6.25, 1e-14);
}

TEST(FrechetDistance, EqualCovariancesLeaveTheMeans) {
  const Matrix<double> covariance = random_covariance(12, 20, 1);
  const Gaussian a{random_mean(12, 2), covariance};
  const Gaussian b{random_mean(12, 3), covariance};
  EXPECT_NEAR(distance(a, b), (a.mean - b.mean).squaredNorm(), 1e-11);
}

TEST(FrechetDistance, CommutingCovariances) {
  const Vector<double> one{{3.0, 1.0, 0.25, 1e-4, 0.0}};
  const Vector<double> other{{0.5, 2.0, 0.0, 9e-4, 0.0}};
  const double expected = (one.cwiseSqrt() - other.cwiseSqrt()).squaredNorm();
  const Vector<double> zero = Vector<double>::Zero(5);
  const Matrix<double> diagonal = one.asDiagonal();
  const Matrix<double> other_diagonal = other.asDiagonal();
  EXPECT_NEAR(frechet_distance(zero, diagonal, zero, other_diagonal), expected, 1e-13);
  const Matrix<double> q = rotation(5, 5, 4);
  EXPECT_NEAR(frechet_distance(zero, q * diagonal * q.transpose(), zero,
                               q * other_diagonal * q.transpose()),
              expected, 1e-13);
}

TEST(FrechetDistance, AgreesWithGeneralEigenvalues) {
  for (std::uint64_t seed = 10; seed < 15; ++seed) {
    const Gaussian a{random_mean(15, seed), random_covariance(15, 25, seed + 100)};
    const Gaussian b{random_mean(15, seed + 200), random_covariance(15, 30, seed + 300)};
    EXPECT_NEAR(distance(a, b), by_general_eigenvalues(a, b), 1e-9);
    EXPECT_NEAR(distance(a, b), distance(b, a), 1e-11);
  }
}

// The eigenvalues of the product that ought to be 0 are not, and their roots are 1e-8 and more:
// hence the wide tolerance on the general formula.
TEST(FrechetDistance, AgreesWithGeneralEigenvaluesWithoutFullRank) {
  const Gaussian a{random_mean(20, 20), random_covariance(20, 6, 21)};
  const Gaussian b{random_mean(20, 22), random_covariance(20, 9, 23)};
  EXPECT_NEAR(distance(a, b), by_general_eigenvalues(a, b), 1e-4);
}

TEST(FrechetDistance, LowRankIsTheDistanceInItsSubspace) {
  const Gaussian a{random_mean(4, 30), random_covariance(4, 8, 31)};
  const Gaussian b{random_mean(4, 32), random_covariance(4, 8, 33)};
  const Matrix<double> q = rotation(60, 4, 34);
  const auto embedded = [&](const Gaussian& g) {
    return Gaussian{q * g.mean, q * g.covariance * q.transpose()};
  };
  EXPECT_NEAR(distance(embedded(a), embedded(b)), distance(a, b), 1e-11);
}

TEST(FrechetDistance, SubspacesThatDoNotMeetAddUp) {
  const Matrix<double> q = rotation(10, 10, 40);
  const Matrix<double> first = q.leftCols(3) * q.leftCols(3).transpose();
  const Matrix<double> second = 2 * q.rightCols(4) * q.rightCols(4).transpose();
  const Vector<double> zero = Vector<double>::Zero(10);
  EXPECT_NEAR(frechet_distance(zero, first, zero, second), 3 + 8, 1e-12);
}

TEST(FrechetDistance, OfAPointIsTheSpread) {
  const Matrix<double> rows = normal_rows(50, 6, 41);
  const Matrix<double> point = rows.row(0).replicate(5, 1);
  const FeatureMoments moments(rows);
  EXPECT_NEAR(
      frechet_distance(point, rows),
      (rows.row(0).transpose() - moments.mean()).squaredNorm() + moments.covariance().trace(),
      1e-12);
  EXPECT_EQ(frechet_distance(point, point), 0);
}

TEST(FrechetDistance, IsZeroOfASetWithItself) {
  for (const Eigen::Index rows : {5, 40, 300}) {  // fewer than features, as many, more
    const Matrix<double> x = normal_rows(rows, 40, 50);
    EXPECT_LT(frechet_distance(x, x), 1e-11) << rows;
  }
}

TEST(FrechetDistance, RotationChangesNothingAndScaleItsSquare) {
  const Matrix<double> a = normal_rows(30, 50, 60);
  const Matrix<double> b = 1.5 * normal_rows(35, 50, 61);
  const Matrix<double> q = rotation(50, 50, 62);
  const double expected = frechet_distance(a, b);
  EXPECT_NEAR(frechet_distance(a * q, b * q), expected, 1e-10 * expected);
  EXPECT_NEAR(frechet_distance(3.0 * a, 3.0 * b), 9 * expected, 1e-10 * expected);
}

TEST(FrechetDistance, SquareOfWassersteinIsATriangle) {
  const Matrix<double> a = normal_rows(30, 10, 63);
  const Matrix<double> b = 2.0 * normal_rows(30, 10, 64);
  const Matrix<double> c = normal_rows(30, 10, 65).array() + 0.3;
  EXPECT_LE(std::sqrt(frechet_distance(a, c)),
            std::sqrt(frechet_distance(a, b)) + std::sqrt(frechet_distance(b, c)));
}

TEST(FeatureMoments, PartsGiveTheMomentsOfTheWhole) {
  const Matrix<double> x = normal_rows(101, 7, 70).array() + 1e6;
  FeatureMoments parts(7);
  parts.add(x.topRows(1));
  parts.add(x.middleRows(1, 60));
  parts.add(Matrix<double>(0, 7));
  FeatureMoments rest(7);
  rest.add(x.bottomRows(40));
  parts.add(rest);
  EXPECT_EQ(parts.rows(), 101);
  const Matrix<double> centred = x.rowwise() - x.colwise().mean();
  EXPECT_TRUE(parts.mean().isApprox(x.colwise().mean().transpose(), 1e-14));
  EXPECT_TRUE(parts.covariance().isApprox(centred.transpose() * centred / 100.0, 1e-8));
  EXPECT_TRUE(FeatureMoments(x).covariance().isApprox(parts.covariance(), 1e-8));
}

TEST(FeatureMoments, RefusesWhatHasNone) {
  Matrix<double> x = normal_rows(4, 3, 71);
  x(2, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(mistake_of([&] { (void)FeatureMoments(x); }), HasSubstr("row 2"));
  const Matrix<double> good = normal_rows(4, 3, 71);
  EXPECT_THAT(mistake_of([&] { (void)frechet_distance(good, good.leftCols(2)); }),
              HasSubstr("expected 3 columns, got 2"));
  EXPECT_THAT(mistake_of([&] { (void)frechet_distance(good, good.topRows(1)); }),
              HasSubstr("expected at least 2, got 1"));
  EXPECT_THAT(mistake_of([&] { (void)frechet_between_halves(good.topRows(3)); }),
              HasSubstr("expected at least 4, got 3"));
  EXPECT_THAT(mistake_of([&] { (void)frechet_interval(good, good, {.resamples = 1}); }),
              HasSubstr("FrechetOptions.resamples"));
}

// The mean distance of sets of this size is in the 95 % interval of most sets: 60 of them, so the
// standard error of the share is 0.028, and the bootstrap of 120 rows is a little short.
TEST(FrechetInterval, CoversTheDistanceOfSetsOfThisSize) {
  constexpr int kSets = 60;
  std::vector<FrechetInterval> intervals;
  double mean = 0;
  for (std::uint64_t i = 0; i < kSets; ++i) {
    const Matrix<double> a = normal_rows(120, 4, 1000 + i);
    const Matrix<double> b = 1.5 * normal_rows(120, 4, 2000 + i).array() + 0.5;
    intervals.push_back(frechet_interval(a, b, {.resamples = 100, .seed = i}));
    mean += intervals.back().distance / kSets;
  }
  int covered = 0;
  for (const FrechetInterval& one : intervals) {
    EXPECT_LT(one.lower, one.distance);
    EXPECT_GT(one.upper, one.distance);
    EXPECT_GT(one.bias, 0);
    covered += one.lower <= mean && mean <= one.upper ? 1 : 0;
  }
  EXPECT_GE(covered, 51);
  // The true distance is 4 (0.5^2 + 0.5^2) = 2; sets of this size are a little farther.
  EXPECT_GT(mean, 2.0);
  EXPECT_LT(mean, 2.3);
}

TEST(FrechetInterval, FollowsItsSeed) {
  const Matrix<double> a = normal_rows(30, 3, 80);
  const Matrix<double> b = normal_rows(40, 3, 81);
  const FrechetInterval one = frechet_interval(a, b, {.resamples = 20, .seed = 5});
  EXPECT_EQ(one.upper, frechet_interval(a, b, {.resamples = 20, .seed = 5}).upper);
  EXPECT_NE(one.upper, frechet_interval(a, b, {.resamples = 20, .seed = 6}).upper);
  EXPECT_EQ(one.distance, frechet_distance(a, b));
}

// 40 cuts, 40 pairs of sets.
TEST(FrechetBetweenHalves, IsTheDistanceOfTwoSetsOfThatSize) {
  const Matrix<double> x = normal_rows(801, 5, 90);
  const HalvesDistance halves = frechet_between_halves(x, {.resamples = 40, .seed = 3});
  EXPECT_EQ(halves.rows, 400);
  double fresh = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    fresh += frechet_distance(normal_rows(400, 5, 3000 + i), normal_rows(400, 5, 4000 + i)) / 40;
  }
  EXPECT_GT(halves.standard_deviation, 0);
  const double error = halves.standard_deviation * std::sqrt(2.0 / 40);
  EXPECT_NEAR(halves.mean, fresh, 4 * error);
  // To first order for standard normal rows: 2 p / n for the means, and a quarter of the squared
  // difference of the covariances, 2 p (p + 1) / n.
  EXPECT_NEAR(fresh, (2 * 5 + 5 * 6 / 2.0) / 400, 4 * error);
}

}  // namespace
}  // namespace jeffreys
