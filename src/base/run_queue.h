// Runs jobs on several threads, one job a thread.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "jeffreys/base/job_queue.h"

namespace jeffreys {

struct JobEnd {
  JobState state = JobState::done;
  std::string message = {};
};

struct QueuedJob {
  std::string name;
  std::vector<std::string> kinds = {};  // see JobPace
  std::int64_t iterations = 1;
  // Does the job, says in `progress` how many iterations are done, and ends soon once `stop` is
  // true. What it throws makes it a failed one.
  std::function<JobEnd(std::atomic<std::int64_t>& progress, const std::atomic<bool>& stop)> run;
};

// Tells the observer about every end and, twice a second, about everything. A job that throws is
// reported as failed and the others go on.
[[nodiscard]] std::vector<FinishedJob> run_queue(const std::vector<QueuedJob>& jobs,
                                                 std::size_t workers, JobObserver& observer);

}  // namespace jeffreys
