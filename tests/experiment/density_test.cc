#include "experiment/small_results.h"

namespace jeffreys::experiment {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const char* const kDensityPlan = R"(
[[data]]
source = "ring"
rows = 100
test_rows = 100
[[data]]
source = "grid"
rows = 100
test_rows = 100
[[data]]
source = "moons"
rows = 100
test_rows = 100
[[method]]
name = "ours"
[[method]]
name = "clipped"
data = ["grid"]
[[method]]
name = "stable"
[[method]]
name = "flow"
[[method]]
name = "stable-validated"
[[method]]
name = "ours-validated"
[[method]]
name = "flow-validated"
[[method]]
name = "gaussian"
baseline = "gaussian"
)";

constexpr const char* kLastMain =
    "our main model (as written) has a lower NLL than a pure flow, at";
constexpr const char* kBestMain =
    "our main model (as written) has a lower NLL than a pure flow, each";
constexpr const char* kLastStable =
    "our main model (in the stable form) has a lower NLL than a pure flow, at";
constexpr const char* kModes = "our main model (as written) captures all modes";

class Density : public SmallResults {
 protected:
  const std::vector<const char*> data_ = {"ring", "grid", "moons"};

  // Seeds differ by a little, so that intervals are not points; ours less than the flow.
  void ours(const std::string& data, const std::string& method, std::uint64_t seed, double value,
            double modes = 8, const std::string& stop = "finished") {
    const auto s = static_cast<double>(seed);
    run(data, method, seed,
        {{"main.test_nll", {3, value - 0.1, value + 0.01 * s}},
         {"proxy.test_nll", {4, value - 0.2, value + 0.1 * s}}},
        {{"entropy", -1},
         {"main.modes", 8},
         {"main.modes_covered", modes},
         {"main.mode_precision", 1}},
        stop);
  }
  void flow(const std::string& data, std::uint64_t seed, double value,
            const std::string& stop = "finished") {
    run(data, "flow", seed,
        {{"main.test_nll", {3, value - 0.5, value + 0.05 * static_cast<double>(seed)}}}, {}, stop);
  }
  void pair(const std::string& data, std::uint64_t seed, double our_value, double flow_value) {
    ours(data, "ours", seed, our_value);
    flow(data, seed, flow_value);
  }
  // Below the flow everywhere.
  void all_pairs() {
    for (const char* data : data_) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) pair(data, seed, -1, 1);
    }
  }
};

TEST_F(Density, SaysThatThereAreNoRuns) {
  const Told told = tell("density", kDensityPlan);
  EXPECT_THAT(told.page, HasSubstr("No runs yet."));
  told.expect_nothing_decided();
}

TEST_F(Density, ClaimsHoldWhereOursIsBelowTheFlow) {
  all_pairs();
  const Told told = tell("density", kDensityPlan);
  EXPECT_EQ(told.finding(kLastMain), Finding::holds);
  EXPECT_EQ(told.finding("our proxy (as written) has a lower NLL than a pure flow, each at"),
            Finding::holds);
  EXPECT_EQ(told.finding(kModes), Finding::holds);
  // Deviations are 1/5 and 2 times the flow's on every data set, so the intervals are points.
  EXPECT_EQ(told.finding("NLL of our main model (as written) is more consistent"), Finding::holds);
  EXPECT_EQ(told.finding("NLL of our proxy (as written) is more consistent"), Finding::fails);
  EXPECT_EQ(told.finding("stopped early, in equal steps"), Finding::not_enough_runs);
}

TEST_F(Density, BothFormsAreJudgedSideBySide) {
  all_pairs();
  for (const char* data : data_) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) ours(data, "stable", seed, 2);
  }
  ours("grid", "clipped", 0, 0);
  const Told told = tell("density", kDensityPlan, true);
  EXPECT_EQ(told.finding(kLastMain), Finding::holds);
  EXPECT_EQ(told.finding(kLastStable), Finding::fails);
  EXPECT_EQ(told.finding("No run in the stable form diverges"), Finding::holds);
  EXPECT_THAT(told.page, HasSubstr("| ours, as written: main | last |"));
  EXPECT_THAT(told.page, HasSubstr("| ours, stable form: main | last |"));
  EXPECT_THAT(told.page,
              HasSubstr("| ours, as written, clipped at 5: main | last | – | 0.000 (1)"));
}

