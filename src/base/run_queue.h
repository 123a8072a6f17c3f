// Runs jobs on several threads, one job a thread.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "jeffreys/base/job_queue.h"

namespace jeffreys {

struct JobEnd {
  JobState state = JobState::done;
  std::string message = {};
};

// What a job says about itself while it runs, to whoever looks at any moment.
class JobProgress {
 public:
  void set_iteration(std::int64_t done) { iteration_ = done; }
  // What it does while it has no iterations, such as "autoencoder 45 %"; empty: nothing to say.
  void set_stage(std::string stage);

  [[nodiscard]] std::int64_t iteration() const { return iteration_; }
  [[nodiscard]] std::string stage() const;

 private:
  std::atomic<std::int64_t> iteration_ = 0;
  mutable std::mutex mutex_;
  std::string stage_;
};

struct QueuedJob {
  std::string name;
  std::vector<std::string> kinds = {};  // see JobPace
  std::int64_t iterations = 1;
  // Does the job, says in `progress` how far it is, and ends soon once `stop` is true. What it
  // throws makes it a failed one.
  std::function<JobEnd(JobProgress& progress, const std::atomic<bool>& stop)> run;
};

// Tells the observer about every end and, twice a second, about everything. A job that throws is
// reported as failed and the others go on.
[[nodiscard]] std::vector<FinishedJob> run_queue(const std::vector<QueuedJob>& jobs,
                                                 std::size_t workers, JobObserver& observer);

}  // namespace jeffreys
