// What the whole paper costs, from what was measured.
#include "experiment/cost.h"

#include "experiment/small_results.h"

namespace jeffreys::experiment {
namespace {

constexpr const char* kCostPlan = R"(
iterations = 3600
seeds = 2
[[data]]
source = "ring"
rows = 100
test_rows = 100
[[method]]
name = "ours"
settings.method = "dual"
[[method]]
name = "flow"
settings.method = "mle"
[[method]]
name = "kernel"
baseline = "kernel"
)";

class Cost : public SmallResults {};

TEST_F(Cost, ScalesMeasuredTimesToFullLengthAndAllSeeds) {
  const Plan plan = read_plan("test", kCostPlan, "test.toml");
  // Two seconds for each of three iterations, of one of two seeds.
  run("ring", "ours", 0, {{"main.test_nll", {1, 1, 1}}}, {}, "finished", 2);
  const Results results(plan, 1, path("runs"));
  const IterationTimes times{.ours = {{"test/ring/flow", 500}, {"test/ours", 1500}},
                             .peer = {{"test/ours", 6000}}};
  const std::vector<CostRow> rows = cost_of(plan, results, times);
  ASSERT_EQ(rows.size(), 2U) << "a baseline is no training";
  EXPECT_EQ(rows[0].runs, 2U);
  EXPECT_EQ(rows[0].measured, 2U) << "a seed stands for the others";
  EXPECT_DOUBLE_EQ(rows[0].hours, 4);
  EXPECT_DOUBLE_EQ(rows[0].peer_hours, 12);
  EXPECT_DOUBLE_EQ(rows[0].beside_hours, 3) << "of the file, beside the peer";
  EXPECT_DOUBLE_EQ(rows[1].hours, 1) << "from the file, where the results have none";
  EXPECT_TRUE(std::isnan(rows[1].peer_hours));
}

TEST_F(Cost, ADamagedFileIsNamed) {
  EXPECT_TRUE(read_iteration_times(path("missing.json")).ours.empty());
  const auto damaged = file("cost.json", "{}");
  EXPECT_THROW(static_cast<void>(read_iteration_times(damaged)), InputError);
}

}  // namespace
}  // namespace jeffreys::experiment
