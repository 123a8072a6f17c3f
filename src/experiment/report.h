// From the files of runs to a report: index.html and results.md with figures beside them.
#pragma once

#include "jeffreys/experiment/reproduce.h"

namespace jeffreys::experiment {

// Of the experiments in options.names that have a folder in options.output. jobs: what happened to
// those of this call, so that the report can say what it lacks. Returns the page, or an empty path
// if there is nothing to report; without training that throws InputError.
std::filesystem::path write_report(const ReproduceOptions& options,
                                   const std::vector<FinishedJob>& jobs,
                                   ReproduceObserver& observer);

}  // namespace jeffreys::experiment
