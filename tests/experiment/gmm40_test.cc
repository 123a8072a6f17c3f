#include <fmt/format.h>

#include "experiment/small_results.h"
#include "support/not_finite.h"

namespace jeffreys::experiment {
namespace {

using ::testing::HasSubstr;

const std::string kData = R"(
[[data]]
source = "gmm40"
rows = 100
test_rows = 100
)";

// Runs with settings: what a combination of a grid stands for is read from them.
class Gmm40 : public SmallResults {
 protected:
  void run_with(const std::string& method, std::uint64_t seed, const Columns& columns,
                const Settings& settings, const std::string& stop = "finished") {
    run("gmm40", method, seed, columns, {}, stop);
    const std::string name = fmt::format("gmm40/{}/seed-{}", method, seed);
    RunResult result = read_run(path("runs") / (name + ".json"));
    result.settings = settings;
    write_run(path("runs"), name, result);
  }
};

class Gmm40Weights : public Gmm40 {
 protected:
  static constexpr const char* kLower = "than any of 25 weight configurations (as written)";
  static constexpr const char* kZeta = "unstable values (as written)";

  const std::string plan_ = kData + R"(
[[method]]
name = "ours"
[[method]]
name = "stable"
[[method]]
name = "weights"
settings.method = "weighted"
grid.balance = [0.1, 0.25, 0.5, 0.75, 0.9]
grid.multipliers.proxy = [0.1, 0.25, 0.5, 0.75, 0.9]
)";

  // Monte-Carlo error 0.01; zeta after a first point that is not counted.
  static Columns curve(double best, double last, double zeta) {
    Columns columns = {{"main.jeffreys", {9}}, {"main.jeffreys_error", {1}}, {"proxy.zeta", {99}}};
    for (int i = 1; i < 40; ++i) {
      columns["main.jeffreys"].push_back(i < 39 ? best : last);
      columns["main.jeffreys_error"].push_back(0.01);
      columns["proxy.zeta"].push_back(zeta);
    }
    return columns;
  }
  void ours(double best, double last, double zeta = 1) {
    run_with("ours", 0, curve(best, last, zeta), {{"multipliers.forward", "0.01"}});
  }
  void weights(double best, double last, double zeta, int count = 25) {
    for (const char* balance : {"0.1", "0.25", "0.5", "0.75", "0.9"}) {
      for (const char* proxy : {"0.1", "0.25", "0.5", "0.75", "0.9"}) {
        if (count-- <= 0) return;
        run_with(fmt::format("weights-{}-{}", balance, proxy), 0, curve(best, last, zeta),
                 {{"multipliers.forward", balance}, {"multipliers.proxy", proxy}});
      }
    }
  }
};

TEST_F(Gmm40Weights, SaysThatThereAreNoRuns) {
  const Told told = tell("gmm40-weights", plan_);
  EXPECT_THAT(told.page, HasSubstr("No runs yet."));
  told.expect_nothing_decided();
}

TEST_F(Gmm40Weights, ClaimsHoldWhereOursIsBelowAllByTheError) {
  ours(0.3, 0.35);
  weights(0.4, 0.5, 20);
  const Told told = tell("gmm40-weights", plan_, true);
  EXPECT_EQ(told.finding(kLower), Finding::holds);
  EXPECT_THAT(told.claim(kLower).numbers, HasSubstr("ours less it -0.150 ± 0.014"));
  EXPECT_THAT(told.claim(kLower).numbers, HasSubstr("One seed"));
  EXPECT_EQ(told.finding(kZeta), Finding::holds);
  EXPECT_THAT(told.claim(kZeta).numbers, HasSubstr("100 % of 39 points"));
}

TEST_F(Gmm40Weights, ADifferenceWithinTheErrorIsNoSupport) {
  ours(0.39, 0.5);
  weights(0.4, 0.51, 1);
  const Told told = tell("gmm40-weights", plan_);
  EXPECT_EQ(told.finding(kLower), Finding::fails);
  EXPECT_THAT(told.claim(kLower).numbers, HasSubstr("than 0 of 25 configurations"));
  EXPECT_EQ(told.finding(kZeta), Finding::in_part);
}

TEST_F(Gmm40Weights, OneBetterConfigurationLeavesThePart) {
  ours(0.3, 0.35);
  weights(0.4, 0.5, 1);
  run_with("weights-0.5-0.5", 0, curve(0.2, 0.25, 1),
           {{"multipliers.forward", "0.5"}, {"multipliers.proxy", "0.5"}});
  const Told told = tell("gmm40-weights", plan_);
  EXPECT_EQ(told.finding(kLower), Finding::in_part);
  EXPECT_THAT(told.claim(kLower).numbers, HasSubstr("forward 0.5, reverse 0.5, proxy 0.5"));
}

