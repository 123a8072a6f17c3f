// Jobs that run beside one another, in one process or in several that share a folder, and how they
// tell about themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace jeffreys {

// One of n parts of all jobs, for machines that share a folder or merge theirs later; from 1.
struct Shard {
  int index = 1;
  int count = 1;

  // Throws std::invalid_argument unless 1 <= index <= count.
  void validate() const;
  // Whether the job at this place of the list, from 0, is in this part.
  [[nodiscard]] bool has(std::size_t place) const {
    return static_cast<int>(place % static_cast<std::size_t>(count)) == index - 1;
  }
};

// elsewhere: another process works on it.
enum class JobState { done, was_done, interrupted, elsewhere, failed, missing_data, left_out };

struct FinishedJob {
  std::string name;  // "density/ring/ours/seed-0"
  JobState state = JobState::done;
  std::string message = {};  // why it failed, or was left out
};

struct RunningJob {
  std::string name;
  std::int64_t iteration = 0;
  std::int64_t iterations = 0;
  std::string stage = {};  // what it does while it has no iterations, such as "autoencoder 45 %"
};

struct QueueStatus {
  std::vector<RunningJob> running = {};
  std::size_t done = 0;  // of all, whatever their end
  std::size_t all = 0;
  double seconds = 0;       // since the start
  double seconds_left = 0;  // NaN while nothing is known
};

// Told by the thread that waits for the jobs.
class JobObserver {
 public:
  virtual ~JobObserver() = default;
  virtual void on_finished(const FinishedJob&) {}
  virtual void on_status(const QueueStatus&) {}
  virtual bool should_stop() { return false; }
};

}  // namespace jeffreys
