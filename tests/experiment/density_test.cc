#include <cmath>

#include "experiment/small_results.h"

namespace jeffreys::experiment {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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
name = "flow"
[[method]]
name = "ours-validated"
[[method]]
name = "flow-validated"
[[method]]
name = "gaussian"
baseline = "gaussian"
)";

class Density : public SmallResults {
 protected:
  // Seeds differ by a little, so that intervals are not points; ours less than the flow.
  void pair(const std::string& data, std::uint64_t seed, double ours, double flow) {
    const auto s = static_cast<double>(seed);
    run(data, "ours", seed,
        {{"main.test_nll", {3, ours - 0.1, ours + 0.01 * s}},
         {"proxy.test_nll", {4, ours - 0.2, ours + 0.1 * s}}},
        {{"entropy", -1},
         {"main.modes", 8},
         {"main.modes_covered", 8},
         {"main.mode_precision", 1}});
    run(data, "flow", seed, {{"main.test_nll", {3, flow - 0.5, flow + 0.05 * s}}});
  }
};

TEST_F(Density, SaysThatThereAreNoRuns) {
  const Told told = tell(describe_density, kDensityPlan);
  EXPECT_THAT(told.page, HasSubstr("No runs yet."));
  EXPECT_THAT(told.claims, IsEmpty());
}

TEST_F(Density, ClaimsHoldWhereOursIsBelowTheFlow) {
  for (const char* data : {"ring", "grid", "moons"}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) pair(data, seed, -1, 1);
  }
  const Told told = tell(describe_density, kDensityPlan);
  EXPECT_EQ(told.finding("our main model has a lower NLL than a pure flow, at the end"),
            Finding::holds);
  EXPECT_EQ(told.finding("our proxy has a lower NLL than a pure flow, each at its best"),
            Finding::holds);
  EXPECT_EQ(told.finding("captures all modes"), Finding::holds);
  // Deviations are 1/5 and 2 times the flow's on every data set, so the intervals are points.
  EXPECT_EQ(told.finding("NLL of our main model is more consistent"), Finding::holds);
  EXPECT_EQ(told.finding("NLL of our proxy is more consistent"), Finding::fails);
  EXPECT_EQ(told.finding("stopped early, in equal steps"), Finding::not_enough_runs);
}

TEST_F(Density, AClaimAboutAllDataHoldsInPartIfOneContradicts) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    pair("ring", seed, -1, 1);
    pair("grid", seed, 1, -1);
  }
  EXPECT_EQ(tell(describe_density, kDensityPlan)
                .finding("main model has a lower NLL than a pure flow, at"),
            Finding::in_part);
}

TEST_F(Density, OneSeedDecidesNothing) {
  pair("ring", 0, -1, 1);
  const Told told = tell(describe_density, kDensityPlan, true);
  for (const Claim& claim : told.claims) EXPECT_EQ(claim.finding, Finding::not_enough_runs);
  EXPECT_THAT(told.claim("main model has a lower NLL than a pure flow, at").numbers,
              HasSubstr("ring -2.000, 1 seed; grid –"));
}

// The flow is chosen at its third point, after 3 seconds. In that time ours, which needs 2 seconds
// for each point, has only its first.
TEST_F(Density, EqualTimeIsNotEqualSteps) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const double small = 0.01 * static_cast<double>(seed);
    run("ring", "flow-validated", seed,
        {{"main.test_nll", {3, 2, 1 + small, 4}}, {"main.validation_nll", {3, 2, 1, 4}}});
    run("ring", "ours-validated", seed,
        {{"main.test_nll", {5, 4, 3, 2}},
         {"main.validation_nll", {5, 4, 3, 2}},
         {"proxy.test_nll", {5, 4, 3, -1}},
         {"proxy.validation_nll", {6, 4, 3, -1}}},
        {}, "finished", 2);
  }
  const Told told = tell(describe_density, kDensityPlan);
  EXPECT_EQ(told.finding("stopped early, in equal steps"), Finding::holds);
  EXPECT_EQ(told.finding("stopped early, in equal processor time"), Finding::fails);
  EXPECT_THAT(told.claim("in equal processor time").numbers, HasSubstr("ring +3.990"));
  EXPECT_THAT(told.page, HasSubstr("3 x proxy"));
}

TEST_F(Density, ADivergedRunIsNamedAndHasNoLastValue) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) pair("ring", seed, -1, 1);
  run("ring", "flow", 2, {{"main.test_nll", {3, NAN}}}, {}, "diverged");
  const Told told = tell(describe_density, kDensityPlan, true);
  EXPECT_THAT(told.page, HasSubstr("ring, flow, seed 2"));
  EXPECT_EQ(told.finding("main model has a lower NLL than a pure flow, at"),
            Finding::not_enough_runs);
  EXPECT_THAT(told.claim("main model has a lower NLL than a pure flow, at").numbers,
              Not(HasSubstr("3 seeds")));
}

}  // namespace
}  // namespace jeffreys::experiment
