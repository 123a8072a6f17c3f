// A run that is broken off and resumed, or done by several threads, gives the same bits.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "support/scratch_folder.h"
#include "train/small_run.h"

namespace jeffreys {
namespace {

using testing::conditional_scenario;
using testing::energy_scenario;
using testing::expect_same;
using testing::flow_scenario;
using testing::likelihood_scenario;
using testing::outcome;
using testing::Scenario;
using testing::SmallRun;

class Resume : public testing::ScratchTest, public ::testing::WithParamInterface<Scenario> {
 protected:
  [[nodiscard]] static std::vector<double> straight() {
    SmallRun run(GetParam());
    const TrainResult result = run.trainer->run();
    EXPECT_EQ(result.stop_reason, StopReason::finished);
    EXPECT_EQ(result.evaluations.size(), 6U);
    EXPECT_GT(result.main.iteration, 0);
    return outcome(run, result);
  }
};

// The resumed run's models begin with other weights: all that counts is in the file.
TEST_P(Resume, GoesOnBitForBit) {
  const std::filesystem::path checkpoint = path("state.safetensors");
  SmallRun first(GetParam());
  EXPECT_EQ(first.run_until(23).stop_reason, StopReason::interrupted);
  first.trainer->save(checkpoint);

  SmallRun second(GetParam(), 50);
  second.trainer->resume(checkpoint);
  EXPECT_EQ(second.trainer->iteration(), 23);
  expect_same(outcome(second, second.trainer->run()), straight());
}

// At every phase of evaluation, refresh and epoch, and from a checkpoint of a checkpoint.
TEST_P(Resume, GoesOnAfterManyBreaks) {
  const std::filesystem::path checkpoint = path("state.safetensors");
  for (const std::int64_t stop : {1, 2, 5, 10, 16, 29, 40, 59}) {
    SmallRun run(GetParam(), 100 + static_cast<std::uint64_t>(stop));
    if (stop == 1) {
      SmallRun(GetParam()).trainer->save(checkpoint);  // before the first step
    }
    run.trainer->resume(checkpoint);
    run.run_until(stop);
    run.trainer->save(checkpoint);
  }
  SmallRun last(GetParam(), 7);
  last.trainer->resume(checkpoint);
  expect_same(outcome(last, last.trainer->run()), straight());
}

// The checkpoint that a run leaves holds its last state, not the one that validation chose.
TEST_P(Resume, ALongerRunGoesOnFromTheEndOfAShorterOne) {
  Scenario scenario = GetParam();
  if (scenario.options.schedule.kind == Schedule::cosine) return;  // its rate knows the length
  scenario.options.iterations = 20;
  scenario.options.checkpoint.path = path("state.safetensors");
  SmallRun first(scenario);
  EXPECT_EQ(first.trainer->run().checkpoints, 1);
  SmallRun second(GetParam(), 50);
  second.trainer->resume(scenario.options.checkpoint.path);
  expect_same(outcome(second, second.trainer->run()), straight());
}

TEST_P(Resume, AFinishedRunGivesItsResultAgain) {
  Scenario scenario = GetParam();
  scenario.options.checkpoint.path = path("state.safetensors");
  SmallRun first(scenario);
  const std::vector<double> expected = outcome(first, first.trainer->run());
  SmallRun second(scenario, 50);
  second.trainer->resume(scenario.options.checkpoint.path);
  expect_same(outcome(second, second.trainer->run()), expected);
}

// Many rows: more than one part for each thread.
TEST_P(Resume, ThreadsChangeNothing) {
  Scenario scenario = GetParam();
  scenario.rows = 700;
  scenario.options.batch_size *= 10;
  scenario.options.iterations = 25;
  SmallRun alone(scenario);
  const std::vector<double> expected = outcome(alone, alone.trainer->run());
  for (const std::size_t threads : {1U, 2U, 3U}) {
    SCOPED_TRACE(threads);
    SmallRun run(scenario, 1, std::make_shared<ThreadPool>(threads));
    expect_same(outcome(run, run.trainer->run()), expected);
  }
}

TEST_P(Resume, ThreadsMayDifferBeforeAndAfter) {
  const std::filesystem::path checkpoint = path("state.safetensors");
  SmallRun first(GetParam(), 1, std::make_shared<ThreadPool>(3));
  first.run_until(23);
  first.trainer->save(checkpoint);
  SmallRun second(GetParam(), 50, std::make_shared<ThreadPool>(2));
  second.trainer->resume(checkpoint);
  expect_same(outcome(second, second.trainer->run()), straight());
}

INSTANTIATE_TEST_SUITE_P(Methods, Resume,
                         ::testing::Values(likelihood_scenario(Method::mle), flow_scenario(),
                                           energy_scenario(), conditional_scenario()),
                         [](const auto& test) { return test.param.name; });

class OtherMethods : public testing::ScratchTest, public ::testing::WithParamInterface<Method> {};

TEST_P(OtherMethods, GoOnBitForBit) {
  const Scenario scenario = likelihood_scenario(GetParam());
  SmallRun straight(scenario);
  const std::vector<double> expected = outcome(straight, straight.trainer->run());
  SmallRun first(scenario);
  first.run_until(23);
  first.trainer->save(path("state"));
  SmallRun second(scenario, 50);
  second.trainer->resume(path("state"));
  expect_same(outcome(second, second.trainer->run()), expected);
}

INSTANTIATE_TEST_SUITE_P(Methods, OtherMethods,
                         ::testing::Values(Method::mle_noise, Method::mle_entropy));

TEST(Seeds, GiveOtherRuns) {
  Scenario scenario = flow_scenario();
  SmallRun one(scenario);
  SmallRun again(scenario);
  scenario.options.seed = 10;
  SmallRun other(scenario);
  const std::vector<double> expected = outcome(one, one.trainer->run());
  EXPECT_EQ(outcome(again, again.trainer->run()).front(), expected.front());
  EXPECT_NE(outcome(other, other.trainer->run()).front(), expected.front());
}

}  // namespace
}  // namespace jeffreys
