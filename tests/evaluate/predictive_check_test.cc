// Posterior predictive checks of outcomes that come from the predictive distribution, or do not.
#include "jeffreys/evaluate/predictive_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/gaussian_posterior.h"

namespace jeffreys {
namespace {

using ::testing::HasSubstr;
using testing::normals;

// Two outcomes with correlation 0.98.
Matrix<double> correlated(Eigen::Index rows, std::uint64_t seed) {
  Matrix<double> outcomes = normals(rows, 2, seed, 0);
  outcomes.col(1) = 0.98 * outcomes.col(0) + std::sqrt(1 - 0.98 * 0.98) * outcomes.col(1);
  return outcomes;
}

Vector<double> pair(double a, double b) {
  Vector<double> both(2);
  both << a, b;
  return both;
}

TEST(PredictiveCheck, CountsDrawsBeyondTheObservation) {
  Matrix<double> simulated(99, 1);
  for (int i = 0; i < 99; ++i) simulated(i, 0) = i;
  const auto tail = [&](double observed) {
    return predictive_check(Vector<double>::Constant(1, observed), simulated, {"a"})
        .outcomes[0]
        .tail_probability;
  };
  EXPECT_DOUBLE_EQ(tail(-1), 2 / 100.0);
  EXPECT_DOUBLE_EQ(tail(0), 4 / 100.0);
  EXPECT_DOUBLE_EQ(tail(95.5), 8 / 100.0);
  EXPECT_DOUBLE_EQ(tail(49), 1);
  const auto check = predictive_check(Vector<double>::Constant(1, 10), simulated, {"a"});
  EXPECT_DOUBLE_EQ(check.outcomes[0].lower, 4.9);
  EXPECT_DOUBLE_EQ(check.outcomes[0].median, 49);
  EXPECT_DOUBLE_EQ(check.outcomes[0].upper, 93.1);
  EXPECT_EQ(check.draws, 99);
}

TEST(PredictiveCheck, PValuesOfADrawAreUniform) {
  // Of 300 the share below 0.2 has the standard error 0.023.
  int distance = 0;
  int tail = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Matrix<double> rows = correlated(200, seed);
    const Vector<double> observed = rows.row(0).transpose();
    const auto check = predictive_check(observed, rows.bottomRows(199), {"a", "b"});
    distance += check.distance_p_value <= 0.2 ? 1 : 0;
    tail += check.outcomes[1].tail_probability <= 0.2 ? 1 : 0;
  }
  EXPECT_NEAR(distance / 300.0, 0.2, 4 * 0.023);
  EXPECT_NEAR(tail / 300.0, 0.2, 4 * 0.023);
}

TEST(PredictiveCheck, NamesTheOutcomeThatIsFarOut) {
  const Vector<double> observed = pair(0.1, 5);
  const auto check = predictive_check(observed, normals(2000, 2, 1, 0), {"a", "b"});
  EXPECT_FALSE(check.consistent);
  EXPECT_THAT(check.verdict, HasSubstr("does not explain the observed b (p = "));
  EXPECT_THAT(check.verdict, HasSubstr("Holm"));
  EXPECT_DOUBLE_EQ(check.outcomes[1].p_value, 2 * 2 / 2001.0);
}

TEST(PredictiveCheck, FindsWhatIsOddInTwoOutcomesTogether) {
  const Vector<double> odd = pair(1, -1);
  const auto check = predictive_check(odd, correlated(2000, 1), {"a", "b"});
  EXPECT_GT(check.outcomes[0].p_value, 0.2);
  EXPECT_GT(check.outcomes[1].p_value, 0.2);
  EXPECT_NEAR(check.distance_p_value, 1 / 2001.0, 1e-12);
  EXPECT_FALSE(check.consistent);
  EXPECT_THAT(check.verdict, HasSubstr("each observed outcome but not all together"));
  const Vector<double> even = pair(1, 1);
  const auto good = predictive_check(even, correlated(2000, 1), {"a", "b"});
  EXPECT_TRUE(good.consistent);
  EXPECT_THAT(good.verdict, HasSubstr("the posterior explains the observed outcomes"));
}

TEST(PredictiveCheck, WorksWithMoreOutcomesThanDrawsAndConstantOnes) {
  Matrix<double> simulated = normals(30, 50, 1, 0);
  simulated.col(7).setConstant(3);
  Vector<double> observed = Vector<double>::Zero(50);
  observed[7] = 3;
  const std::vector<std::string> names(50, "x");
  const auto check = predictive_check(observed, simulated, names);
  EXPECT_TRUE(check.consistent);
  EXPECT_EQ(check.outcomes[7].tail_probability, 1);
  EXPECT_THAT(check.verdict, HasSubstr("too few draws"));
  EXPECT_THAT(check.verdict, HasSubstr("more than 10000"));
  observed *= 4;
  observed.array() += 4;
  const auto far = predictive_check(observed, simulated, names, 0.05);
  EXPECT_NEAR(far.distance_p_value, 1 / 31.0, 1e-12);
}

TEST(PredictiveCheck, LeavesOutDrawsThatFailed) {
  Matrix<double> simulated = normals(100, 2, 1, 0);
  simulated(3, 1) = std::nan("");
  simulated(4, 0) = std::numeric_limits<double>::infinity();
  const auto check = predictive_check(Vector<double>::Zero(2), simulated, {"a", "b"});
  EXPECT_EQ(check.draws, 98);
  EXPECT_EQ(check.draws_missing, 2);
  EXPECT_TRUE(std::isfinite(check.distance));
}

TEST(PredictiveCheck, RefusesBadArguments) {
  const Matrix<double> simulated = normals(30, 2, 1, 0);
  const Vector<double> observed = Vector<double>::Zero(2);
  EXPECT_THROW((void)predictive_check(observed, simulated.leftCols(1), {"a", "b"}),
               std::invalid_argument);
  EXPECT_THROW((void)predictive_check(observed, simulated, {"a"}), std::invalid_argument);
  EXPECT_THROW((void)predictive_check(observed, simulated.topRows(19), {"a", "b"}),
               std::invalid_argument);
  EXPECT_THROW((void)predictive_check(observed, simulated, {"a", "b"}, 0), std::invalid_argument);
  const Vector<double> missing = pair(0, std::nan(""));
  try {
    (void)predictive_check(missing, simulated, {"a", "b"});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("for 'b'"));
  }
}

}  // namespace
}  // namespace jeffreys
