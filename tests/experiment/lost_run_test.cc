// Runs that end early because they are lost.
#include "experiment/lost_run.h"

#include "experiment/folder.h"
#include "experiment/run_job.h"
#include "experiment/small_results.h"
#include "support/not_finite.h"

namespace jeffreys::experiment {
namespace {

using ::testing::HasSubstr;

constexpr LostRule kRule{.divergence = 100, .iterations = 20};

Curve divergences(const std::vector<std::pair<std::int64_t, double>>& points) {
  Curve curve;
  for (const auto& [iteration, value] : points) curve.add(iteration, {{"main.jeffreys", value}});
  return curve;
}

TEST(LostRun, IsFarAwayForSoManyIterations) {
  EXPECT_EQ(lost_since(divergences({}), kRule), std::nullopt);
  EXPECT_EQ(lost_since(divergences({{1, 900}, {10, 900}}), kRule), std::nullopt) << "too short";
  EXPECT_EQ(lost_since(divergences({{1, 900}, {10, 5}, {30, 900}, {49, 900}}), kRule), std::nullopt)
      << "only since 30";
  EXPECT_EQ(lost_since(divergences({{1, 900}, {10, 5}, {30, 900}, {50, 101}}), kRule), 30);
  EXPECT_EQ(lost_since(divergences({{30, 900}, {50, 100}}), kRule), std::nullopt) << "not above";
  EXPECT_EQ(lost_since(divergences({{5, 1}, {30, kNan}, {40, kInfinity}, {50, kNan}}), kRule), 30);
}

TEST(LostRun, ThatWentOnIsLostWhereItWouldHaveStopped) {
  const Curve back = divergences({{1, 1}, {30, 900}, {50, 900}, {60, 5}, {70, 900}});
  EXPECT_EQ(lost_since(back, kRule), std::nullopt);
  EXPECT_EQ(first_lost(back, kRule), 30);
  EXPECT_EQ(first_lost(divergences({{1, 1}, {30, 900}, {40, 900}}), kRule), std::nullopt);
}

class LostJob : public testing::ScratchTest {
 protected:
  // No divergence is below the limit, so that the run is lost from its first point on.
  static Job job() {
    return make_jobs(read_plan("small", R"(
iterations = 60
evaluations = 20
[settings]
preset = "paper-gmm40"
flow.hidden = [8]
energy.hidden = 16
zeta.samples = 50
[[data]]
source = "ring"
rows = 60
test_rows = 40
[[method]]
name = "weights"
settings.method = "weighted"
lost = {divergence = 1e-9, iterations = 20}
)",
                               "small.toml"),
                     1, 1)
        .front();
  }

  RunResult train(const std::string& folder, int stop_every) {
    JobProgress progress;
    int calls = 0;
    const auto stop = [&] { return stop_every > 0 && ++calls % stop_every == 0; };
    Outcome outcome = Outcome::interrupted;
    for (int starts = 0; outcome == Outcome::interrupted && starts < 100; ++starts) {
      outcome = run_job(job(), {.folder = path(folder), .data = {}, .should_stop = stop}, progress);
    }
    EXPECT_EQ(outcome, Outcome::done);
    return read_run(path(folder) / "ring/weights/seed-0.json");
  }
};

TEST_F(LostJob, StopsAndSaysSo) {
  const RunResult lost = train("whole", 0);
  EXPECT_EQ(lost.stop, "lost");
  EXPECT_GE(lost.curve.iteration.back(), 21);
  EXPECT_LT(lost.curve.iteration.back(), 30) << "at the first point that is late enough";
  EXPECT_EQ(lost_since(lost.curve, {.divergence = 1e-9, .iterations = 20}), 1);
  EXPECT_EQ(value_at(lost, "main.jeffreys", Moment::last), kDiverged);
}

TEST_F(LostJob, TakenUpAgainItStopsAtTheSamePoint) {
  train("whole", 0);
  train("parts", 7);
  EXPECT_EQ(testing::bytes_of(path("parts/ring/weights/seed-0.json")),
            testing::bytes_of(path("whole/ring/weights/seed-0.json")));
}

TEST(LostRule, OfThePaperIsThatOfTheTable) {
  for (const MethodSpec& method : plan_of("gmm40-weights").methods) {
    EXPECT_EQ(method.lost.has_value(), method.name == "weights") << method.name;
    if (!method.lost) continue;
    EXPECT_EQ(method.lost->divergence, LostRule().divergence);
    EXPECT_EQ(method.lost->iterations, LostRule().iterations);
  }
}

std::string refused_rule(const std::string& data, const std::string& rule) {
  try {
    static_cast<void>(read_plan(
        "small",
        "iterations = 60\n[[data]]\n" + data + "\n[[method]]\nname = \"x\"\nlost = " + rule + "\n",
        "small.toml"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(LostRule, NeedsAKnownDensityAndNumbers) {
  const std::string ring = "source = \"ring\"\nrows = 60\ntest_rows = 40";
  EXPECT_EQ(refused_rule(ring, "{divergence = 5, iterations = 3}"), "");
  EXPECT_THAT(refused_rule(ring, "{divergence = 0, iterations = 3}"), HasSubstr("above 0"));
  EXPECT_THAT(refused_rule(ring, "{divergence = 5, iterations = 0}"), HasSubstr("from 1 on"));
  EXPECT_THAT(refused_rule(ring, "{above = 5}"), HasSubstr("no key 'above'"));
  EXPECT_THAT(refused_rule(ring, "100"), HasSubstr("lost: expected"));
  EXPECT_THAT(refused_rule("table = \"heart\"", "{divergence = 5}"), HasSubstr("sources"));
}

}  // namespace
}  // namespace jeffreys::experiment
