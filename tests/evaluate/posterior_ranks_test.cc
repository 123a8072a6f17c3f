// Ranks of true parameters against counts by hand.
#include "jeffreys/evaluate/posterior_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/gaussian_posterior.h"
#include "support/not_finite.h"

namespace jeffreys {
namespace {

using ::testing::HasSubstr;

// Ten true parameters 0, 1, ..., 9.
Matrix<double> ten() {
  Matrix<double> parameters(10, 1);
  for (int i = 0; i < 10; ++i) parameters(i, 0) = i;
  return parameters;
}

PosteriorDraws four(double a, double b, double c, double d) {
  PosteriorDraws draws{.samples = Matrix<double>(4, 1), .sample_log_prob = Vector<double>(4)};
  draws.samples << a, b, c, d;
  draws.sample_log_prob << -1, -2, -3, -4;
  draws.parameter_log_prob = -2.5;
  return draws;
}

std::string problem_of(const std::function<PosteriorDraws(Eigen::Index)>& draw) {
  try {
    (void)rank_posteriors(ten(), draw);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(PosteriorRanks, CountSmallerValuesAndHigherDensities) {
  const PosteriorRanks ranks = rank_posteriors(ten(), [](Eigen::Index i) {
    PosteriorDraws draws = four(-1, 2.5, 4.5, 20);
    if (i == 3) draws.parameter_log_prob = -kInfinity;
    if (i == 4) draws.parameter_log_prob = 0;
    return draws;
  });
  EXPECT_EQ(ranks.samples, 4);
  ASSERT_EQ(ranks.parameter.rows(), 10);
  const std::vector<int> smaller = {1, 1, 1, 2, 2, 3, 3, 3, 3, 3};
  for (Eigen::Index i = 0; i < 10; ++i) {
    EXPECT_EQ(ranks.parameter(i, 0), smaller[static_cast<std::size_t>(i)]) << i;
  }
  EXPECT_EQ(ranks.density, (std::vector<int>{2, 2, 2, 4, 0, 2, 2, 2, 2, 2}));
}

TEST(PosteriorRanks, CountSamplesNearerToAPointInTheBox) {
  // All points lie in 0 ... 9: samples far outside are further away than the truth, samples between
  // truth and point nearer. The truths at both ends have every point on one side.
  const PosteriorRanks far =
      rank_posteriors(ten(), [](Eigen::Index) { return four(-99, -98, 98, 99); });
  for (const int rank : far.distance) EXPECT_EQ(rank, 0);
  const PosteriorRanks inner = rank_posteriors(
      ten(), [](Eigen::Index i) { return i == 0 ? four(1e-9, 1e-9, -50, 50) : four(0, 9, 0, 9); });
  EXPECT_EQ(inner.distance[0], 2);
}

TEST(PosteriorRanks, DistancesDoNotDependOnUnits) {
  const Matrix<double> truth = testing::normals(50, 2, 1, 0);
  const auto ranks_in = [&](double unit) {
    Matrix<double> scaled = truth;
    scaled.col(1) *= unit;
    return rank_posteriors(scaled, [&](Eigen::Index i) {
      PosteriorDraws draws{.samples = testing::normals(30, 2, 1, 1, static_cast<std::uint64_t>(i)),
                           .sample_log_prob = Vector<double>::Zero(30)};
      draws.samples.col(1) *= unit;
      return draws;
    });
  };
  EXPECT_EQ(ranks_in(1).distance, ranks_in(1024).distance);
}

TEST(PosteriorRanks, TiesHaveEveryPlace) {
  const Matrix<double> truth = testing::normals(500, 1, 1, 0);
  const auto tied = [&](Eigen::Index i) {
    return PosteriorDraws{.samples = Matrix<double>::Constant(4, 1, truth(i, 0)),
                          .sample_log_prob = Vector<double>::Zero(4),
                          .parameter_log_prob = 0};
  };
  const PosteriorRanks ranks = rank_posteriors(truth, tied, 7);
  // Each of 5 places has 100 of 500, with the standard error 9.
  const auto times = [](const std::vector<int>& all, int place) {
    return static_cast<double>(std::count(all.begin(), all.end(), place));
  };
  for (int place = 0; place <= 4; ++place) {
    EXPECT_NEAR(static_cast<double>((ranks.parameter.array() == place).count()), 100, 36);
    EXPECT_NEAR(times(ranks.density, place), 100, 36);
    EXPECT_NEAR(times(ranks.distance, place), 100, 36);
  }
  EXPECT_EQ(ranks.density, rank_posteriors(truth, tied, 7).density);
  EXPECT_NE(ranks.density, rank_posteriors(truth, tied, 8).density);
}

TEST(PosteriorRanks, NameTheSimulationWhoseDrawsAreWrong) {
  const auto spoil = [](const std::function<void(PosteriorDraws&)>& change) {
    return problem_of([&](Eigen::Index i) {
      PosteriorDraws draws = four(1, 2, 3, 4);
      if (i == 6) change(draws);
      return draws;
    });
  };
  const double nan = std::nan("");
  EXPECT_THAT(spoil([&](auto& d) { d.samples(1, 0) = nan; }), HasSubstr("simulation 6"));
  EXPECT_THAT(spoil([&](auto& d) { d.sample_log_prob[0] = nan; }), HasSubstr("log densities"));
  EXPECT_THAT(spoil([&](auto& d) { d.parameter_log_prob = nan; }), HasSubstr("log densities"));
  EXPECT_THAT(spoil([](auto& d) { d.samples.resize(3, 1); }),
              HasSubstr("expected samples of shape 4 x 1, got 3 x 1"));
  EXPECT_THAT(spoil([](auto& d) { d.sample_log_prob.resize(3); }),
              HasSubstr("expected 4 log densities"));
  EXPECT_EQ(spoil([](auto&) {}), "nothing thrown");
}

TEST(PosteriorRanks, RefuseParametersThatAreNoPriorDraws) {
  const auto draw = [](Eigen::Index) { return four(1, 2, 3, 4); };
  EXPECT_THROW((void)rank_posteriors(ten().topRows(9), draw), std::invalid_argument);
  EXPECT_THROW((void)rank_posteriors(Matrix<double>::Ones(20, 1), draw), std::invalid_argument);
  EXPECT_THROW((void)rank_posteriors(Matrix<double>(20, 0), draw), std::invalid_argument);
  Matrix<double> infinite = ten();
  infinite(0, 0) = kInfinity;
  EXPECT_THROW((void)rank_posteriors(infinite, draw), std::invalid_argument);
  const auto none = [](Eigen::Index) { return PosteriorDraws{.samples = Matrix<double>(0, 1)}; };
  EXPECT_THROW((void)rank_posteriors(ten(), none), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys
