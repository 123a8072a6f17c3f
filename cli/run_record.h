// The end of a fit: the model file, the run record beside it, and the summary.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "cli/command.h"
#include "jeffreys/fit/fit_table.h"

namespace jeffreys::cli {

struct FinishedFit {
  std::string source;           // the table
  std::filesystem::path model;  // the record is MODEL.run.json
  const PreparedTable& table;
  const FitOptions& options;
  const FitOptions& defaults;
  const FitReport& report;
  // Writes the model file, with this record in it.
  std::function<void(const std::string& record)> save;
  Json more = Json::object();  // for the record beside it
};

// Writes both files, prints the summary (or its JSON), removes checkpoints, and sets the exit code
// of a diverged fit. Of an interrupted one it only says how to go on.
void finish_fit(const FinishedFit& fit, const FitRun& run, Globals& globals);

}  // namespace jeffreys::cli
