#include <fmt/format.h>

#include "experiment/small_results.h"

namespace jeffreys::experiment {
namespace {

using ::testing::HasSubstr;

const char* const kComputeTimePlan = R"(
[[data]]
source = "gmm40"
rows = 100
test_rows = 100
[[method]]
name = "ours"
grid.zeta.samples = [10, 1000, 10000]
[[method]]
name = "flow"
[[method]]
name = "wgan"
wgan = {critic_steps = 5, penalty = 0.1}
)";

constexpr const char* kGrowth = "barely increases";
constexpr const char* kReferences = "slower than the flow";
constexpr const char* kImprovement = "more samples improves";

class ComputeTime : public SmallResults {
 protected:
  void add(const std::string& method, double nll, double seconds) {
    run("gmm40", method, 0,
        {{"main.test_nll", {2, nll, nll + 0.5}}, {"main.forward_error", {0.1, 0.01, 0.01}}}, {},
        "finished", seconds);
  }
  void ours(int samples, double nll, double seconds) {
    const std::string method = fmt::format("ours-{}", samples);
    add(method, nll, seconds);
    const std::string name = "gmm40/" + method + "/seed-0";
    RunResult result = read_run(path("runs") / (name + ".json"));
    result.settings = {{"zeta.samples", fmt::format("{}", samples)}};
    write_run(path("runs"), name, result);
  }
};

TEST_F(ComputeTime, SaysThatThereAreNoRuns) {
  const Told told = tell("compute-time", kComputeTimePlan);
  EXPECT_THAT(told.page, HasSubstr("No runs yet."));
  told.expect_nothing_decided();
}

TEST_F(ComputeTime, ClaimsHoldAsInThePaper) {
  ours(10, 0.5, 1);
  ours(1000, 0.3, 1.1);
  ours(10000, 0.29, 1.2);
  add("flow", 0.4, 0.3);
  add("wgan", 0.6, 0.9);
  const Told told = tell("compute-time", kComputeTimePlan, true);
  EXPECT_EQ(told.finding(kGrowth), Finding::holds);
  EXPECT_EQ(told.finding(kReferences), Finding::holds);
  EXPECT_EQ(told.finding(kImprovement), Finding::holds);
  EXPECT_THAT(told.claim(kGrowth).numbers, HasSubstr("1000.00 ms at M = 10, 1200.00 ms"));
}

TEST_F(ComputeTime, GrowthBeyondTheUsualSizeLeavesAPart) {
  ours(10, 0.5, 1);
  ours(1000, 0.3, 1.1);
  ours(10000, 0.4, 4);
  const Told told = tell("compute-time", kComputeTimePlan);
  EXPECT_EQ(told.finding(kGrowth), Finding::in_part);
  // Lower than at the beginning, but higher than before.
  EXPECT_EQ(told.finding(kImprovement), Finding::in_part);
  EXPECT_EQ(told.finding(kReferences), Finding::not_enough_runs);
}

TEST_F(ComputeTime, ClaimsFail) {
  ours(10, 0.3, 1);
  ours(1000, 0.31, 2);
  ours(10000, 0.31, 9);
  add("flow", 0.4, 3);
  add("wgan", 0.6, 0.1);
  const Told told = tell("compute-time", kComputeTimePlan);
  EXPECT_EQ(told.finding(kGrowth), Finding::fails);
  EXPECT_EQ(told.finding(kReferences), Finding::fails);
  EXPECT_EQ(told.finding(kImprovement), Finding::fails);
}

TEST_F(ComputeTime, ResultsWithoutTheirTimesStillHaveNll) {
  ours(10, 0.5, 1);
  ours(1000, 0.3, 1);
  for (const char* samples : {"10", "1000"}) {
    std::filesystem::remove(path("runs") /
                            fmt::format("gmm40/ours-{}/seed-0.seconds.json", samples));
  }
  const Told told = tell("compute-time", kComputeTimePlan, true);
  EXPECT_EQ(told.finding(kGrowth), Finding::not_enough_runs);
  EXPECT_EQ(told.finding(kImprovement), Finding::holds);
}

}  // namespace
}  // namespace jeffreys::experiment
