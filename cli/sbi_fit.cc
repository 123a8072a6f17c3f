#include <fmt/format.h>

#include "cli/load.h"
#include "cli/progress.h"
#include "cli/run_record.h"
#include "cli/sbi.h"
#include "cli/summary.h"
#include "cli/training.h"
#include "jeffreys/sbi/posterior_fit.h"
#include "jeffreys/table/table_file.h"

namespace jeffreys::cli {
namespace {

struct SbiFitArguments {
  std::string pairs;
  std::string model;
  std::vector<std::string> parameters;
  ReadingArguments reading;
  std::string members;
  SimulatorArguments simulator;
  std::shared_ptr<TrainingArguments> training = std::make_shared<TrainingArguments>();
};

void require_sense(const SbiFitArguments& a) {
  if (a.pairs.empty() == !a.simulator.given()) {
    throw UsageError(
        "sbi fit: give either a table of pairs or a simulator, for example: jeffreys sbi fit "
        "pairs.csv --parameters a,b --outcomes x,y -o posterior.model");
  }
  if (a.simulator.given() && a.simulator.rows < 1) {
    throw UsageError("sbi fit: how many simulations? For example: -n 1000");
  }
  if (!a.simulator.given() && a.simulator.rows > 0) {
    throw UsageError("sbi fit: -n is for a simulator; all rows of a table are used");
  }
  if (a.simulator.given() && !a.parameters.empty()) {
    throw UsageError("sbi fit: --parameters is for a table; a simulator's are those of the prior");
  }
  if (a.model.empty()) throw UsageError("sbi fit: where to? Give -o POSTERIOR");
  require_other_file(a.model, {a.pairs, a.simulator.prior, a.training->config});
}

// Nothing if it was interrupted. Tells `record` what became of the simulations.
std::optional<Table> simulated_table(SbiFitArguments& a, const std::string& file,
                                     const Globals& globals, Json& record) {
  a.simulator.seed = a.training->seed;
  Simulations simulations = simulate_pairs(a.simulator, file + ".journal", globals);
  if (simulations.report.stopped) {
    say(globals, fmt::format("stopped; {} of {} rows are in {}.journal: the same command goes on",
                             simulations.report.finished + simulations.report.failed(),
                             simulations.report.requested, file));
    return {};
  }
  record["simulations"] = report_json(simulations.report);
  simulations.table.source = file;
  write_table(file, simulations.table);
  say(globals, fmt::format("{} pairs: {}", simulations.report.finished, file));
  return std::move(simulations.table);
}

// Says what the pairs said that were left out, and keeps it for the record.
void add_committee(const CommitteeReport& report, const Globals& globals, Json& record) {
  say(globals, fmt::format("NLL of the pairs: {:.3f} by a fit that left them out, {:.3f} by all "
                           "that did, corrected; their regions of 90 % held {:.1f} % before",
                           report.alone.nll, report.corrected.nll, 100 * report.coverage90));
  record["committee"] = {{"one_member", nll_json(report.alone)},
                         {"corrected", nll_json(report.corrected)},
                         {"coverage_90", number(report.coverage90)}};
}

void run_fit(SbiFitArguments& a, Globals& globals) {
  require_sense(a);
  const std::optional<Prior> prior = chosen_prior(a.simulator);
  require_writable(a.model);
  const std::string source = a.simulator.given() ? a.model + ".pairs.csv" : a.pairs;
  Json record = Json::object();
  const std::optional<Table> table = a.simulator.given()
                                         ? simulated_table(a, source, globals, record)
                                         : read_table(a.pairs, a.reading.options());
  if (!table) {
    globals.exit_code = ExitCode::failed;
    return;
  }
  if (a.parameters.empty() && !prior) {
    throw UsageError("sbi fit: which columns are parameters? Give --parameters, or a --prior");
  }
  const FitRun run = fit_run(*a.training, a.model, globals);
  const StopOnSignal signals;
  a.training->named = {{"members", a.members}};
  PosteriorFit made = fit_posterior(*table, {a.parameters, a.simulator.outcomes}, prior,
                                    chosen_settings(*a.training), run);
  if (made.committee) add_committee(*made.committee, globals, record);
  const auto save = [&](const std::string& text) {
    made.posterior.set_record(text);
    made.posterior.save(a.model);
  };
  finish_fit({.source = source,
              .model = a.model,
              .table = made.table,
              .options = made.options,
              .defaults = made.defaults,
              .report = made.report,
              .save = save,
              .more = record},
             run, globals);
}

}  // namespace

void add_sbi_fit(CLI::App& sbi, Globals& globals) {
  auto a = std::make_shared<SbiFitArguments>();
  CLI::App* command =
      sbi.add_subcommand("fit", "Fit a posterior to pairs of parameters and outcomes");
  command->add_option("pairs", a->pairs, "Table of pairs: CSV, NPY or NPZ file");
  command->add_option("-o,--output", a->model, "Posterior file");
  command
      ->add_option("--parameters", a->parameters,
                   "Columns that are inferred (default: those of the prior)")
      ->option_text("NAME ...")
      ->delimiter(',');
  command
      ->add_option("--outcomes", a->simulator.outcomes,
                   "Columns that are observed (default: all others), or names for a simulator's")
      ->option_text("NAME ...")
      ->delimiter(',');
  add_reading_options(*command, a->reading);
  add_simulator_options(*command, a->simulator);
  add_retry_option(*command, a->simulator);
  command
      ->add_option(
          "--members", a->members,
          "Fits that each leave out other pairs and correct each other; 1: a single fit, "
          "much quicker, less well calibrated (default: 10, from 5,000 pairs on 5; 1 for fewer "
          "than 100 pairs, from 20,000 on, and for more than ten parameters)")
      ->check(CLI::Range(1, 100));
  add_training_options(
      *command, a->training,
      "mle (default), or dual (default with --proxy), fixed-epsilon, mle-noise, mle-entropy, "
      "weighted");
  command->footer(
      "Without a prior it is the posterior under whatever the table's parameters were drawn from.\n"
      "A simulator's pairs are kept in OUTPUT.pairs.csv and its journal: after Ctrl-C the same\n"
      "command goes on with simulating, and with --resume with training.\n"
      "Examples:\n"
      "  jeffreys sbi fit pairs.csv --parameters a,b --outcomes x,y --prior prior.toml -o p.model\n"
      "  jeffreys sbi fit --simulator ./simulate.py --prior prior.toml -n 10000 -o p.model\n"
      "  jeffreys sbi fit --task two_moons -n 1000 -o moons.model");
  command->callback([a, &globals] { run_fit(*a, globals); });
}

}  // namespace jeffreys::cli