TEST_F(Gmm40Weights, MissingConfigurationsDecideNothing) {
  ours(0.3, 0.35);
  weights(0.4, 0.5, 20, 24);
  const Told told = tell("gmm40-weights", plan_);
  EXPECT_EQ(told.finding(kLower), Finding::not_enough_runs);
  EXPECT_THAT(told.claim(kLower).numbers, HasSubstr("24 of 25"));
}

TEST_F(Gmm40Weights, ADivergedRunOfOursFailsAndIsNamed) {
  weights(0.4, 0.5, 20);
  run_with("ours", 0, curve(0.5, 0.6, 1), {{"multipliers.forward", "0.01"}}, "diverged");
  const Told told = tell("gmm40-weights", plan_, true);
  EXPECT_EQ(told.finding(kLower), Finding::fails);
  EXPECT_THAT(told.page, HasSubstr("diverged"));
}

// With three seeds one divergence leaves two that would hold.
TEST_F(Gmm40Weights, ADivergenceWithOneOfThreeSeedsIsNotDropped) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    run_with("ours", seed, curve(0.3, 0.35, 1), {{"multipliers.forward", "0.01"}},
             seed == 2 ? "diverged" : "finished");
    for (const char* balance : {"0.1", "0.25", "0.5", "0.75", "0.9"}) {
      for (const char* proxy : {"0.1", "0.25", "0.5", "0.75", "0.9"}) {
        run_with(fmt::format("weights-{}-{}", balance, proxy), seed, curve(0.4, 0.5, 20),
                 {{"multipliers.forward", balance}, {"multipliers.proxy", proxy}});
      }
    }
  }
  const Told told = tell("gmm40-weights", plan_);
  EXPECT_EQ(told.finding(kLower), Finding::in_part) << "at its best it is lower";
  EXPECT_THAT(told.claim(kLower).numbers, HasSubstr("(1 of 3 seeds diverged)"));
}

// The one stopped, the other went on: both are lost, and say since when.
TEST_F(Gmm40Weights, LostRunsAreBeatenAndMarked) {
  ours(0.3, 0.35);
  weights(0.4, 0.5, 20);
  for (const auto& [proxy, stop] : {std::pair{"0.1", "lost"}, {"0.9", "finished"}}) {
    const std::string method = fmt::format("weights-0.5-{}", proxy);
    RunResult lost = read_run(path("runs") / ("gmm40/" + method + "/seed-0.json"));
    lost.stop = stop;
    for (auto& iteration : lost.curve.iteration) iteration *= 1000;
    auto& jeffreys = lost.curve.columns["main.jeffreys"];
    std::fill(jeffreys.begin() + 20, jeffreys.end(), 300);
    write_run(path("runs"), "gmm40/" + method + "/seed-0", lost);
  }
  const Told told = tell("gmm40-weights", plan_, true);
  EXPECT_EQ(told.finding(kLower), Finding::holds);
  EXPECT_THAT(told.claim(kLower).numbers, HasSubstr("25 of 25 configurations (2 of them since "
                                                    "they are lost)"));
  EXPECT_THAT(told.page, HasSubstr("| 0.5 | 0.1 | – | 0.400 ± 0.010 | 21000 |"));
  EXPECT_THAT(told.page, HasSubstr("| 0.5 | 0.9 | 300.000 ± 0.010 | 0.400 ± 0.010 | 21000 |"));
  EXPECT_THAT(told.page, HasSubstr("seed 0 (lost)"));
}

TEST_F(Gmm40Weights, TheStableFormHasClaimsOfItsOwn) {
  ours(0.5, 0.6, 20);
  run_with("stable", 0, curve(0.3, 0.35, 1), {{"multipliers.forward", "0.01"}});
  weights(0.4, 0.5, 20);
  const Told told = tell("gmm40-weights", plan_, true);
  EXPECT_EQ(told.finding(kLower), Finding::fails);
  EXPECT_EQ(told.finding("25 weight configurations (in the stable form)"), Finding::holds);
  EXPECT_EQ(told.finding("unstable values (in the stable form)"), Finding::holds);
}

class Gmm40Wgan : public Gmm40 {
 protected:
  static constexpr const char* kLower = "lower NLL than WGAN";
  static constexpr const char* kRobust = "more robust";
  static constexpr const char* kDiverges = "WGAN-GP diverges";

