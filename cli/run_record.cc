#include "cli/run_record.h"

#include <fmt/format.h>

#include <span>

#include "cli/summary.h"
#include "jeffreys/storage/atomic_file.h"

namespace jeffreys::cli {

void finish_fit(const FinishedFit& fit, const FitRun& run, Globals& globals) {
  const TrainResult& training = fit.report.training;
  if (training.stop_reason == StopReason::interrupted) {
    const bool several = std::filesystem::exists(run.folder);
    say(globals,
        fmt::format("interrupted after {} iterations; {} is saved: go on with --resume",
                    training.iterations, (several ? run.folder : run.checkpoint).string()));
    globals.exit_code = ExitCode::failed;
    return;
  }
  const std::string kept = fit_record(fit.source, fit.table, fit.options, fit.defaults, fit.report);
  fit.save(kept);
  Json record = Json::parse(kept);
  record["model"] = fit.model.string();
  record["result"] = summary_json(fit.table, fit.report);
  record["threads"] = run.threads;
  record.update(fit.more);
  const std::string text = record.dump(2) + "\n";
  storage::write_file_atomically(fit.model.string() + ".run.json", std::as_bytes(std::span(text)));
  if (globals.json) {
    print_json(record);
  } else if (!globals.quiet) {
    print_line(summary_text(fit.table, fit.report));
    print_line(fmt::format("model: {0}   run record: {0}.run.json", fit.model.string()));
  }
  if (training.stop_reason == StopReason::diverged) globals.exit_code = ExitCode::diverged;
  run.remove_unfinished();
}

}  // namespace jeffreys::cli
