// The classifier two-sample test against accuracies that are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xgboost/c_api.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "evaluate/boosted_trees.h"
#include "jeffreys/evaluate/two_sample_test.h"
#include "support/model_helpers.h"

namespace jeffreys {
namespace {

using ::testing::HasSubstr;
using testing::normals;
using ::testing::Not;

Matrix<double> shifted(Eigen::Index rows, double shift, std::uint64_t seed) {
  Matrix<double> x = normals(rows, 2, seed);
  x.col(0).array() += shift;
  return x;
}

TEST(TwoSampleTest, CannotTellADistributionFromItself) {
  const TwoSampleResult result =
      classifier_two_sample_test(normals(5000, 2, 1), normals(5000, 2, 2));
  EXPECT_EQ(result.test_rows, 3000u);
  EXPECT_NEAR(result.standard_error, 0.5 / std::sqrt(3000.0), 1e-4);
  EXPECT_NEAR(result.accuracy, 0.5, 3 * result.standard_error);
}

TEST(TwoSampleTest, ComesNearTheBestPossibleAccuracy) {
  // Two Gaussians at distance 2: no classifier expects more than Phi(1) = 0.8413. Trees lose some.
  const TwoSampleResult result =
      classifier_two_sample_test(normals(5000, 2, 1), shifted(5000, 2, 2));
  EXPECT_LT(result.accuracy, 0.8413 + 3 * result.standard_error);
  EXPECT_GT(result.accuracy, 0.8413 - 0.02 - 3 * result.standard_error);
}

TEST(TwoSampleTest, TellsApartWhatDiffersOnlyTogether) {
  // Both columns are standard normal in either sample, but in the first they are equal in sign.
  Matrix<double> exact = normals(3000, 2, 1);
  exact.col(1) = exact.col(0).array().sign() * exact.col(1).array().abs();
  const TwoSampleResult result = classifier_two_sample_test(exact, normals(3000, 2, 2));
  // The best is 3/4, with a standard error of 0.01.
  EXPECT_NEAR(result.accuracy, 0.75, 0.02 + 3 * result.standard_error);
}

TEST(TwoSampleTest, AlwaysTellsDisjointSamples) {
  EXPECT_GT(classifier_two_sample_test(normals(500, 2, 1), shifted(500, 20, 2)).accuracy, 0.995);
}

TEST(TwoSampleTest, DependsOnTheArgumentsAlone) {
  const Matrix<double> exact = normals(400, 3, 1);
  const Matrix<double> model = normals(400, 3, 2);
  const TwoSampleResult once = classifier_two_sample_test(exact, model, {.seed = 4});
  EXPECT_EQ(once.accuracy, classifier_two_sample_test(exact, model, {.seed = 4}).accuracy);
  EXPECT_NE(once.accuracy, classifier_two_sample_test(exact, model, {.seed = 5}).accuracy);
}

TEST(TwoSampleTest, DoesNotLoseTheDifferenceInLargeNumbers) {
  // In float all of these would be equal.
  const Matrix<double> exact = normals(2000, 2, 1).array() + 1e9;
  const Matrix<double> model = shifted(2000, 2, 2).array() + 1e9;
  EXPECT_GT(classifier_two_sample_test(exact, model).accuracy, 0.78);
}

TEST(TwoSampleTest, SeesMissingAndInfiniteValues) {
  const Matrix<double> exact = normals(300, 2, 1);
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  for (const double value : {std::nan(""), kEndless, -kEndless}) {
    Matrix<double> model = normals(300, 2, 2);
    model.col(1).setConstant(value);
    EXPECT_EQ(classifier_two_sample_test(exact, model).accuracy, 1) << value;
  }
}

TEST(TwoSampleTest, LearnsFromFewDifferentValues) {
  // Bernoulli(0.5) against Bernoulli(0.8): the best accuracy is 0.65, standard error 0.014.
  const auto coin = [](double threshold, std::uint64_t seed) -> Matrix<double> {
    return (normals(2000, 1, seed).array() < threshold).cast<double>();
  };
  const TwoSampleResult result = classifier_two_sample_test(coin(0, 1), coin(0.8416, 2));
  EXPECT_NEAR(result.accuracy, 0.65, 4 * result.standard_error);
}

TEST(TwoSampleTest, SaysWhatItIs) {
  const TwoSampleResult result = classifier_two_sample_test(normals(50, 1, 1), normals(50, 1, 2));
  EXPECT_THAT(result.definition, HasSubstr("C2ST: accuracy on a random 0.3 of 2 x 50 rows"));
  EXPECT_THAT(result.definition, HasSubstr("XGBoost"));
  EXPECT_THAT(result.definition, HasSubstr("HistGradientBoostingClassifier"));
}

TEST(TwoSampleTest, NeverPrintsAndLeavesTheCallersVerbosity) {
  ASSERT_EQ(XGBSetGlobalConfig(R"({"verbosity": 3})"), 0);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  (void)classifier_two_sample_test(normals(50, 2, 1), normals(50, 2, 2));
  const std::string out = ::testing::internal::GetCapturedStdout();
  const std::string err = ::testing::internal::GetCapturedStderr();
  const char* config = nullptr;
  ASSERT_EQ(XGBGetGlobalConfig(&config), 0);
  EXPECT_THAT(config, HasSubstr(R"("verbosity":3)"));
  ASSERT_EQ(XGBSetGlobalConfig(R"({"verbosity": 1})"), 0);
  EXPECT_EQ(out, "");
  EXPECT_EQ(err, "");
}

TEST(TwoSampleTest, TakesColumnsWithoutInformation) {
  Matrix<double> x = Matrix<double>::Constant(10, 2, 1.0);
  x.col(1).setConstant(std::nan(""));
  EXPECT_LT(classifier_two_sample_test(x, x).accuracy, 1);
}

TEST(TwoSampleTest, PassesOnWhatXgboostSays) {
  const Matrix<float> x = Matrix<float>::Zero(4, 1);
  try {
    (void)boosted_tree_probabilities(x, {0, 0, 0, 2}, x);
    FAIL() << "labels other than 0 and 1 were taken";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("XGBoost: "));
    EXPECT_THAT(error.what(), HasSubstr("label"));
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
  }
}

TEST(TwoSampleTest, RefusesUnequalSamples) {
  const Matrix<double> x = normals(20, 2, 1);
  EXPECT_THROW((void)classifier_two_sample_test(x, x.topRows(19)), std::invalid_argument);
  EXPECT_THROW((void)classifier_two_sample_test(x, x.leftCols(1)), std::invalid_argument);
  EXPECT_THROW((void)classifier_two_sample_test(Matrix<double>(0, 2), Matrix<double>(0, 2)),
               std::invalid_argument);
  EXPECT_THROW((void)classifier_two_sample_test(x.topRows(1), x.topRows(1)), std::invalid_argument);
  EXPECT_THROW((void)classifier_two_sample_test(Matrix<double>(5, 0), Matrix<double>(5, 0)),
               std::invalid_argument);
  for (const double share : {0.0, 1.0, std::nan("")}) {
    EXPECT_THROW((void)classifier_two_sample_test(x, x, {.test_share = share}),
                 std::invalid_argument);
  }
}

}  // namespace
}  // namespace jeffreys