  const std::string plan_ = kData + R"(
[[method]]
name = "ours"
grid.learning_rate.main = [1e-3, 1e-4, 1e-5]
grid.learning_rate.proxy = [1e-4, 1e-5]
[[method]]
name = "wgan"
wgan = {critic_steps = 5, penalty = 0.1}
grid.learning_rate.main = [1e-3, 1e-4, 1e-5]
grid.learning_rate.proxy = [1e-4, 1e-5]
)";
  static constexpr std::array<const char*, 3> kMain = {"0.001", "0.0001", "1e-05"};
  static constexpr std::array<const char*, 2> kProxy = {"0.0001", "1e-05"};

  // Last NLL of a method at each rate of the main model; NaN: diverged.
  void runs(const std::string& method, const std::array<double, 3>& last, std::uint64_t seed = 0) {
    for (std::size_t i = 0; i < kMain.size(); ++i) {
      const bool diverged = !(last[i] < 1e9);
      const double value = diverged ? 2 : last[i];
      for (const char* proxy : kProxy) {
        run_with(fmt::format("{}-{}-{}", method, kMain[i], proxy), seed,
                 {{"main.test_nll", {5, value - 0.1, value}},
                  {"main.forward_error", {0.1, 0.01, 0.01}},
                  {"main.jeffreys", {9, kNan, value + 1}}},
                 {{"learning_rate.main", kMain[i]}, {"learning_rate.proxy", proxy}},
                 diverged ? "diverged" : "finished");
      }
    }
  }
};

TEST_F(Gmm40Wgan, SaysThatThereAreNoRuns) {
  const Told told = tell("gmm40-wgan", plan_);
  EXPECT_THAT(told.page, HasSubstr("No runs yet."));
  told.expect_nothing_decided();
}

TEST_F(Gmm40Wgan, ClaimsHoldAsInThePaper) {
  runs("ours", {-0.1, -0.1, 0});
  runs("wgan", {kNan, 0.6, 0.2});
  const Told told = tell("gmm40-wgan", plan_, true);
  EXPECT_EQ(told.finding(kLower), Finding::holds);
  EXPECT_EQ(told.finding(kRobust), Finding::holds);
  EXPECT_EQ(told.finding(kDiverges), Finding::holds);
  EXPECT_THAT(told.claim(kLower).numbers, HasSubstr("1e-5/1e-4 last -0.200 ± 0.014"));
}

TEST_F(Gmm40Wgan, ClaimsFailWhereTheWganIsBetterAndStable) {
  runs("ours", {0.3, -0.1, 0.1});
  runs("wgan", {-0.2, -0.2, -0.2});
  const Told told = tell("gmm40-wgan", plan_);
  EXPECT_EQ(told.finding(kLower), Finding::fails);
  EXPECT_EQ(told.finding(kRobust), Finding::fails);
  EXPECT_EQ(told.finding(kDiverges), Finding::fails);
}

// 0.5 is the NLL of one Gaussian: beyond it a WGAN counts as diverged even if it finished.
TEST_F(Gmm40Wgan, AWganThatFindsNothingAtAnyRateDoesNotConverge) {
  runs("ours", {-0.1, -0.1, 0});
  runs("wgan", {3, 2, 1});
  const Told told = tell("gmm40-wgan", plan_);
  EXPECT_EQ(told.finding(kLower), Finding::holds);
  EXPECT_EQ(told.finding(kDiverges), Finding::in_part);
}

TEST_F(Gmm40Wgan, SeedsDecideWhereThereAreThree) {
  // Always lower by more than two Monte-Carlo errors, except that one seed is far higher.
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const double ours = seed == 2 ? 1 : -0.1;
    runs("ours", {ours, ours, ours}, seed);
    runs("wgan", {0.5, 0.5, 0.5}, seed);
  }
  EXPECT_EQ(tell("gmm40-wgan", plan_).finding(kLower), Finding::fails);
}

TEST_F(Gmm40Wgan, LongerRunsOfOursAreComparedInEqualIterationsToo) {
  // Lower at its end and at its best, but not where the runs of WGAN-GP end, after three points.
  for (const char* main : kMain) {
    for (const char* proxy : kProxy) {
      run_with(fmt::format("ours-{}-{}", main, proxy), 0,
               {{"main.test_nll", {5, 4, 3, -0.1}}, {"main.forward_error", {0.1, 0.1, 0.1, 0.01}}},
               {{"learning_rate.main", main}, {"learning_rate.proxy", proxy}});
    }
  }
  runs("wgan", {kNan, 0.6, 0.2});
  const Told told = tell("gmm40-wgan", plan_);
  EXPECT_EQ(told.finding(kLower), Finding::in_part);
  EXPECT_THAT(told.claim(kLower).numbers,
              HasSubstr("1e-5/1e-4 last -0.300 ± 0.014, best -0.200 ± 0.014, in equal iterations "
                        "+2.800 ± 0.100"));
  EXPECT_THAT(told.page, HasSubstr("Ours has 4 iterations and WGAN-GP 3."));
}

TEST_F(Gmm40Wgan, OursAloneDecidesNothing) {
  runs("ours", {-0.1, -0.1, 0});
  const Told told = tell("gmm40-wgan", plan_, true);
  for (const char* claim : {kLower, kRobust, kDiverges}) {
    EXPECT_EQ(told.finding(claim), Finding::not_enough_runs);
  }
}

}  // namespace
}  // namespace jeffreys::experiment
