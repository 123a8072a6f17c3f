// The end of a fit: the model file, the run record beside it, and the summary.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "cli/command.h"
#include "jeffreys/fit/fit.h"

namespace jeffreys::cli {

struct RunInfo {
  std::string source;           // the table
  std::filesystem::path model;  // the record is MODEL.run.json
  std::size_t threads = 1;
  // Writes the model file; empty: the density itself.
  std::function<void(const PreparedTable&, const TabularDensity<float>&)> save = {};
  Json more = Json::object();  // for the record: where the table came from
};

// Writes both files, prints the summary (or its JSON), and sets the exit code of a diverged fit.
void finish_fit(const RunInfo& info, const PreparedTable& table, const FitOptions& options,
                const FitOptions& defaults, Fit& fit, Globals& globals);

}  // namespace jeffreys::cli
