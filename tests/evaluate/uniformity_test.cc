// Tails against scipy.stats (chi2.sf, kstwo.sf, binom.ppf), and tests of uniformity on ranks whose
// distribution is known.
#include "jeffreys/evaluate/uniformity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "kernels/random.h"

namespace jeffreys {
namespace {

std::vector<int> uniform_ranks(std::size_t n, int most, std::uint64_t seed) {
  std::vector<double> uniform(n);
  kernels::fill_uniforms(kernels::RandomArguments<double>{{seed, 0, 0}, 0, n, 1, uniform.data()});
  std::vector<int> ranks;
  for (const double u : uniform) ranks.push_back(static_cast<int>(u * (most + 1)));
  return ranks;
}

TEST(Uniformity, ChiSquareTailsAreThoseOfScipy) {
  struct Entry {
    double value;
    std::size_t degrees;
    double tail;
  };
  for (const auto& [value, degrees, tail] :
       {Entry{3.84, 1, 0.05004352124870519}, Entry{1, 1, 0.31731050786291115},
        Entry{0.01, 2, 0.9950124791926823}, Entry{5.99, 2, 0.05003662708658629},
        Entry{7.81, 3, 0.05010605635000589}, Entry{18.3, 10, 0.050109061411462506},
        Entry{30, 9, 0.00043872177097947936}, Entry{45, 49, 0.6359803139552492},
        Entry{80, 49, 0.0034012114117295514}, Entry{1000, 20, 3.9047966391213445e-199},
        Entry{0, 4, 1}}) {
    EXPECT_NEAR(chi_square_tail(value, degrees), tail, 1e-12 * tail) << value << " " << degrees;
  }
  EXPECT_EQ(chi_square_tail(std::numeric_limits<double>::infinity(), 3), 0);
  EXPECT_THROW((void)chi_square_tail(1, 0), std::invalid_argument);
}

TEST(Uniformity, KolmogorovSmirnovTailsAreThoseOfScipy) {
  struct Entry {
    double distance;
    std::size_t n;
    double tail;
    double tolerance;  // as the header states it
  };
  for (const auto& [distance, n, tail, tolerance] :
       {Entry{0.3, 10, 0.27053557479999946, 3e-3}, Entry{0.409, 10, 0.05022340810547454, 3e-3},
        Entry{0.1, 20, 0.976255094592155, 6e-4}, Entry{0.1, 50, 0.6623112704658186, 3e-4},
        Entry{0.1358, 100, 0.04535980273361331, 2e-4}, Entry{0.2, 100, 0.0005551927327988775, 5e-5},
        Entry{0.03, 1000, 0.3226902143914636, 3e-5},
        Entry{0.0515, 1000, 0.009583989157047923, 3e-5},
        Entry{0.005, 100000, 0.013430824977799608, 1e-6}}) {
    EXPECT_NEAR(kolmogorov_smirnov_tail(distance, n), tail, tolerance) << distance << " " << n;
  }
  EXPECT_EQ(kolmogorov_smirnov_tail(0, 50), 1);
  EXPECT_NEAR(kolmogorov_smirnov_tail(1, 50), 0, 1e-12);
  EXPECT_THROW((void)kolmogorov_smirnov_tail(0.1, 0), std::invalid_argument);
}

TEST(Uniformity, KolmogorovsTwoSeriesMeet) {
  // n = 10^12 leaves the limit alone, which switches series at z = 1.
  const std::size_t n = 1'000'000'000'000;
  EXPECT_NEAR(kolmogorov_smirnov_tail(0.9999999e-6, n), kolmogorov_smirnov_tail(1.0000001e-6, n),
              1e-6);
}

TEST(Uniformity, DistancesInvertTails) {
  for (const double tail : {0.9, 0.05, 0.01, 1e-6}) {
    for (const std::size_t n : {10U, 200U, 5000U}) {
      const double distance = kolmogorov_smirnov_distance(tail, n);
      EXPECT_NEAR(kolmogorov_smirnov_tail(distance, n), tail, 1e-9 * tail) << tail << " " << n;
    }
  }
  for (const double tail : {0.0, 1.0, std::nan("")}) {
    EXPECT_THROW((void)kolmogorov_smirnov_distance(tail, 10), std::invalid_argument);
  }
}

TEST(Uniformity, HolmStepsDown) {
  // By hand: 4 * 0.005, 3 * 0.011, 2 * 0.02, then 0.04 stays at the largest so far.
  const std::vector<double> corrected =
      holm_correction(std::vector<double>{0.02, 0.005, 0.04, 0.011});
  EXPECT_DOUBLE_EQ(corrected[1], 0.02);
  EXPECT_DOUBLE_EQ(corrected[3], 0.033);
  EXPECT_DOUBLE_EQ(corrected[0], 0.04);
  EXPECT_DOUBLE_EQ(corrected[2], 0.04);
  EXPECT_EQ(holm_correction(std::vector<double>{0.7, 0.6}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm_correction({}).empty());
}

TEST(Uniformity, BinsHoldAllRanksWithExactExpectations) {
  // 1001 ranks do not divide into 31 bins.
  std::vector<int> every(1001);
  std::iota(every.begin(), every.end(), 0);
  const UniformityTest test = uniformity_test(every, 1000);
  ASSERT_EQ(test.bins.size(), 31U);  // 2 * 1001^0.4 = 31.7
  for (const RankBin& bin : test.bins) EXPECT_NEAR(bin.count, bin.expected, 1e-9);
  EXPECT_NEAR(test.chi_square, 0, 1e-9);
  EXPECT_EQ(test.chi_square_p_value, 1);
  EXPECT_LT(test.distance, 2.0 / 1001);
}

TEST(Uniformity, BandsAreThoseOfTheBinomial) {
  const UniformityTest ten = uniformity_test(uniform_ranks(100, 9, 1), 9);
  ASSERT_EQ(ten.bins.size(), 10U);  // as many as ranks
  EXPECT_EQ(ten.bins[0].lower, 3);
  EXPECT_EQ(ten.bins[0].upper, 18);
  const UniformityTest two = uniformity_test(uniform_ranks(20, 1, 1), 1);
  ASSERT_EQ(two.bins.size(), 2U);
  EXPECT_EQ(two.bins[1].lower, 4);
  EXPECT_EQ(two.bins[1].upper, 16);
  // So many that the probability of a count of 0 is no double.
  const UniformityTest many = uniformity_test(uniform_ranks(50000, 1, 1), 1);
  EXPECT_NEAR(many.bins[0].lower, 25000 - 2.576 * 111.8, 2);
  EXPECT_NEAR(many.bins[0].upper, 25000 + 2.576 * 111.8, 2);
}

TEST(Uniformity, PValuesOfUniformRanksAreUniform) {
  // 400 tests: the share of p-values below 0.1 has the standard error 0.015.
  int chi_square = 0;
  int distance = 0;
  int both = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const UniformityTest test = uniformity_test(uniform_ranks(150, 6, seed), 6, seed);
    chi_square += test.chi_square_p_value < 0.1 ? 1 : 0;
    distance += test.distance_p_value < 0.1 ? 1 : 0;
    both += test.p_value < 0.1 ? 1 : 0;
  }
  EXPECT_NEAR(chi_square / 400.0, 0.1, 0.045);
  EXPECT_NEAR(distance / 400.0, 0.1, 0.045);
  EXPECT_LT(both / 400.0, 0.145);
}

TEST(Uniformity, ScoresNameTheShape) {
  const std::vector<int> uniform = uniform_ranks(400, 99, 3);
  std::vector<int> leaning;
  std::vector<int> avoiding;
  std::vector<int> seeking;
  for (const int rank : uniform) {
    leaning.push_back(std::min(99, rank + 10));
    avoiding.push_back(rank < 50 ? rank * 4 / 5 : 99 - (99 - rank) * 4 / 5);
    seeking.push_back(20 + rank * 3 / 5);
  }
  // Each score has the standard error 1 for uniform ranks.
  const UniformityTest none = uniformity_test(uniform, 99);
  EXPECT_LT(std::abs(none.location), 4);
  EXPECT_LT(std::abs(none.spread), 4);
  EXPECT_GT(none.p_value, 0.001);
  const UniformityTest lean = uniformity_test(leaning, 99);
  EXPECT_GT(lean.location, none.location + 4);
  EXPECT_LT(lean.p_value, 1e-4);
  EXPECT_GT(uniformity_test(avoiding, 99).spread, none.spread + 4);
  EXPECT_LT(uniformity_test(seeking, 99).spread, none.spread - 4);
}

TEST(Uniformity, TheSameSeedGivesTheSameResult) {
  const std::vector<int> ranks = uniform_ranks(50, 3, 1);
  EXPECT_EQ(uniformity_test(ranks, 3, 5).distance, uniformity_test(ranks, 3, 5).distance);
  EXPECT_NE(uniformity_test(ranks, 3, 5).distance, uniformity_test(ranks, 3, 6).distance);
}

TEST(Uniformity, RefusesWhatAreNoRanks) {
  const std::vector<int> ranks(20, 3);
  EXPECT_THROW((void)uniformity_test(ranks, 2), std::invalid_argument);
  EXPECT_THROW((void)uniformity_test(ranks, 0), std::invalid_argument);
  EXPECT_THROW((void)uniformity_test(std::vector<int>(9, 0), 2), std::invalid_argument);
  EXPECT_THROW((void)uniformity_test(std::vector<int>(20, -1), 2), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys
