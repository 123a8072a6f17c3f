// The mixture fitted by expectation maximisation: a known mixture comes back, the density is one,
// and it beats a single Gaussian.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "jeffreys/evaluate/gaussian_baseline.h"
#include "jeffreys/evaluate/held_out.h"
#include "jeffreys/evaluate/mixture_baseline.h"
#include "jeffreys/truth/source.h"
#include "support/model_helpers.h"

namespace jeffreys {
namespace {

// Half the rows around (-4, 0) with correlation 0.8, a third of the rest at (0, 5), the others at
// (6, 1) with deviations 1 and 0.3.
Matrix<double> three_parts(Eigen::Index rows, std::uint64_t seed) {
  Matrix<double> x = testing::normals(rows, 2, seed);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const double u = x(i, 0);
    const double v = x(i, 1);
    if (i % 6 < 3) {
      x.row(i) << -4 + u, 0.8 * u + 0.6 * v;
    } else if (i % 6 == 3) {
      x.row(i) << u, 5 + v;
    } else {
      x.row(i) << 6 + u, 1 + 0.3 * v;
    }
  }
  return x;
}

TEST(MixtureBaseline, RecoversAKnownMixture) {
  const MixtureBaseline mixture(three_parts(6000, 1), three_parts(1500, 2), {.most_components = 3});
  std::vector<MixtureComponent> parts = mixture.components();
  ASSERT_EQ(parts.size(), 3u);
  std::sort(parts.begin(), parts.end(),
            [](const auto& a, const auto& b) { return a.mean[0] < b.mean[0]; });
  // 3000, 1000 and 2000 rows: standard errors of weights are 0.006, of means 0.032 at most, of
  // (co)variances 0.045 at most.
  const Vector<double> weights{{0.5, 1.0 / 6, 1.0 / 3}};
  const Matrix<double> means{{-4, 0}, {0, 5}, {6, 1}};
  const std::vector<Matrix<double>> covariances{Matrix<double>{{1, 0.8}, {0.8, 1}},
                                                Matrix<double>{{1, 0}, {0, 1}},
                                                Matrix<double>{{1, 0}, {0, 0.09}}};
  for (std::size_t k = 0; k < 3; ++k) {
    const auto row = static_cast<Eigen::Index>(k);
    EXPECT_NEAR(parts[k].weight, weights[row], 4 * 0.006);
    EXPECT_LT((parts[k].mean - means.row(row).transpose()).cwiseAbs().maxCoeff(), 4 * 0.032);
    const Matrix<double> covariance = parts[k].factor * parts[k].factor.transpose();
    EXPECT_LT((covariance - covariances[k]).cwiseAbs().maxCoeff(), 4 * 0.045);
  }
}

TEST(MixtureBaseline, SeparatesWhatHasOneCentre) {
  // Deviations 1 and 6 in turn, both around 0: no assignment of rows to centres finds them.
  const auto rows = [](Eigen::Index count, std::uint64_t seed) {
    Matrix<double> x = testing::normals(count, 1, seed);
    for (Eigen::Index i = 0; i < count; i += 2) x(i, 0) *= 6;
    return x;
  };
  const MixtureBaseline mixture(rows(8000, 1), rows(2000, 2), {.most_components = 2});
  ASSERT_EQ(mixture.components().size(), 2u);
  const auto [narrow, wide] =
      std::minmax(mixture.components()[0], mixture.components()[1],
                  [](const auto& a, const auto& b) { return a.factor(0, 0) < b.factor(0, 0); });
  // Standard deviations over seeds, with the little that early stopping costs: 0.01, 0.02, 0.07.
  // (In 1 of 20 seeds the ascent rests on a plateau instead.)
  EXPECT_NEAR(narrow.weight, 0.5, 4 * 0.01);
  EXPECT_NEAR(narrow.factor(0, 0), 1, 4 * 0.02);
  EXPECT_NEAR(wide.factor(0, 0), 6, 4 * 0.07);
}

TEST(MixtureBaseline, BeatsASingleGaussianOnNewRows) {
  const Matrix<double> training = three_parts(800, 1);
  const Matrix<double> test = three_parts(2000, 3);
  const MixtureBaseline mixture(training, three_parts(200, 2));
  const GaussianBaseline gaussian(training, Matrix<double>(800, 0));
  const PairedDifference gain =
      paired_difference(gaussian.log_prob(test, Matrix<double>(2000, 0)), mixture.log_prob(test));
  EXPECT_GE(mixture.components().size(), 3u);
  EXPECT_GT(gain.mean, 1);  // nats; it is 1.6
  EXPECT_GT(gain.mean, 10 * gain.standard_error);
}

TEST(MixtureBaseline, OfOneComponentIsTheGaussian) {
  const Matrix<double> x = testing::correlated_rows(300, 4, 1);
  const MixtureBaseline mixture(x, x, {.most_components = 1});
  const Matrix<double> centred = x.rowwise() - x.colwise().mean();
  Eigen::MatrixXd covariance = centred.transpose() * centred / 300;
  covariance.diagonal() *= 1 + 1e-6;  // the floor of the variances
  const Eigen::MatrixXd white =
      covariance.llt().matrixL().solve(Eigen::MatrixXd(centred.transpose()));
  const double constant =
      -0.5 * std::log(std::pow(2 * std::numbers::pi, 4) * covariance.determinant());
  const Vector<double> expected =
      (constant - 0.5 * white.colwise().squaredNorm().transpose().array()).matrix();
  EXPECT_LT((mixture.log_prob(x) - expected).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(MixtureBaseline, ChoosesAboutAsManyComponentsAsThereAre) {
  const auto ring = make_source("ring");
  const MixtureBaseline mixture(ring->sample(2000, 1), ring->sample(500, 2));
  EXPECT_GE(mixture.components().size(), 8u);
  // Within 5 % of a nat of the best possible; the standard error of the mean is 0.01.
  const Matrix<double> test = ring->sample(10'000, 3);
  const PairedDifference loss = paired_difference(mixture.log_prob(test), ring->log_prob(test));
  EXPECT_LT(loss.mean, 0.05);
  EXPECT_GT(loss.mean, -4 * loss.standard_error);
}

TEST(MixtureBaseline, IntegratesToOne) {
  const MixtureBaseline mixture(three_parts(300, 1), three_parts(100, 2));
  constexpr double kStep = 0.05;
  constexpr Eigen::Index kNodes = 600;
  Matrix<double> line(kNodes, 2);
  line.col(0).setLinSpaced(kNodes, -14, -14 + kStep * (kNodes - 1));
  double sum = 0;
  for (double y = -14; y < 16; y += kStep) {
    line.col(1).setConstant(y);
    sum += mixture.log_prob(line).array().exp().sum() * kStep * kStep;
  }
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST(MixtureBaseline, SamplesHaveTheMomentsOfTheMixture) {
  const MixtureBaseline mixture(three_parts(600, 1), three_parts(200, 2));
  Vector<double> mean = Vector<double>::Zero(2);
  Matrix<double> square = Matrix<double>::Zero(2, 2);
  for (const auto& part : mixture.components()) {
    mean += part.weight * part.mean;
    square +=
        part.weight * (part.factor * part.factor.transpose() + part.mean * part.mean.transpose());
  }
  constexpr Eigen::Index kRows = 40'000;
  const Matrix<double> x = mixture.sample(kRows, 7);
  // Deviations are below 5, of products below 40.
  const double root = std::sqrt(static_cast<double>(kRows));
  EXPECT_LT((x.colwise().mean().transpose() - mean).cwiseAbs().maxCoeff(), 4 * 5 / root);
  EXPECT_LT((x.transpose() * x / static_cast<double>(kRows) - square).cwiseAbs().maxCoeff(),
            4 * 40 / root);
}

TEST(MixtureBaseline, SamplesDependOnTheSeedAndTheRowAlone) {
  const MixtureBaseline mixture(three_parts(300, 1), three_parts(100, 2));
  const Matrix<double> x = mixture.sample(50, 3);
  EXPECT_TRUE(testing::same_bits(x, mixture.sample(50, 3)));
  EXPECT_TRUE(testing::same_bits(Matrix<double>(x.topRows(20)), mixture.sample(20, 3)));
  EXPECT_NE(x, mixture.sample(50, 4));
  EXPECT_EQ(mixture.sample(0, 1).cols(), 2);
}

TEST(MixtureBaseline, IsTheSameForTheSameSeed) {
  const Matrix<double> training = three_parts(200, 1);
  const Matrix<double> validation = three_parts(100, 2);
  const Vector<double> once = MixtureBaseline(training, validation, {.seed = 5}).log_prob(training);
  EXPECT_TRUE(testing::same_bits(
      once, MixtureBaseline(training, validation, {.seed = 5}).log_prob(training)));
  EXPECT_NE(once, MixtureBaseline(training, validation, {.seed = 6}).log_prob(training));
}

TEST(MixtureBaseline, FollowsAChangeOfUnits) {
  const Eigen::RowVectorXd scale{{1e6, 1e-4}};
  const Eigen::RowVectorXd shift{{3e6, 7}};
  const auto in_units = [&](const Matrix<double>& x) -> Matrix<double> {
    return (x.array().rowwise() * scale.array()).rowwise() + shift.array();
  };
  const Matrix<double> training = three_parts(200, 1);
  const Matrix<double> validation = three_parts(60, 2);
  const Vector<double> before = MixtureBaseline(training, validation).log_prob(training);
  const Vector<double> after =
      MixtureBaseline(in_units(training), in_units(validation)).log_prob(in_units(training));
  const double jacobian = scale.array().log().sum();
  EXPECT_LT((after.array() + jacobian - before.array()).abs().maxCoeff(), 1e-6);
}

TEST(MixtureBaseline, LivesWithCopiesConstantsAndFewRows) {
  Matrix<double> x = Matrix<double>::Constant(6, 3, 2.0);
  const MixtureBaseline constant(x, x);
  EXPECT_TRUE(constant.log_prob(x).allFinite());
  x.col(0) << 1, 1, 1, 5, 5, 5;
  x.col(1) = x.col(0);
  const MixtureBaseline copies(x, x);
  EXPECT_TRUE(copies.log_prob(x).allFinite());
  EXPECT_TRUE(copies.sample(10, 1).allFinite());
  const MixtureBaseline one_row(x.topRows(1), x);
  EXPECT_EQ(one_row.components().size(), 1u);
}

TEST(MixtureBaseline, TakesAConstantForOneWhateverItsValue) {
  Matrix<double> x = testing::normals(1000, 2, 1);
  x.col(1).setZero();
  const MixtureOptions options{.most_components = 2};
  const Vector<double> zeros = MixtureBaseline(x, x, options).log_prob(x);
  x.col(1).setConstant(0.1);  // the mean of which is not 0.1
  EXPECT_LT((MixtureBaseline(x, x, options).log_prob(x) - zeros).cwiseAbs().maxCoeff(), 1e-6);
}

// Rows that count nothing are as if they were not there: the part at (6, 1) goes away.
TEST(MixtureBaseline, KnowsWeights) {
  const Matrix<double> x = three_parts(600, 1);
  const Matrix<double> validation = three_parts(300, 2);
  const auto weights = [](Eigen::Index rows) {
    Vector<double> result(rows);
    for (Eigen::Index i = 0; i < rows; ++i) result(i) = i % 6 < 4 ? 7 : 0;
    return result;
  };
  const MixtureBaseline mixture(x, validation, {.seed = 1}, weights(600), weights(300));
  const Matrix<double> places{{-4, 0}, {0, 5}, {6, 1}};
  const Vector<double> log_prob = mixture.log_prob(places);
  const MixtureBaseline plain(x, validation, {.seed = 1});
  // Three rows of four and one of four are left, of three of six and one of six.
  EXPECT_NEAR(log_prob(0) - plain.log_prob(places)(0), std::log(0.75 / 0.5), 0.2);
  EXPECT_NEAR(log_prob(1) - plain.log_prob(places)(1), std::log(0.25 / (1.0 / 6)), 0.3);
  EXPECT_LT(log_prob(2), plain.log_prob(places)(2) - 3);
  EXPECT_THROW(MixtureBaseline(x, validation, {}, -weights(600), weights(300)),
               std::invalid_argument);
}

TEST(MixtureBaseline, KeepsANanInItsRow) {
  const MixtureBaseline mixture(three_parts(100, 1), three_parts(50, 2));
  Matrix<double> x = three_parts(3, 3);
  const Vector<double> before = mixture.log_prob(x);
  x(1, 0) = std::nan("");
  const Vector<double> after = mixture.log_prob(x);
  EXPECT_EQ(after[0], before[0]);
  EXPECT_TRUE(std::isnan(after[1]));
  EXPECT_EQ(after[2], before[2]);
}

TEST(MixtureBaseline, RefusesWhatItCannotFit) {
  const Matrix<double> x = three_parts(10, 1);
  Matrix<double> broken = x;
  broken(3, 1) = std::nan("");
  const Matrix<double> none(0, 2);
  EXPECT_THROW(MixtureBaseline(none, x), std::invalid_argument);
  EXPECT_THROW(MixtureBaseline(x, none), std::invalid_argument);
  EXPECT_THROW(MixtureBaseline(Matrix<double>(10, 0), Matrix<double>(10, 0)),
               std::invalid_argument);
  EXPECT_THROW(MixtureBaseline(x, x.leftCols(1)), std::invalid_argument);
  EXPECT_THROW(MixtureBaseline(broken, x), std::invalid_argument);
  EXPECT_THROW(MixtureBaseline(x, broken), std::invalid_argument);
  EXPECT_THROW(MixtureBaseline(x, x, {.most_components = 0}), std::invalid_argument);
  EXPECT_THROW(MixtureBaseline(x, x, {.starts = 0}), std::invalid_argument);
  const MixtureBaseline mixture(x, x);
  EXPECT_THROW((void)mixture.log_prob(x.leftCols(1)), std::invalid_argument);
  EXPECT_THROW((void)mixture.sample(-1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys
