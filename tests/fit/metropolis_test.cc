// Independence Metropolis against targets that can also be drawn from directly.
#include <gtest/gtest.h>

#include <cmath>

#include "jeffreys/model/independence_metropolis.h"
#include "support/model_helpers.h"

namespace jeffreys::testing {
namespace {

SplineFlow<double> flow(Eigen::Index context = 0) {
  SplineFlow<double> made({.features = 2,
                           .context_features = context,
                           .transforms = 2,
                           .bins = 6,
                           .hidden = {8},
                           .seed = 3});
  add_parameter_noise<double>(made, 0.3, 3);
  return made;
}

// Another density that covers the flow's.
SplineFlow<double> neighbour(SplineFlow<double> of, double distance = 0.05) {
  add_parameter_noise<double>(of, distance, 4);
  return of;
}

// Statistics whose means tell densities apart.
Matrix<double> statistics(const Matrix<double>& x) {
  Matrix<double> all(x.rows(), 6);
  all.col(0) = x.col(0);
  all.col(1) = x.col(1);
  all.col(2) = x.col(0).array().square();
  all.col(3) = x.col(1).array().square();
  all.col(4) = x.col(0).array() * x.col(1).array();
  all.col(5) = (x.col(0).array() * 3).sin();
  return all;
}

// Largest difference of means, in its standard errors: 6 of them, so 4 is one in thousands.
double largest_difference(const Matrix<double>& a, const Matrix<double>& b) {
  double largest = 0;
  const Matrix<double> s = statistics(a);
  const Matrix<double> t = statistics(b);
  const auto variance_of_mean = [](const auto& column) {
    const auto rows = static_cast<double>(column.size());
    return (column.array() - column.mean()).square().sum() / rows / rows;
  };
  for (Eigen::Index k = 0; k < s.cols(); ++k) {
    const double error = std::sqrt(variance_of_mean(s.col(k)) + variance_of_mean(t.col(k)));
    largest = std::max(largest, std::abs(s.col(k).mean() - t.col(k).mean()) / error);
  }
  return largest;
}

TEST(IndependenceMetropolis, ReachesTheTarget) {
  const SplineFlow<double> target = flow();
  const SplineFlow<double> proposal = neighbour(target);
  const auto drawn =
      independence_metropolis<double>(target, proposal, 20000, Matrix<double>(), 200, {1, 2, 3});
  const Matrix<double> direct = target.sample(20000, {9, 9, 9}).x;
  EXPECT_LT(largest_difference(drawn.x, direct), 4);
  // The test can tell: the proposal is another density.
  EXPECT_GT(largest_difference(proposal.sample(20000, {9, 9, 9}).x, direct), 10);
  EXPECT_GT(drawn.acceptance_rate, 0.1);
  EXPECT_LT(drawn.acceptance_rate, 1);
  EXPECT_LT((drawn.log_unnormalized - target.log_prob(drawn.x)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(IndependenceMetropolis, ReachesConditionalTargets) {
  const SplineFlow<double> target = flow(1);
  const SplineFlow<double> proposal = neighbour(target, 0.02);
  // Conditions -1 and 1 by turns.
  Matrix<double> context(20000, 1);
  for (Eigen::Index i = 0; i < context.rows(); ++i) context(i, 0) = i % 2 == 0 ? -1 : 1;
  const auto drawn =
      independence_metropolis<double>(target, proposal, context.rows(), context, 200, {1, 2, 3});
  const Matrix<double> direct = target.sample(context.rows(), context, {9, 9, 9}).x;
  for (const Eigen::Index first : {0, 1}) {
    const auto half = [&](const Matrix<double>& x) {
      return Matrix<double>(x(Eigen::seq(first, x.rows() - 2 + first, 2), Eigen::all));
    };
    EXPECT_LT(largest_difference(half(drawn.x), half(direct)), 4);
  }
}

TEST(IndependenceMetropolis, AcceptsEverythingIfTheProposalIsTheTarget) {
  const SplineFlow<double> target = flow();
  const auto drawn =
      independence_metropolis<double>(target, target, 500, Matrix<double>(), 20, {1, 2, 3});
  EXPECT_GT(drawn.acceptance_rate, 0.9999);
}

TEST(IndependenceMetropolis, DependsOnTheStreamAlone) {
  const SplineFlow<double> target = flow();
  const SplineFlow<double> proposal = neighbour(target);
  const auto draw = [&](const RandomStream& stream) {
    return independence_metropolis<double>(target, proposal, 100, Matrix<double>(), 10, stream).x;
  };
  EXPECT_TRUE(same_bits(draw({1, 2, 3}), draw({1, 2, 3})));
  EXPECT_FALSE(same_bits(draw({1, 2, 3}), draw({2, 2, 3})));
  EXPECT_FALSE(same_bits(draw({1, 2, 3}), draw({1, 3, 3})));
  EXPECT_FALSE(same_bits(draw({1, 2, 3}), draw({1, 2, 4})));
  // Streams that differ in seed and iteration at once must not meet.
  EXPECT_FALSE(same_bits(draw({0, 2, 1}), draw({std::uint64_t{1} << 20U, 2, 0})));
}

TEST(IndependenceMetropolis, TakesNoRowsAndRefusesNoProposals) {
  const SplineFlow<double> target = flow();
  const auto none =
      independence_metropolis<double>(target, target, 0, Matrix<double>(), 5, {1, 2, 3});
  EXPECT_EQ(none.x.rows(), 0);
  EXPECT_THROW(
      (void)independence_metropolis<double>(target, target, 5, Matrix<double>(), 0, {1, 2, 3}),
      std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys::testing
