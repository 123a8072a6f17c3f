// sbibm's classifier two-sample test against accuracies that are known, and its network's gradient.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/shuffle.h"
#include "evaluate/classifier_network.h"
#include "jeffreys/evaluate/neural_two_sample_test.h"
#include "support/model_helpers.h"

namespace jeffreys {
namespace {

using ::testing::HasSubstr;
using testing::normals;
using testing::same_bits;

Matrix<double> shifted(Eigen::Index rows, Eigen::Index columns, double shift, std::uint64_t seed) {
  Matrix<double> x = normals(rows, columns, seed);
  x.col(0).array() += shift;
  return x;
}

std::vector<std::size_t> all_rows(const Matrix<float>& x) {
  std::vector<std::size_t> rows(static_cast<std::size_t>(x.rows()));
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

TEST(NeuralTwoSampleTest, CannotTellADistributionFromItself) {
  const NeuralTwoSampleResult result =
      neural_two_sample_test(normals(2000, 2, 1), normals(2000, 2, 2));
  // The binomial standard error of 4000 rows is 0.0079; that of the folds may be larger.
  EXPECT_GT(result.standard_error, 0.0078);
  EXPECT_LT(result.standard_error, 0.02);
  EXPECT_NEAR(result.accuracy, 0.5, 3 * result.standard_error);
}

TEST(NeuralTwoSampleTest, ReachesTheBestPossibleAccuracy) {
  // Two Gaussians at distance d: no classifier expects more than Phi(d / 2). With 6000 rows the
  // standard error is at least 0.0047, and the network loses less than 0.01.
  for (const double distance : {1.0, 2.0}) {
    const NeuralTwoSampleResult result =
        neural_two_sample_test(normals(3000, 2, 1), shifted(3000, 2, distance, 2));
    const double best = 0.5 * std::erfc(-distance / 2 * std::sqrt(0.5));
    EXPECT_LT(result.accuracy, best + 3 * result.standard_error);
    EXPECT_GT(result.accuracy, best - 0.01 - 3 * result.standard_error);
  }
}

TEST(NeuralTwoSampleTest, TellsApartWhatDiffersOnlyTogether) {
  // Both columns are standard normal in either sample, but in the first they are equal in sign. The
  // best is 3/4, with a standard error of 0.007; the network blurs the quadrants' edges.
  Matrix<double> exact = normals(2000, 2, 1);
  exact.col(1) = exact.col(0).array().sign() * exact.col(1).array().abs();
  const NeuralTwoSampleResult result = neural_two_sample_test(exact, normals(2000, 2, 2));
  EXPECT_NEAR(result.accuracy, 0.75, 0.02 + 3 * result.standard_error);
}

TEST(NeuralTwoSampleTest, AlwaysTellsDisjointSamples) {
  const NeuralTwoSampleResult result =
      neural_two_sample_test(normals(500, 3, 1), shifted(500, 3, 20, 2));
  EXPECT_GT(result.accuracy, 0.998);
}

TEST(NeuralTwoSampleTest, DoesNotDependOnUnits) {
  // Powers of two scale without rounding, so the networks see the same bits.
  const Matrix<double> exact = normals(300, 2, 1);
  const Matrix<double> model = shifted(300, 2, 1, 2);
  EXPECT_EQ(neural_two_sample_test(exact, model).fold_accuracies,
            neural_two_sample_test(exact * 1024, model * 1024).fold_accuracies);
}

TEST(NeuralTwoSampleTest, DoesNotLoseTheDifferenceInLargeNumbers) {
  // In float all of these would be equal.
  const Matrix<double> exact = normals(1000, 2, 1).array() + 1e9;
  const Matrix<double> model = shifted(1000, 2, 2, 2).array() + 1e9;
  EXPECT_GT(neural_two_sample_test(exact, model).accuracy, 0.8);
}

TEST(NeuralTwoSampleTest, BearsValuesFarAwayAndColumnsThatDoNotVary) {
  Matrix<double> exact = normals(300, 2, 1);
  exact.col(1).setConstant(3);
  Matrix<double> model = shifted(300, 2, 2, 2);
  model.col(1).setConstant(3);
  const double near = neural_two_sample_test(exact, model).accuracy;
  EXPECT_NEAR(near, 0.8413, 0.06);  // four standard errors of 0.015
  model.col(0).setConstant(1e300);
  EXPECT_EQ(neural_two_sample_test(exact, model).accuracy, 1);
}

TEST(NeuralTwoSampleTest, DependsOnTheArgumentsAlone) {
  const Matrix<double> exact = normals(203, 3, 1);
  const Matrix<double> model = normals(203, 3, 2);
  const auto folds = [&](std::uint64_t seed) {
    return neural_two_sample_test(exact, model, {.max_epochs = 100, .seed = seed}).fold_accuracies;
  };
  EXPECT_EQ(folds(4), folds(4));
  EXPECT_NE(folds(4), folds(5));
}

TEST(NeuralTwoSampleTest, AveragesItsFolds) {
  const NeuralTwoSampleResult result =
      neural_two_sample_test(normals(50, 1, 1), normals(50, 1, 2), {.folds = 3, .max_epochs = 7});
  ASSERT_EQ(result.fold_accuracies.size(), 3u);
  EXPECT_EQ(result.most_epochs, 7u);
  const std::vector<double>& folds = result.fold_accuracies;
  EXPECT_NEAR(result.accuracy, (folds[0] + folds[1] + folds[2]) / 3, 1e-12);
  // 100 rows in folds of 34, 33 and 33: every accuracy is a whole number of rows.
  EXPECT_NEAR(folds[0] * 34, std::round(folds[0] * 34), 1e-9);
  EXPECT_NEAR(folds[2] * 33, std::round(folds[2] * 33), 1e-9);
}

TEST(NeuralTwoSampleTest, SaysWhatItIs) {
  const NeuralTwoSampleResult result =
      neural_two_sample_test(normals(20, 2, 1), normals(20, 2, 2), {.max_epochs = 1});
  EXPECT_THAT(result.definition, HasSubstr("sbibm"));
  EXPECT_THAT(result.definition, HasSubstr("5-fold cross-validation on 2 x 20 rows"));
  EXPECT_THAT(result.definition, HasSubstr("2 x 20 ReLU units"));
}

TEST(NeuralTwoSampleTest, RefusesSamplesThatItCannotCompare) {
  const auto message = [](const Matrix<double>& exact, const Matrix<double>& model) -> std::string {
    try {
      (void)neural_two_sample_test(exact, model, {.max_epochs = 1});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  const Matrix<double> x = normals(20, 2, 1);
  EXPECT_THAT(message(x, x.topRows(19)), HasSubstr("model: expected 20 rows"));
  EXPECT_THAT(message(x, x.leftCols(1)), HasSubstr("model: expected 2 columns, got 1"));
  EXPECT_THAT(message(x.topRows(4), x.topRows(4)), HasSubstr("expected at least 5, got 4"));
  EXPECT_THAT(message(Matrix<double>(9, 0), Matrix<double>(9, 0)), HasSubstr("columns of exact"));
  Matrix<double> bad = x;
  bad(3, 1) = std::nan("");
  EXPECT_THAT(message(bad, x), HasSubstr("exact: expected finite values"));
  bad(3, 1) = std::numeric_limits<double>::infinity();
  EXPECT_THAT(message(x, bad), HasSubstr("model: expected finite values"));
  EXPECT_THAT(message(x * 1e200, x), HasSubstr("exact: expected values with finite squares"));
}

TEST(NeuralTwoSampleTest, RefusesOptionsWithoutMeaning) {
  EXPECT_THROW((NeuralTwoSampleOptions{.folds = 1}.validate()), std::invalid_argument);
  EXPECT_THROW((NeuralTwoSampleOptions{.folds = 1001}.validate()), std::invalid_argument);
  EXPECT_THROW((NeuralTwoSampleOptions{.max_epochs = 0}.validate()), std::invalid_argument);
}

// The loss in double, by plain matrix products: layers of parameters [(inputs + 1) * outputs].
double reference_loss(const std::vector<double>& parameters, const Matrix<double>& x,
                      const std::vector<float>& sign, Eigen::Index width) {
  Matrix<double> values = x;
  const double* at = parameters.data();
  double squares = 0;
  for (const Eigen::Index outputs : {width, width, Eigen::Index{1}}) {
    const Eigen::Map<const Matrix<double>> weights(at, outputs, values.cols());
    const Eigen::Map<const Eigen::RowVectorXd> biases(at + weights.size(), outputs);
    squares += weights.squaredNorm();
    values = Matrix<double>((values * weights.transpose()).rowwise() + biases);
    if (outputs > 1) values = values.cwiseMax(0).eval();
    at += weights.size() + outputs;
  }
  double loss = 1e-4 / 2 * squares;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const auto s = static_cast<double>(sign[static_cast<std::size_t>(i)]);
    loss += std::log1p(std::exp(-s * values(i, 0)));
  }
  return loss;
}

TEST(ClassifierNetworkTest, HasTheGradientOfItsLossBeforeAndAfterTraining) {
  constexpr Eigen::Index kWidth = 30;
  const Matrix<float> x = shifted(150, 3, 0.5, 1).cast<float>();  // ends within a tile
  std::vector<float> sign(150);
  for (std::size_t i = 0; i < sign.size(); ++i) sign[i] = i % 3 == 0 ? 1.0F : -1.0F;
  ClassifierNetwork network(3, kWidth, 1, 0);
  std::vector<float> gradient(network.parameters().size());
  for (const std::size_t epochs : {std::size_t{0}, std::size_t{20}}) {
    EXPECT_EQ(network.train({x, sign}, all_rows(x), epochs), epochs);
    const double loss = network.loss({x, sign}, all_rows(x), gradient);
    std::vector<double> parameters(network.parameters().begin(), network.parameters().end());
    const Matrix<double> rows = x.cast<double>();
    EXPECT_NEAR(loss, reference_loss(parameters, rows, sign, kWidth), 1e-5 * loss);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      constexpr double kShift = 1e-6;
      const double kept = parameters[i];
      parameters[i] = kept + kShift;
      const double above = reference_loss(parameters, rows, sign, kWidth);
      parameters[i] = kept - kShift;
      const double below = reference_loss(parameters, rows, sign, kWidth);
      parameters[i] = kept;
      EXPECT_NEAR(static_cast<double>(gradient[i]), (above - below) / (2 * kShift), 1e-4) << i;
    }
  }
}

TEST(ClassifierNetworkTest, ShrinksWeightsButNotBiases) {
  // Where all rows are 0, the first weights have no other slope than the penalty's.
  const Matrix<float> x = Matrix<float>::Zero(10, 2);
  const std::vector<float> sign(10, 1.0F);
  const ClassifierNetwork network(2, 20, 1, 0);
  std::vector<float> gradient(network.parameters().size());
  (void)network.loss({x, sign}, all_rows(x), gradient);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(gradient[i], 1e-4F * network.parameters()[i]);
  // A unit that is off at 0 is so for every row: its bias has no slope at all.
  for (std::size_t i = 40; i < 60; ++i) {
    if (network.parameters()[i] < 0) {
      EXPECT_EQ(gradient[i], 0) << i;
    }
  }
}

TEST(ClassifierNetworkTest, StartsWithinGlorotsBounds) {
  const ClassifierNetwork network(2, 20, 1, 0);
  const auto first = network.parameters().first(60);  // weights and biases of the first layer
  const float bound = std::sqrt(6.0F / 22);
  const auto [least, most] = std::minmax_element(first.begin(), first.end());
  EXPECT_GE(*least, -bound);
  EXPECT_LE(*most, bound);
  // Among 60 numbers none beyond 0.9 of the bound has probability 0.95^60 = 0.05 for each side.
  EXPECT_LT(*least, -0.9F * bound);
  EXPECT_GT(*most, 0.9F * bound);
  EXPECT_FALSE(same_bits(network.parameters(), ClassifierNetwork(2, 20, 1, 1).parameters()));
}

TEST(ClassifierNetworkTest, StopsWhenTheLossNoLongerFalls) {
  // All rows are the same: nothing to learn but that both kinds are as frequent, ln 2 for each row.
  const Matrix<float> x = Matrix<float>::Zero(200, 1);
  std::vector<float> sign(200);
  for (std::size_t i = 0; i < sign.size(); ++i) sign[i] = i < 100 ? 1.0F : -1.0F;
  ClassifierNetwork network(1, 10, 1, 0);
  EXPECT_LT(network.train({x, sign}, all_rows(x), 10000), 1000u);
  std::vector<float> gradient(network.parameters().size());
  EXPECT_NEAR(network.loss({x, sign}, all_rows(x), gradient) / 200, std::log(2.0), 1e-3);
  // From there on the first epoch is the best, and eleven more without gain are too many.
  EXPECT_EQ(network.train({x, sign}, all_rows(x), 10000), 12u);
}

TEST(ClassifierNetworkTest, ShufflesEveryElementOnce) {
  std::vector<std::size_t> order(1000);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::vector<std::size_t> sorted = order;
  shuffle(order, {.seed = 3, .purpose = 1, .iteration = 0});
  EXPECT_NE(order, sorted);
  EXPECT_THAT(order, ::testing::UnorderedElementsAreArray(sorted));
}

}  // namespace
}  // namespace jeffreys