TEST_F(Density, AClaimAboutAllDataHoldsInPartIfOneContradicts) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    pair("ring", seed, -1, 1);
    pair("grid", seed, 1, -1);
  }
  EXPECT_EQ(tell("density", kDensityPlan).finding(kLastMain), Finding::in_part);
}

TEST_F(Density, AClaimAboutAllDataDoesNotHoldOnOneOfThree) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) pair("ring", seed, -1, 1);
  const Told told = tell("density", kDensityPlan);
  EXPECT_EQ(told.finding(kLastMain), Finding::not_enough_runs);
  EXPECT_EQ(told.finding(kBestMain), Finding::not_enough_runs);
  EXPECT_EQ(told.finding(kModes), Finding::not_enough_runs) << "the grid has modes, too";
  EXPECT_THAT(told.claim(kLastMain).numbers,
              HasSubstr("Holds on 1 of 3 data sets; too few runs on grid, moons"));
}

TEST_F(Density, OneSeedDecidesNothing) {
  pair("ring", 0, -1, 1);
  const Told told = tell("density", kDensityPlan, true);
  for (const Claim& claim : told.claims) {
    EXPECT_EQ(claim.finding, Finding::not_enough_runs) << claim.text;
  }
  EXPECT_THAT(told.claim(kLastMain).numbers, HasSubstr("ring: -2.000, 1 seed; grid: –"));
}

// The flow is chosen at its third point, after 3 seconds. In that time ours, which needs 2 seconds
// for each point, has only its first.
TEST_F(Density, EqualTimeIsNotEqualSteps) {
  for (const char* data : data_) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const double small = 0.01 * static_cast<double>(seed);
      run(data, "flow-validated", seed,
          {{"main.test_nll", {3, 2, 1 + small, 4}}, {"main.validation_nll", {3, 2, 1, 4}}});
      run(data, "stable-validated", seed,
          {{"main.test_nll", {5, 4, 3, 2}},
           {"main.validation_nll", {5, 4, 3, 2}},
           {"proxy.test_nll", {5, 4, 3, -1}},
           {"proxy.validation_nll", {6, 4, 3, -1}}},
          {}, "finished", 2);
    }
  }
  const Told told = tell("density", kDensityPlan);
  EXPECT_EQ(told.finding("stopped early, in equal steps"), Finding::holds);
  EXPECT_EQ(told.finding("stopped early, in equal processor time"), Finding::fails);
  EXPECT_THAT(told.claim("in equal processor time").numbers, HasSubstr("ring: +3.990"));
  EXPECT_THAT(told.page, HasSubstr("3 x proxy"));
}

TEST_F(Density, ADivergenceOfOursCountsAtTheEndAndNotAtItsBest) {
  all_pairs();
  ours("grid", "ours", 2, -1, 8, "diverged");
  const Told told = tell("density", kDensityPlan, true);
  EXPECT_THAT(told.page, HasSubstr("grid, ours, seed 2"));
  EXPECT_EQ(told.finding(kLastMain), Finding::in_part);
  EXPECT_EQ(told.finding(kBestMain), Finding::holds);
  EXPECT_THAT(told.claim(kLastMain).numbers,
              AllOf(HasSubstr("1 of 4 seeds diverged"), HasSubstr("fails on grid")));
  EXPECT_EQ(told.finding(kModes), Finding::in_part) << "all modes, but only until it diverged";
  EXPECT_EQ(told.finding("NLL of our main model (as written) is more consistent"), Finding::fails)
      << "the two other data sets decide nothing";
}

TEST_F(Density, ADivergenceOfTheFlowIsWon) {
  all_pairs();
  flow("grid", 2, 1, "diverged");
  flow("grid", 3, 1, "diverged");
  const Told told = tell("density", kDensityPlan);
  EXPECT_EQ(told.finding(kLastMain), Finding::holds) << "two seeds alone would decide nothing";
  EXPECT_THAT(told.claim(kLastMain).numbers,
              HasSubstr("only the other diverged with 2 of 4 seeds"));
}

TEST_F(Density, ModesAreCountedSeedBySeed) {
  all_pairs();
  ours("grid", "ours", 3, -1, 7);
  const Told told = tell("density", kDensityPlan);
  EXPECT_EQ(told.finding(kModes), Finding::in_part);
  EXPECT_THAT(told.claim(kModes).numbers,
              HasSubstr("grid: at least 7 of 8 modes (by seed 8, 8, 8, 7)"));
}

}  // namespace
}  // namespace jeffreys::experiment
