#include "experiment/small_results.h"

namespace jeffreys::experiment {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const char* const kSbiPlan = R"(
[[data]]
task = "two_moons"
rows = [1000, 3000]
test_rows = 100
[[method]]
name = "ours"
[[method]]
name = "flow"
)";

class Sbi : public SmallResults {
 protected:
  void pair(const std::string& data, std::uint64_t seed, double ours, double flow) {
    const double small = 0.002 * static_cast<double>(seed % 3);
    run(data, "ours", seed,
        {{"main.c2st", {1, ours + small, 0.7}}, {"proxy.c2st", {1, ours + small, 0.6}}},
        {{"proxy_langevin.c2st", 0.9 + small}});
    run(data, "flow", seed, {{"main.c2st", {1, flow, 0.7 - small}}});
  }
};

TEST_F(Sbi, SaysThatThereAreNoRuns) {
  const Told told = tell(describe_sbi, kSbiPlan);
  EXPECT_THAT(told.page, HasSubstr("No runs yet."));
  EXPECT_THAT(told.claims, IsEmpty());
}

TEST_F(Sbi, ComparesDistancesFromOneHalfAtEachSize) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    pair("two_moons-1000", seed, 0.55, 0.65);
    pair("two_moons-3000", seed, 0.52, 0.60);
  }
  const Told told = tell(describe_sbi, kSbiPlan, true);
  EXPECT_EQ(told.finding("as many simulations (ours, main)"), Finding::holds);
  EXPECT_EQ(told.finding("the next larger number (ours, main)"), Finding::holds);
  EXPECT_EQ(told.finding("after all iterations (ours, proxy)"), Finding::holds);
  EXPECT_EQ(told.finding("after all iterations (ours, proxy by Langevin)"), Finding::fails);
  EXPECT_THAT(told.page, HasSubstr("| two_moons-1000 | two_moons-3000 |"));
}

TEST_F(Sbi, ValuesBelowOneHalfAreNoBetterThanAsFarAbove) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) pair("two_moons-1000", seed, 0.40, 0.51);
  const Told told = tell(describe_sbi, kSbiPlan);
  EXPECT_EQ(told.finding("as many simulations (ours, main)"), Finding::fails);
}

// The flow's run takes 3 seconds. In that time ours, which needs 2 seconds for a point, is at its
// first one: worse than the flow, although it ends nearer to one half.
TEST_F(Sbi, ComparesInEqualProcessorTime) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const double small = 0.002 * static_cast<double>(seed % 3);
    run("two_moons-1000", "ours", seed,
        {{"main.c2st", {0.9, 0.7, 0.52 + small}}, {"proxy.c2st", {0.6, 0.7, 0.8 + small}}}, {},
        "finished", 2);
    run("two_moons-1000", "flow", seed, {{"main.c2st", {1, 0.8, 0.7 + small}}});
  }
  const Told told = tell(describe_sbi, kSbiPlan);
  EXPECT_EQ(told.finding("after all iterations (ours, main)"), Finding::holds);
  EXPECT_EQ(told.finding("equal processor time (ours, main)"), Finding::fails);
  EXPECT_EQ(told.finding("equal processor time (ours, proxy)"), Finding::holds);
  EXPECT_THAT(told.page, HasSubstr("| ours, main | equal time | 0.900"));
  EXPECT_THAT(told.page, HasSubstr("| ours | minutes | 0.100 |"));
}

TEST_F(Sbi, OneSeedDecidesNothing) {
  pair("two_moons-1000", 0, 0.55, 0.65);
  const Told told = tell(describe_sbi, kSbiPlan, true);
  for (const Claim& claim : told.claims) EXPECT_EQ(claim.finding, Finding::not_enough_runs);
}

}  // namespace
}  // namespace jeffreys::experiment
