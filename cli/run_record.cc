#include "cli/run_record.h"

#include <fmt/format.h>

#include <span>

#include "cli/summary.h"
#include "jeffreys/storage/atomic_file.h"
#include "jeffreys/version.h"

namespace jeffreys::cli {

void finish_fit(const RunInfo& info, const PreparedTable& table, const FitOptions& options,
                const FitOptions& defaults, Fit& fit, Globals& globals) {
  Json record{{"jeffreys", kVersion}, {"table", info.source}, {"model", info.model.string()}};
  record["settings"] = settings_json(options, defaults);
  record["result"] = summary_json(table, fit.report);
  // The model's bytes do not depend on how many threads made it, nor on how long they took.
  fit.density.record = [&] {
    Json kept = record;
    kept.erase("model");
    kept["result"].erase("seconds");
    return kept.dump();
  }();
  for (StepRecord& step : fit.density.history) step.times = {};
  if (info.save) {
    info.save(table, fit.density);
  } else {
    fit.density.save(info.model);
  }

  record["threads"] = info.threads;
  record.update(info.more);
  const std::string text = record.dump(2) + "\n";
  storage::write_file_atomically(info.model.string() + ".run.json", std::as_bytes(std::span(text)));
  if (globals.json) {
    print_json(record);
  } else if (!globals.quiet) {
    print_line(summary_text(table, fit));
    print_line(fmt::format("model: {0}   run record: {0}.run.json", info.model.string()));
  }
  if (fit.report.training.stop_reason == StopReason::diverged) {
    globals.exit_code = ExitCode::diverged;
  }
}

}  // namespace jeffreys::cli
