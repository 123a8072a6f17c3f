// Densities that need no training: what anyone would try first.
#pragma once

#include "experiment/workload.h"

namespace jeffreys::experiment {

// job.baseline: gaussian, mixture or kernel. The file looks like that of a trained run whose curve
// has one point.
void run_baseline(const Job& job, const Workload& workload, const std::filesystem::path& folder);

}  // namespace jeffreys::experiment
