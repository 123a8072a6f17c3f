// What comparisons on several data sets say together, and how a divergence counts.
#include "experiment/comparison.h"

#include "experiment/consistency.h"
#include "experiment/nll_table.h"
#include "experiment/small_results.h"
#include "support/not_finite.h"

namespace jeffreys::experiment {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

// Three seeds around this value.
SeedValues around(double value) { return {{0, value}, {1, value + 0.01}, {2, value - 0.01}}; }
const SeedValues kZeros = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};

TEST(Together, OneDataSetWithoutRunsLeavesAClaimOpen) {
  EXPECT_EQ(together({Finding::holds, Finding::holds}), Finding::holds);
  EXPECT_EQ(together({Finding::holds, Finding::not_enough_runs}), Finding::not_enough_runs);
  EXPECT_EQ(together({}), Finding::not_enough_runs);
}

TEST(Together, FailuresCountWhateverIsMissing) {
  const Finding missing = Finding::not_enough_runs;
  EXPECT_EQ(together({Finding::fails, missing}), Finding::fails);
  EXPECT_EQ(together({Finding::fails, missing, Finding::holds}), Finding::in_part);
  EXPECT_EQ(together({Finding::in_part, missing}), Finding::in_part);
}

TEST(Difference, CountsSeedsThatDiverged) {
  const SeedValues a = {{0, 1}, {1, 1}, {2, kInfinity}, {3, 1}, {4, kInfinity}, {5, 1}};
  const SeedValues b = {{0, 0}, {1, 0.2}, {2, 0}, {3, kInfinity}, {4, kInfinity}, {6, 0}};
  const Difference difference = difference_of(a, b);
  ASSERT_TRUE(difference.interval);
  EXPECT_EQ(difference.interval->n, 2U);
  EXPECT_DOUBLE_EQ(difference.interval->mean, -0.9);
  EXPECT_EQ(difference.won, 1U);
  EXPECT_EQ(difference.lost, 1U);
  EXPECT_EQ(difference.both, 1U);
  EXPECT_EQ(difference.seeds(), 5U) << "seeds 5 and 6 have no partner";
}

TEST(Difference, ADivergenceLosesWhateverTheOtherSeedsSay) {
  SeedValues values = around(-1);
  EXPECT_EQ(lower(difference_of(kZeros, values)), Finding::holds);
  values[3] = kInfinity;
  const Difference difference = difference_of(kZeros, values);
  EXPECT_EQ(lower(difference), Finding::fails);
  EXPECT_THAT(text_of(difference), HasSubstr("3 seeds (1 of 4 seeds diverged)"));
}

TEST(Difference, ASeedWhereOnlyTheOtherDivergedIsWon) {
  const SeedValues other = {{0, 0}, {1, 0}, {2, kInfinity}};
  const Difference difference = difference_of(other, around(-1));
  EXPECT_EQ(lower(difference), Finding::holds) << "two seeds alone would decide nothing";
  EXPECT_THAT(text_of(difference), HasSubstr("only the other diverged with 1 of 3 seeds"));
  const SeedValues lost = {{0, kInfinity}, {1, kInfinity}, {2, kInfinity}};
  EXPECT_EQ(lower(difference_of(lost, around(5))), Finding::holds);
  EXPECT_EQ(lower(difference_of({{0, kInfinity}}, around(5))), Finding::not_enough_runs);
}

TEST(Difference, SeedsThatContradictEachOtherDecideNothing) {
  const SeedValues other = {{0, 0}, {1, 0}, {2, 0}, {3, kInfinity}};
  SeedValues values = around(1);
  EXPECT_EQ(lower(difference_of(other, values)), Finding::fails);
  values[3] = 1;
  EXPECT_EQ(lower(difference_of(other, values)), Finding::not_enough_runs);
}

TEST(Difference, WhereBothDivergedNobodyWon) {
  const SeedValues lost = {{0, kInfinity}, {1, kInfinity}, {2, kInfinity}};
  EXPECT_EQ(lower(difference_of(lost, lost)), Finding::not_enough_runs);
  EXPECT_EQ(text_of(difference_of(lost, lost)), "both diverged with 3 of 3 seeds");
  SeedValues other = kZeros;
  SeedValues values = around(-1);
  other[3] = values[3] = kInfinity;
  EXPECT_EQ(lower(difference_of(other, values)), Finding::holds);
}

TEST(Comparison, DoesNotHoldOnOneOfTwo) {
  Comparison comparison;
  comparison.add("ring", interval_of(around(-1)));
  comparison.add("grid", Difference{});
  EXPECT_EQ(comparison.finding(), Finding::not_enough_runs);
  EXPECT_THAT(comparison.numbers(),
              HasSubstr("grid: –. Holds on 1 of 2 data sets; too few runs on grid"));
}

TEST(Comparison, HoldsInPartWhereItFailsElsewhere) {
  Comparison comparison;
  comparison.add("ring", interval_of(around(-1)));
  comparison.add("grid", interval_of(around(1)));
  comparison.add("moons", interval_of({{0, -1}}));
  EXPECT_EQ(comparison.finding(), Finding::in_part);
  EXPECT_THAT(comparison.numbers(),
              HasSubstr("Holds on 1 of 3 data sets; fails on grid; too few runs on moons"));
}

TEST(Comparison, FailsWhereItFailsSomewhereAndHoldsNowhere) {
  Comparison comparison;
  comparison.add("ring", interval_of({{0, kInfinity}, {1, -1}}));
  comparison.add("grid", Difference{});
  EXPECT_EQ(comparison.finding(), Finding::fails) << "a divergence needs no other seeds";
}

