// The paper's experiments: runs them as independent jobs that can be stopped and taken up again,
// and makes figures, tables and a verdict on each claim from their files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace jeffreys::experiment {

struct ExperimentInfo {
  std::string name;
  std::string title;
};
// In the order of the paper.
[[nodiscard]] std::vector<ExperimentInfo> experiments();
// The settings of one, as TOML. Throws std::invalid_argument for an unknown name, listing the known
// ones.
[[nodiscard]] std::string experiment_text(const std::string& name);

// One of n parts of all jobs, for machines that share a folder or merge theirs later; from 1.
struct Shard {
  int index = 1;
  int count = 1;
};

struct ReproduceOptions {
  std::vector<std::string> names;  // of experiments
  double scale = 1;          // of the number of iterations; below 0.05 a smoke run of at most 100
  std::optional<int> seeds;  // instead of the experiment's own number
  std::size_t jobs = 1;      // at the same time
  std::filesystem::path output = "reproduce";
  std::filesystem::path data;     // the folder that holds uci/
  std::vector<std::string> only;  // jobs whose name contains one of these; empty: all
  Shard shard;
  bool train = true;    // false: figures and tables from the files that are there
  bool figures = true;  // false: only training
  double checkpoint_seconds = 20;

  void validate() const;
};

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
};

struct QueueStatus {
  std::vector<RunningJob> running = {};
  std::size_t done = 0;  // of all, whatever their end
  std::size_t all = 0;
  double seconds = 0;       // since the start
  double seconds_left = 0;  // NaN while nothing is known
};

class ReproduceObserver {
 public:
  virtual ~ReproduceObserver() = default;
  virtual void on_finished(const FinishedJob&) {}
  virtual void on_status(const QueueStatus&) {}
  virtual void on_figure(const std::filesystem::path&) {}
  virtual bool should_stop() { return false; }
};

struct ReproduceResult {
  std::vector<FinishedJob> jobs;
  bool interrupted = false;
  std::filesystem::path page;  // the report, if there is one
};

// Throws InputError if the output folder holds another configuration.
ReproduceResult reproduce(const ReproduceOptions& options, ReproduceObserver& observer);

}  // namespace jeffreys::experiment
