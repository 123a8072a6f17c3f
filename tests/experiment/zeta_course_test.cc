#include "experiment/zeta_course.h"

#include <cmath>

#include "experiment/small_results.h"
#include "support/not_finite.h"

namespace jeffreys::experiment {
namespace {

using ::testing::HasSubstr;

const char* const kZetaPlan = R"(
[[data]]
source = "ring"
rows = 100
test_rows = 100
[[data]]
source = "grid"
rows = 100
test_rows = 100
[[method]]
name = "stable"
label = "stable form"
[[method]]
name = "stable-validated"
)";

constexpr const char* kStays = "log zeta stays within";
constexpr const char* kEnds = "No run in the stable form diverges";

void describe_zeta(const Results& results, Section& section) {
  zeta_table(results, {"stable"}, "from samples", section.page());
  zeta_claims(results, {"stable", "stable-validated"}, section);
}

RunResult run_of(const std::vector<double>& log_zeta) {
  RunResult run;
  run.settings = {{"zeta.slack", "0.1"}};
  for (std::size_t i = 0; i < log_zeta.size(); ++i) {
    run.curve.add(static_cast<std::int64_t>(i) + 1, {{"proxy.log_zeta", log_zeta[i]}});
  }
  return run;
}

// Forty points, the second half of which begins at the 20th.
std::vector<double> course(double drift, double noise) {
  std::vector<double> values;
  for (int i = 1; i <= 40; ++i) {
    values.push_back(drift * (i - 20) / 20 + (i % 2 == 0 ? noise : -noise));
  }
  return values;
}

// By hand: slope 0.8 with the error sqrt(1.4 / 5), over three iterations.
TEST(ZetaCourse, IsALineOfLeastSquares) {
  const auto found = zeta_course(run_of({9, 9, 9, 0, 1, 0, 3}));
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->lowest, 0);
  EXPECT_DOUBLE_EQ(found->highest, 3);
  EXPECT_NEAR(found->change, 2.4, 1e-12);
  EXPECT_NEAR(found->error, 3 * std::sqrt(1.4 / 5), 1e-12);
  EXPECT_FALSE(found->has_trend()) << "less than two errors";
}

TEST(ZetaCourse, ATrendIsLargeAndMoreThanChance) {
  EXPECT_TRUE(zeta_course(run_of(course(0.3, 0.05)))->has_trend());
  EXPECT_TRUE(zeta_course(run_of(course(-0.3, 0.05)))->has_trend());
  EXPECT_FALSE(zeta_course(run_of(course(0.05, 0)))->has_trend()) << "small";
  EXPECT_FALSE(zeta_course(run_of(course(0.3, 0.6)))->has_trend()) << "chance";
}

TEST(ZetaCourse, StaysWithinOneNatOfTheConstraints) {
  const double most = std::log(1.1) + 1;
  EXPECT_TRUE(zeta_course(run_of({50, -50, 0, -0.99, 0, most - 0.01}))->within());
  EXPECT_FALSE(zeta_course(run_of({0, 0, 0, -1.01, 0, 0}))->within());
  EXPECT_FALSE(zeta_course(run_of({0, 0, 0, most + 0.01, 0, 0}))->within());
  EXPECT_FALSE(zeta_course(run_of({0, 0, 0, kNan, 0, 0}))->within()) << "too large for a number";
}

TEST(ZetaCourse, ComesFromZetaWhereNoLogarithmWasMeasured) {
  RunResult run;
  run.settings = {{"zeta.slack", "0.1"}};
  for (int i = 1; i <= 6; ++i) run.curve.add(i, {{"proxy.zeta", std::exp(0.5)}});
  EXPECT_DOUBLE_EQ(zeta_course(run)->highest, 0.5);
  run.settings.clear();
  EXPECT_FALSE(zeta_course(run)) << "without a slack nothing can be judged";
  EXPECT_FALSE(zeta_course(RunResult{}));
}

class ZetaClaims : public SmallResults {
 protected:
  void add(const std::string& data, std::uint64_t seed, const std::vector<double>& log_zeta,
           const std::string& stop = "finished", const std::string& method = "stable") {
    run(data, method, seed, {{"proxy.log_zeta", log_zeta}}, {}, stop, 1, {{"zeta.slack", "0.1"}});
  }
  void calm(const std::string& data) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) add(data, seed, course(0, 0.2));
  }
};

TEST_F(ZetaClaims, HoldOnEveryDataSetOrNotAtAll) {
  calm("ring");
  const Told half = tell(describe_zeta, kZetaPlan);
  EXPECT_EQ(half.finding(kStays), Finding::not_enough_runs);
  EXPECT_EQ(half.finding(kEnds), Finding::not_enough_runs);
  EXPECT_THAT(half.claim(kEnds).numbers, HasSubstr("too few runs on grid"));
  calm("grid");
  const Told told = tell(describe_zeta, kZetaPlan);
  EXPECT_EQ(told.finding(kStays), Finding::holds);
  EXPECT_EQ(told.finding(kEnds), Finding::holds);
  EXPECT_THAT(told.claim(kStays).numbers, HasSubstr("ring: -0.20 to 0.20 (allowed -1.00 to 1.10)"));
  EXPECT_THAT(told.page, HasSubstr("| grid | stable form | 3 | 0 | -0.20 to 0.20 |"));
}

TEST_F(ZetaClaims, OneRunThatLeavesIsEnoughToFail) {
  calm("ring");
  calm("grid");
  add("grid", 1, course(3, 0));
  const Told told = tell(describe_zeta, kZetaPlan);
  EXPECT_EQ(told.finding(kStays), Finding::in_part);
  EXPECT_THAT(told.claim(kStays).numbers, HasSubstr("3 runs, 1 outside, 1 with a trend"));
  EXPECT_EQ(told.finding(kEnds), Finding::holds);
}

TEST_F(ZetaClaims, RunsWithValidationCountToo) {
  calm("ring");
  calm("grid");
  add("grid", 0, course(0, 0), "diverged", "stable-validated");
  const Told told = tell(describe_zeta, kZetaPlan);
  EXPECT_EQ(told.finding(kEnds), Finding::in_part);
  EXPECT_EQ(told.finding(kStays), Finding::in_part);
  EXPECT_THAT(told.claim(kEnds).numbers, HasSubstr("grid: 1 of 4 runs"));
}

}  // namespace
}  // namespace jeffreys::experiment
