// The kernel density against the sum that defines it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "jeffreys/evaluate/gaussian_baseline.h"
#include "jeffreys/evaluate/held_out.h"
#include "jeffreys/evaluate/kernel_baseline.h"
#include "jeffreys/truth/source.h"
#include "support/model_helpers.h"

namespace jeffreys {
namespace {

// Mean of the kernels, one after the other.
double direct_log_prob(const Matrix<double>& training, double bandwidth,
                       const Eigen::RowVectorXd& x) {
  double sum = 0;
  for (const auto& center : training.rowwise()) {
    double product = 1;
    for (Eigen::Index f = 0; f < training.cols(); ++f) {
      const double mean = training.col(f).mean();
      const double variance = (training.col(f).array() - mean).square().mean();
      const double width = bandwidth * std::sqrt(variance);
      const double z = (x[f] - center[f]) / width;
      product *= std::exp(-0.5 * z * z) / (width * std::sqrt(2 * std::numbers::pi));
    }
    sum += product;
  }
  return std::log(sum / static_cast<double>(training.rows()));
}

Vector<double> direct_log_prob(const Matrix<double>& training, double bandwidth,
                               const Matrix<double>& rows) {
  Vector<double> result(rows.rows());
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    result[i] = direct_log_prob(training, bandwidth, Eigen::RowVectorXd(rows.row(i)));
  }
  return result;
}

// Columns with other units and places.
Matrix<double> rows_in_units(Eigen::Index rows, std::uint64_t seed) {
  Matrix<double> x = testing::correlated_rows(rows, 3, seed);
  x.col(1) = 1000 * x.col(1).array() - 5000;
  x.col(2) *= 0.01;
  return x;
}

TEST(KernelBaseline, IsTheMeanOfTheKernels) {
  const Matrix<double> training = rows_in_units(70, 1);
  const KernelBaseline kernel(training, rows_in_units(30, 2));
  const Matrix<double> test = rows_in_units(200, 3);
  const Vector<double> expected = direct_log_prob(training, kernel.bandwidth(), test);
  EXPECT_LT((kernel.log_prob(test) - expected).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(KernelBaseline, TakesTheBandwidthThatValidationLikesBest) {
  const Matrix<double> training = rows_in_units(60, 1);
  const Matrix<double> validation = rows_in_units(40, 2);
  const double bandwidth = KernelBaseline(training, validation).bandwidth();
  const auto score = [&](double factor) {
    return direct_log_prob(training, factor * bandwidth, validation).mean();
  };
  for (const double factor : {0.1, 0.5, 0.9, 0.97, 1.03, 1.1, 2.0, 5.0}) {
    EXPECT_GT(score(1), score(factor)) << factor;
  }
}

TEST(KernelBaseline, IntegratesToOne) {
  const auto moons = make_source("moons");
  const KernelBaseline kernel(moons->sample(200, 1), moons->sample(100, 2));
  constexpr double kStep = 0.02;
  constexpr Eigen::Index kNodes = 200;
  Matrix<double> line(kNodes, 2);
  line.col(0).setLinSpaced(kNodes, -1.5, -1.5 + kStep * (kNodes - 1));
  double sum = 0;
  for (double y = -1.5; y < 2; y += kStep) {
    line.col(1).setConstant(y);
    sum += kernel.log_prob(line).array().exp().sum() * kStep * kStep;
  }
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(KernelBaseline, BeatsASingleGaussianOnMoons) {
  const auto moons = make_source("moons");
  const Matrix<double> training = moons->sample(800, 1);
  const Matrix<double> test = moons->sample(2000, 3);
  const KernelBaseline kernel(training, moons->sample(200, 2));
  const GaussianBaseline gaussian(training, Matrix<double>(800, 0));
  const PairedDifference gain =
      paired_difference(gaussian.log_prob(test, Matrix<double>(2000, 0)), kernel.log_prob(test));
  EXPECT_GT(gain.mean, 1);  // nats; it is 1.4
  EXPECT_GT(gain.mean, 10 * gain.standard_error);
}

TEST(KernelBaseline, LivesWithRowsFarAwayCopiesAndConstants) {
  Matrix<double> x = Matrix<double>::Constant(4, 2, 3.0);
  x.col(0) << 1, 1, 2, 2;
  const KernelBaseline kernel(x, x);
  EXPECT_GE(kernel.bandwidth(), 1e-3);
  EXPECT_TRUE(kernel.log_prob(x).allFinite());
  const Matrix<double> far{{1e6, 3}, {-1e200, 3}};
  const Vector<double> log_p = kernel.log_prob(far);
  EXPECT_LT(log_p[0], -1e6);
  EXPECT_EQ(log_p[1], -std::numeric_limits<double>::infinity());
}

TEST(KernelBaseline, KeepsANanInItsRow) {
  const Matrix<double> training = rows_in_units(50, 1);
  const KernelBaseline kernel(training, rows_in_units(20, 2));
  Matrix<double> x = rows_in_units(3, 3);
  const Vector<double> before = kernel.log_prob(x);
  x(1, 0) = std::nan("");
  const Vector<double> after = kernel.log_prob(x);
  EXPECT_EQ(after[0], before[0]);
  EXPECT_TRUE(std::isnan(after[1]));
  EXPECT_EQ(after[2], before[2]);
}

TEST(KernelBaseline, RefusesWhatItCannotFit) {
  const Matrix<double> x = rows_in_units(10, 1);
  Matrix<double> broken = x;
  broken(3, 1) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(KernelBaseline(Matrix<double>(0, 3), x), std::invalid_argument);
  EXPECT_THROW(KernelBaseline(x, Matrix<double>(0, 3)), std::invalid_argument);
  EXPECT_THROW(KernelBaseline(x, x.leftCols(2)), std::invalid_argument);
  EXPECT_THROW(KernelBaseline(broken, x), std::invalid_argument);
  EXPECT_THROW((void)KernelBaseline(x, x).log_prob(x.leftCols(2)), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys
