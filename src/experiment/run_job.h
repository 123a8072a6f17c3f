// One run of an experiment, from its data to its file; stopped at any moment, it goes on from its
// checkpoint.
#pragma once

#include "base/run_queue.h"
#include "experiment/plan.h"
#include "experiment/workload.h"

namespace jeffreys::experiment {

enum class Outcome {
  done,
  was_done,     // its file was there
  interrupted,  // a checkpoint is there
  elsewhere,    // another process works on it
};

// Throws what goes wrong.
Outcome run_job(const Job& job, const JobContext& context, JobProgress& progress);

}  // namespace jeffreys::experiment