// With enough seeds everywhere a difference that might be 0 is no lack of runs.
TEST(Comparison, UndecidedInSpiteOfEnoughRunsLeavesAPart) {
  const SeedValues uncertain = {{0, -1}, {1, 1}, {2, 0.5}};
  Comparison comparison;
  comparison.add("ring", interval_of(around(-1)));
  comparison.add("grid", interval_of(uncertain));
  EXPECT_EQ(comparison.finding(), Finding::in_part);
  EXPECT_THAT(comparison.numbers(), HasSubstr("1 of 2 data sets; undecided on grid"));
  comparison.add("moons", Difference{});
  EXPECT_EQ(comparison.finding(), Finding::not_enough_runs);
}

// Deviations of 0.05 and 0.01 times the same numbers, so that the interval of the ratio is a point.
SeedValues spread(double deviation) { return {{0, 0}, {1, deviation}, {2, 2 * deviation}}; }

TEST(Consistency, NeedsEveryDataSet) {
  Consistency consistency;
  for (const char* data : {"ring", "grid", "moons"}) {
    consistency.add(data, spread(0.05), spread(0.01));
  }
  EXPECT_EQ(consistency.finding(), Finding::holds);
  consistency.add("spiral", spread(0.05), {});
  EXPECT_EQ(consistency.finding(), Finding::not_enough_runs);
  EXPECT_THAT(consistency.numbers(), HasSubstr("ratio 0.20 [0.20, 0.20] over 3 data sets; too few "
                                               "runs on spiral"));
}

TEST(Consistency, WhatDivergesIsNotConsistent) {
  SeedValues flow = spread(0.05);
  SeedValues ours = spread(0.01);
  flow[3] = 0.1;
  ours[3] = kInfinity;
  Consistency consistency;
  consistency.add("grid", flow, ours);
  EXPECT_EQ(consistency.finding(), Finding::fails);
  for (const char* data : {"ring", "moons", "rings"}) {
    consistency.add(data, spread(0.05), spread(0.01));
  }
  EXPECT_EQ(consistency.finding(), Finding::in_part);
  EXPECT_THAT(consistency.numbers(), HasSubstr("grid 1 of 4 seeds diverged"));
}

const char* const kTwoMethods = R"(
[[data]]
source = "ring"
rows = 100
test_rows = 100
[[method]]
name = "ours"
[[method]]
name = "flow"
)";

class DivergedRuns : public SmallResults {
 protected:
  static constexpr const char* kColumn = "main.test_nll";
};

TEST_F(DivergedRuns, HaveABestValueButNoLastOne) {
  run("ring", "ours", 0, {{kColumn, {3, 1, 2}}}, {}, "diverged");
  run("ring", "ours", 1, {{kColumn, {3, 1, 2}}});
  const Results all = load(kTwoMethods);
  EXPECT_THAT(values_of(all, "ring", "ours", at(kColumn, Moment::last)),
              ElementsAre(Pair(0, kInfinity), Pair(1, 2)));
  EXPECT_THAT(values_of(all, "ring", "ours", at(kColumn, Moment::best)),
              ElementsAre(Pair(0, 1), Pair(1, 1)));
  EXPECT_EQ(all.summary("ring", "ours", kColumn, Moment::last)->n, 1U);
  EXPECT_EQ(all.size(), 2U);
}

// The run diverges after six seconds. The other one takes three, or twelve.
TEST_F(DivergedRuns, HadNotDivergedBefore) {
  const Measure last = at(kColumn, Moment::last);
  run("ring", "ours", 0, {{kColumn, {3, 1, 2}}}, {}, "diverged", 2);
  run("ring", "flow", 0, {{kColumn, {3, 2, 1}}});
  EXPECT_THAT(values_in_time_of(load(kTwoMethods), "ring", "ours", "flow", last),
              ElementsAre(Pair(0, 3)));
  run("ring", "flow", 0, {{kColumn, {3, 2, 1}}}, {}, "finished", 4);
  EXPECT_THAT(values_in_time_of(load(kTwoMethods), "ring", "ours", "flow", last),
              ElementsAre(Pair(0, kInfinity)));
}

// Points of runs of different age lie at different iterations.
TEST_F(DivergedRuns, LinesMeetAtTheSameIterations) {
  run("ring", "ours", 0, {{kColumn, {10, 11, 12}}});
  run("ring", "ours", 1, {{kColumn, {0, 2}}});
  RunResult other = read_run(path("runs/ring/ours/seed-1.json"));
  other.curve.iteration = {1, 3};
  write_run(path("runs"), "ring/ours/seed-1", other);
  const auto line = mean_line(load(kTwoMethods), "ring", "ours", kColumn, "", 0);
  EXPECT_THAT(line.x, ElementsAre(1, 2, 3));
  EXPECT_THAT(line.y, ElementsAre(5, 6, 7));
}

TEST(HideHigh, SaysWhichDotsAreAboveThePicture) {
  report::Bars bars{.groups = {"best", "last"}};
  bars.series = {{.name = "flow", .values = {1, 2}},
                 {.name = "level", .values = {1, 3}},
                 {.name = "wild", .values = {1, 9}}};
  report::Bars calm = bars;
  calm.series.pop_back();
  hide_high(calm, 1);
  EXPECT_TRUE(std::isnan(calm.y_max)) << "nothing to hide";
  hide_high(bars, 1);
  EXPECT_DOUBLE_EQ(bars.y_max, 3);
  EXPECT_EQ(bars.series[2].name, "wild (above)");
  EXPECT_THAT(bars.series[1].name, Not(HasSubstr("above")));
}

}  // namespace
}  // namespace jeffreys::experiment
