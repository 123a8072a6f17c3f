#include "cli/run_record.h"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "cli/summary.h"
#include "jeffreys/storage/atomic_file.h"

namespace jeffreys::cli {
namespace {

// Mean negative log densities in the table's units over the iterations.
Json curves_json(const Json& units, const TrainResult& training) {
  const double trained = units.at("training").is_number() ? units["training"].get<double>() : NAN;
  const double held_out = units.at("held_out").is_number() ? units["held_out"].get<double>() : NAN;
  Json steps = Json::object({{"iteration", Json::array()}, {"training_nll", Json::array()}});
  for (const StepRecord& step : training.history) {
    steps["iteration"].push_back(step.iteration);
    steps["training_nll"].push_back(number(step.divergences.forward + trained));
  }
  Json evaluations = Json::object(
      {{"iteration", Json::array()}, {"main_nll", Json::array()}, {"proxy_nll", Json::array()}});
  for (const Evaluation& evaluation : training.evaluations) {
    evaluations["iteration"].push_back(evaluation.iteration);
    evaluations["main_nll"].push_back(number(evaluation.main + held_out));
    evaluations["proxy_nll"].push_back(number(evaluation.proxy + held_out));
  }
  return {{"training", steps}, {"held_out", evaluations}};
}

}  // namespace

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
  record["curves"] = curves_json(record["units"], training);
  const std::string text = record.dump(2) + "\n";
  storage::write_file_atomically(fit.model.string() + ".run.json", std::as_bytes(std::span(text)));
  // Before anything is printed, which may fail.
  run.remove_unfinished();
  if (training.stop_reason == StopReason::diverged) {
    globals.exit_code = ExitCode::diverged;
    tell(
        fmt::format("jeffreys: training diverged after {} iterations; the model is its last good "
                    "state. A lower learning rate may help: --set learning_rate.main=1e-4\n",
                    training.iterations));
  }
  if (globals.json) {
    print_json(record);
  } else if (!globals.quiet) {
    print_line(summary_text(fit.table, fit.report));
    print_line(fmt::format("model: {0}   run record: {0}.run.json", fit.model.string()));
  }
}

}  // namespace jeffreys::cli
