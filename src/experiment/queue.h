// Runs jobs on several threads, one job a thread.
#pragma once

#include <string>
#include <vector>

#include "experiment/run_job.h"
#include "jeffreys/experiment/reproduce.h"

namespace jeffreys::experiment {

struct QueuedJob {
  Job job;
  std::filesystem::path folder;  // of its experiment
};

// Tells the observer about every end and, twice a second, about everything. A job that throws is
// reported as failed and the others go on.
[[nodiscard]] std::vector<FinishedJob> run_queue(const std::vector<QueuedJob>& jobs,
                                                 const ReproduceOptions& options,
                                                 ReproduceObserver& observer);

}  // namespace jeffreys::experiment
