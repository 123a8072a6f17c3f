#include "base/run_queue.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace jeffreys {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::UnorderedElementsAre;

struct Seen final : JobObserver {
  std::set<std::string> stages;
  std::set<std::string> at_iteration_three;  // stages again
  std::set<std::string> ends;
  bool waited_for = false;

  void on_status(const QueueStatus& status) override {
    for (const RunningJob& job : status.running) {
      stages.insert(job.stage);
      if (job.iteration == 3) at_iteration_three.insert(job.stage);
    }
    waited_for = stages.contains("autoencoder 45 %") && !at_iteration_three.empty();
  }
  void on_finished(const FinishedJob& job) override { ends.insert(job.name + ": " + job.message); }
  bool should_stop() override { return waited_for; }
};

// It stops when the observer has seen what the job says, and not before.
TEST(RunQueue, TellsStagesIterationsAndEnds) {
  const auto wait = [](const std::atomic<bool>& stop) {
    while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return JobEnd{JobState::interrupted};
  };
  const std::vector<QueuedJob> jobs = {
      {.name = "stage",
       .iterations = 10,
       .run =
           [&](JobProgress& progress, const std::atomic<bool>& stop) {
             progress.set_stage("autoencoder 45 %");
             return wait(stop);
           }},
      {.name = "iterations",
       .iterations = 10,
       .run =
           [&](JobProgress& progress, const std::atomic<bool>& stop) {
             progress.set_stage("reads pictures");
             progress.set_stage("");
             progress.set_iteration(3);
             return wait(stop);
           }},
      {.name = "fails", .run = [](JobProgress&, const std::atomic<bool>&) -> JobEnd {
         throw std::runtime_error("no disk");
       }}};
  Seen seen;
  const std::vector<FinishedJob> finished = run_queue(jobs, 3, seen);
  EXPECT_TRUE(seen.waited_for);
  EXPECT_THAT(seen.at_iteration_three, ElementsAre(""));
  EXPECT_THAT(seen.ends, UnorderedElementsAre("stage: ", "iterations: ", "fails: no disk"));
  EXPECT_THAT(finished, Contains(Field(&FinishedJob::state, JobState::failed)));
}

}  // namespace
}  // namespace jeffreys
