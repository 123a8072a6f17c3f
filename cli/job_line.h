// What the commands say that run many jobs: `reproduce` and `compare`.
#pragma once

#include <string>
#include <vector>

#include "cli/progress.h"
#include "jeffreys/base/job_queue.h"

namespace jeffreys::cli {

// A line for every job that ends, and one about those under way. Stops on Ctrl-C.
class JobLine final : public JobObserver {
 public:
  explicit JobLine(const Globals& globals);

  void on_finished(const FinishedJob& job) override;
  void on_status(const QueueStatus& status) override;
  bool should_stop() override { return StopOnSignal::requested(); }
  // Makes room for another text.
  void clear() { line_.clear(); }

 private:
  const Globals& globals_;
  ProgressLine line_;
};

// "3 done, 1 FAILED"; empty for no jobs.
[[nodiscard]] std::string jobs_text(const std::vector<FinishedJob>& jobs);
[[nodiscard]] Json jobs_json(const std::vector<FinishedJob>& jobs);
// For jobs that failed, lack data or were interrupted.
void set_exit_code(const std::vector<FinishedJob>& jobs, bool interrupted, Globals& globals);

// Part i of n from the text i/n. Throws UsageError for another form.
[[nodiscard]] Shard parse_shard(const std::string& text);

}  // namespace jeffreys::cli
