// Which modes are reached, counted by hand and on a source with known modes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "jeffreys/evaluate/mode_coverage.h"
#include "jeffreys/truth/source.h"

namespace jeffreys {
namespace {

Matrix<double> corners() {
  Matrix<double> centers(4, 2);
  centers << 0, 0, 10, 0, 0, 10, 10, 10;
  return centers;
}

TEST(ModeCoverage, CountsTheNearestCentreWithinTheRadius) {
  Matrix<double> samples(8, 2);
  samples << 0, 1,  // first centre
      0.5, 0.5,     // first centre
      11, 0,        // second centre, on the circle
      8.9, 0,       // too far
      5, 5,         // too far from all
      10, 10,       // fourth centre
      std::nan(""), 0, std::numeric_limits<double>::infinity(), 0;
  const Vector<double> shares = mode_shares(samples, corners(), 1.0);
  EXPECT_EQ(8 * shares, (Vector<double>{{2, 1, 0, 1}}));
}

TEST(ModeCoverage, AFractionOfTheExpectedMassIsEnough) {
  const Vector<double> expected = Vector<double>::Constant(4, 0.25);
  const Vector<double> shares{{0.7, 0.025, 0.0249, 0.0}};
  const ModeCoverage coverage = mode_coverage(shares, expected);
  EXPECT_EQ(coverage.modes, 4u);
  EXPECT_EQ(coverage.covered, 2u);
  EXPECT_DOUBLE_EQ(coverage.covered_share, 0.5);
  EXPECT_DOUBLE_EQ(coverage.precision, 0.7499);
  EXPECT_EQ(mode_coverage(shares, expected, 0.5).covered, 1u);
  EXPECT_EQ(mode_coverage(shares, expected, 0.05).covered, 3u);
}

TEST(ModeCoverage, ExpectedMassMayDiffer) {
  const Vector<double> shares{{0.9, 0.02}};
  const Vector<double> expected{{0.9, 0.1}};
  EXPECT_EQ(mode_coverage(shares, expected).covered, 2u);
  EXPECT_EQ(mode_coverage(shares, Vector<double>::Constant(2, 0.5)).covered, 1u);
}

TEST(ModeCoverage, OfTheRingItselfIsWhole) {
  Matrix<double> centers(8, 2);
  for (int k = 0; k < 8; ++k) {
    const double angle = 0.25 * k * std::numbers::pi;
    centers.row(k) << std::numbers::sqrt2 * std::cos(angle), std::numbers::sqrt2 * std::sin(angle);
  }
  const Matrix<double> x = make_source("ring")->sample(10'000, 4);
  const Vector<double> shares = mode_shares(x, centers, 3 * 0.05);
  const ModeCoverage coverage = mode_coverage(shares, Vector<double>::Constant(8, 1.0 / 8));
  EXPECT_EQ(coverage.covered, 8u);
  // 1 - exp(-9 / 2) of a plane Gaussian lies within 3 deviations; standard error 0.001.
  EXPECT_NEAR(coverage.precision, 1 - std::exp(-4.5), 4 * 0.00105);
  // Standard error of one share: sqrt(0.125 * 0.875 / 10,000) = 0.0033.
  for (const double share : shares) EXPECT_NEAR(share, 0.9889 / 8, 4 * 0.0033);
}

TEST(ModeCoverage, RefusesWhatHasNoAnswer) {
  const Matrix<double> samples = corners();
  EXPECT_THROW((void)mode_shares(Matrix<double>(0, 2), corners(), 1), std::invalid_argument);
  EXPECT_THROW((void)mode_shares(samples, Matrix<double>(0, 2), 1), std::invalid_argument);
  EXPECT_THROW((void)mode_shares(samples.leftCols(1), corners(), 1), std::invalid_argument);
  for (const double radius : {0.0, -1.0, std::nan("")}) {
    EXPECT_THROW((void)mode_shares(samples, corners(), radius), std::invalid_argument);
  }
  const Vector<double> shares = Vector<double>::Constant(2, 0.5);
  EXPECT_THROW((void)mode_coverage(shares, Vector<double>::Zero(2)), std::invalid_argument);
  EXPECT_THROW((void)mode_coverage(shares, Vector<double>::Ones(3)), std::invalid_argument);
  EXPECT_THROW((void)mode_coverage(shares, shares, 0), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys
