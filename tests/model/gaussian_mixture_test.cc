// What a mixture of Gaussians promises beyond density_contract_test.cc.
#include "jeffreys/model/gaussian_mixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "support/mistake_of.h"
#include "support/model_helpers.h"

namespace jeffreys {
namespace {

using ::testing::HasSubstr;

std::vector<GaussianComponent> two_parts() {
  Matrix<double> wide(2, 2);
  wide << 2, 0, 1, 0.5;
  Matrix<double> narrow(2, 2);
  narrow << 0.3, 0, -0.1, 0.4;
  return {{0.25, Vector<double>{{-1, 2}}, wide}, {0.75, Vector<double>{{3, 0}}, narrow}};
}

// log N(x; mean, factor factor^T) by the textbook.
double log_normal(const Eigen::Vector2d& x, const GaussianComponent& part) {
  const Eigen::Matrix2d covariance = part.factor * part.factor.transpose();
  const Eigen::Vector2d difference = x - part.mean;
  return -std::log(2 * std::numbers::pi) - 0.5 * std::log(covariance.determinant()) -
         0.5 * difference.dot(covariance.inverse() * difference);
}

TEST(GaussianMixture, IsTheMixtureThatIsGiven) {
  const std::vector<GaussianComponent> parts = two_parts();
  const GaussianMixture<double> mixture(parts);
  const Matrix<double> x = 2 * testing::normals(50, 2, 1);
  const Vector<double> values = mixture.log_prob(x);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const Eigen::Vector2d row = x.row(i);
    const double expected = std::log(0.25 * std::exp(log_normal(row, parts[0])) +
                                     0.75 * std::exp(log_normal(row, parts[1])));
    EXPECT_NEAR(values(i), expected, 1e-10 * (1 + std::abs(expected)));
  }
}

TEST(GaussianMixture, SamplesHaveItsMoments) {
  const GaussianMixture<double> mixture(two_parts());
  const Matrix<double> x = mixture.sample(100000, {1, 2, 3}).x;
  // Means -0.25 + 2.25 and 0.5; standard errors are 0.007 and 0.004.
  EXPECT_NEAR(x.col(0).mean(), 2, 0.03);
  EXPECT_NEAR(x.col(1).mean(), 0.5, 0.02);
  // The second moment of x1: 0.25 (1 + 4) + 0.75 (9 + 0.09), standard error 0.015.
  EXPECT_NEAR(x.col(0).squaredNorm() / 100000, 8.0675, 0.06);
}

TEST(GaussianMixture, FarRowsHaveFiniteLogDensities) {
  const GaussianMixture<float> mixture(two_parts());
  const Matrix<float> far = Matrix<float>::Constant(1, 2, 1000);
  EXPECT_LT(mixture.log_prob(far)(0), -1e5F);
  EXPECT_TRUE(std::isfinite(mixture.log_prob(far)(0)));
}

// So far that squares overflow: no NaN, which is for rows that are not finite.
TEST(GaussianMixture, RowsBeyondAllNumbersHaveNoDensity) {
  const GaussianMixture<float> mixture(two_parts());
  const Matrix<float> far = Matrix<float>::Constant(1, 2, 3e38F);
  EXPECT_EQ(mixture.log_prob(far)(0), -std::numeric_limits<float>::infinity());
  std::vector<float> gradient(mixture.layout().size());
  mixture.add_scores(far, Matrix<float>(), Vector<float>::Zero(1), gradient);
}

TEST(GaussianMixture, ExtremeNoiseChoosesAComponentThatIsThere) {
  std::vector<GaussianComponent> parts = two_parts();
  parts.push_back(parts.front());
  parts.back().weight = 1e-30;
  parts.back().mean << 1e4, 1e4;
  const GaussianMixture<float> mixture(parts);
  Matrix<float> noise = Matrix<float>::Zero(4, 3);
  noise.col(2) << -9, -6, 6, 9;
  const Matrix<float> x = mixture.sample_from_noise(noise).x;
  EXPECT_NEAR(x(0, 0), -1, 1e-4);  // the mean of the first
  EXPECT_NEAR(x(1, 0), -1, 1e-4);
  EXPECT_NEAR(x(2, 0), 3, 1e-4);  // of the second: the third has no probability at 6 deviations
  EXPECT_NEAR(x(3, 0), 3, 1e-4);
}

TEST(GaussianMixture, NoiseThatIsNotFiniteIsNoSample) {
  const GaussianMixture<double> mixture(two_parts());
  Matrix<double> noise = Matrix<double>::Zero(2, 3);
  noise(0, 2) = std::nan("");
  const Samples<double> samples = mixture.sample_from_noise(noise);
  EXPECT_TRUE(std::isnan(samples.x(0, 0)));
  EXPECT_TRUE(std::isnan(samples.log_prob(0)));
  EXPECT_TRUE(std::isfinite(samples.log_prob(1)));
}

TEST(GaussianMixture, WhatIsNoMixtureIsRefused) {
  using testing::mistake_of;
  EXPECT_THAT(mistake_of([] { GaussianMixture<double>(GaussianMixtureOptions{}); }),
              HasSubstr("features"));
  EXPECT_THAT(mistake_of([] {
                GaussianMixture<double>(GaussianMixtureOptions{.features = 1, .components = 0});
              }),
              HasSubstr("components"));
  EXPECT_THAT(mistake_of([] { GaussianMixture<double>(std::vector<GaussianComponent>()); }),
              HasSubstr("at least one"));
  std::vector<GaussianComponent> parts = two_parts();
  parts[1].weight = 0;
  EXPECT_THAT(mistake_of([&] { GaussianMixture<double> refused(parts); }), HasSubstr("weight"));
  parts = two_parts();
  parts[0].factor = Matrix<double>::Ones(1, 4);
  EXPECT_THAT(mistake_of([&] { GaussianMixture<double> refused(parts); }), HasSubstr("factor"));
  parts = two_parts();
  parts[0].factor(1, 1) = 0;
  EXPECT_THAT(mistake_of([&] { GaussianMixture<double> refused(parts); }), HasSubstr("diagonal"));
  parts = two_parts();
  parts[1].mean.resize(3);
  EXPECT_THAT(mistake_of([&] { GaussianMixture<double> refused(parts); }), HasSubstr("mean"));
}

}  // namespace
}  // namespace jeffreys
