// The paper's experiments: runs them as independent jobs that can be stopped and taken up again,
// and makes figures, tables and a verdict on each claim from their files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "jeffreys/base/job_queue.h"

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

struct ReproduceOptions {
  std::vector<std::string> names;  // of experiments
  double scale = 1;          // of the number of iterations; below 0.05 a smoke run of at most 100
  std::optional<int> seeds;  // instead of the experiment's own number
  std::size_t jobs = 1;      // at the same time
  std::filesystem::path output = "reproduce";
  std::filesystem::path data;     // the folder that holds uci/ and images/
  std::vector<std::string> only;  // jobs whose name contains one of these; empty: all
  Shard shard;
  bool train = true;    // false: figures and tables from the files that are there
  bool figures = true;  // false: only training
  double checkpoint_seconds = 20;

  void validate() const;
};

class ReproduceObserver : public JobObserver {
 public:
  virtual void on_figure(const std::filesystem::path&) {}
};

struct ReproduceResult {
  std::vector<FinishedJob> jobs;
  bool interrupted = false;
  std::filesystem::path page;  // the report, if there is one
};

// Throws InputError if the output folder holds another configuration.
ReproduceResult reproduce(const ReproduceOptions& options, ReproduceObserver& observer);

}  // namespace jeffreys::experiment
