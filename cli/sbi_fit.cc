#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/load.h"
#include "cli/progress.h"
#include "cli/sbi.h"
#include "cli/summary.h"
#include "cli/training.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/sbi/committee_fit.h"
#include "jeffreys/table/table_file.h"

namespace jeffreys::cli {
namespace {

struct SbiFitArguments {
  std::string pairs;
  std::string model;
  std::vector<std::string> parameters;
  std::string support = "transform";
  int members = 0;  // 0: by the number of pairs
  SimulatorArguments simulator;
  std::shared_ptr<TrainingArguments> training = std::make_shared<TrainingArguments>();
};

// What the user did not say: the parameters are the prior's, the outcomes are the other columns.
PairColumns pair_columns(const SbiFitArguments& a, const Table& table,
                         const std::optional<Prior>& prior) {
  PairColumns columns{a.parameters, a.simulator.outcomes};
  if (columns.parameters.empty() && prior) columns.parameters = prior->names();
  if (columns.parameters.empty()) {
    throw UsageError("sbi fit: which columns are parameters? Give --parameters, or a --prior");
  }
  if (!columns.outcomes.empty()) return columns;
  for (const Column& column : table.columns) {
    if (std::find(columns.parameters.begin(), columns.parameters.end(), column.name) ==
        columns.parameters.end()) {
      columns.outcomes.push_back(column.name);
    }
  }
  return columns;
}

// A density of a table may have columns of text; a posterior has numbers.
void require_numbers(const Table& table, const PairColumns& columns) {
  for (const auto* names : {&columns.parameters, &columns.outcomes}) {
    for (const std::string& name : *names) {
      const Column* column = table.find(name);
      if (column == nullptr) continue;
      if (column->text_cells > 0) {
        throw InputError(
            table.source,
            fmt::format("column '{}' is numeric but has '{}' in {} cell{}; correct it", name,
                        column->first_text, column->text_cells, column->text_cells == 1 ? "" : "s"),
            table.line(column->first_text_row), column->place);
      }
      if (!column->is_text()) continue;
      throw InputError(table.source,
                       fmt::format("column '{}' holds text, such as '{}'; parameters and outcomes "
                                   "are numbers: write codes, or leave the column out{}",
                                   name, column->labels.empty() ? "" : column->labels.front(),
                                   names == &columns.outcomes ? " with --outcomes" : ""));
    }
  }
}

// The transform refuses such rows itself; rejection would learn from them.
void require_inside(const Table& table, const Prior& prior) {
  for (const Prior::Parameter& parameter : prior.parameters()) {
    const Column* column = table.find(parameter.name);
    for (std::size_t r = 0; column != nullptr && r < column->numbers.size(); ++r) {
      const double value = column->numbers[r];
      if (std::isnan(value) || parameter.distribution.contains(value)) continue;
      throw InputError(
          table.source,
          fmt::format("column '{}' has {}, outside the prior's support {}; correct "
                      "the cell or the prior",
                      parameter.name, value, parameter.distribution.describe_support()),
          table.line(r), column->place);
    }
  }
}

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

// 1 where there is to be one fit alone: members leave out pairs of their own, learn by likelihood,
// and are asked for so many densities that rejection would take hours.
int member_count(const SbiFitArguments& a, std::size_t pairs, std::size_t parameters,
                 const FitOptions& options) {
  const char* reason = nullptr;
  if (needs_proxy(options.train.method)) reason = "a proxy model";
  if (options.validation_fraction >= 0) reason = "a validation.fraction";
  if (a.support == "rejection") reason = "--support rejection";
  if (a.members > 1 && reason != nullptr) {
    throw UsageError(
        fmt::format("--members {} does not go with {}: leave one out", a.members, reason));
  }
  if (a.members > 0) return a.members;
  return reason != nullptr ? 1 : default_members(pairs, parameters);
}

Json committee_json(const CommitteeReport& report) {
  return {{"one_member", nll_json(report.alone)},
          {"corrected", nll_json(report.corrected)},
          {"coverage_90", number(report.coverage90)}};
}

// Nothing if one fit is all there is to be.
std::optional<Trained> train_committee(const SbiFitArguments& a, const Table& table,
                                       std::size_t parameters, const std::optional<Prior>& prior,
                                       const FitOptions& first, const TrainingPlan& plan,
                                       const Globals& globals) {
  const std::size_t pairs = complete_rows(table, first.schema).size();
  const int members = member_count(a, pairs, parameters, first);
  if (members < 2) return {};
  const auto observe = [&](const std::string& label, const FitOptions& options,
                           const PreparedTable& of) {
    return watch_fit(globals, label, options, of);
  };
  const auto members_done = [&] {
    say(globals, fmt::format("{} fits are done; asking them about the pairs that they left out, "
                             "and for what the last fit is to learn",
                             members));
  };
  CommitteeFit result = fit_committee(table, prior, plan.options_for, {.members = members},
                                      {.threads = plan.threads,
                                       .folder = plan.folder,
                                       .resume = plan.resume,
                                       .observe = observe,
                                       .should_stop = StopOnSignal::requested,
                                       .members_done = members_done});
  const FitReport& report = result.fit.report;
  if (report.members == 1) {  // interrupted, or diverged
    return Trained{std::move(result.table), std::move(result.fit), result.trained_on};
  }
  say(globals, fmt::format("NLL of the pairs: {:.3f} by a fit that left them out, {:.3f} by all "
                           "that did, corrected; their regions of 90 % held {:.1f} % before",
                           result.report.alone.nll, result.report.corrected.nll,
                           100 * result.report.coverage90));
  Json more{{"committee", committee_json(result.report)}};
  return Trained{std::move(result.table), std::move(result.fit), result.trained_on,
                 std::move(more)};
}

void run_fit(SbiFitArguments& a, Globals& globals) {
  require_sense(a);
  const Support support = a.support == "rejection" ? Support::rejection : Support::transform;
  const std::optional<Prior> prior = chosen_prior(a.simulator);
  if (support == Support::rejection && !prior) {
    throw UsageError("--support rejection needs a --prior");
  }
  require_writable(a.model);
  const std::string source = a.simulator.given() ? a.model + ".pairs.csv" : a.pairs;
  Json record = Json::object();
  const std::optional<Table> table =
      a.simulator.given() ? simulated_table(a, source, globals, record) : read_table(a.pairs);
  if (!table) {
    globals.exit_code = ExitCode::failed;
    return;
  }
  const PairColumns columns = pair_columns(a, *table, prior);
  require_numbers(*table, columns);
  if (support == Support::rejection) require_inside(*table, *prior);
  const auto save = [&](const PreparedTable& prepared, const TabularDensity<float>& density) {
    make_posterior(prepared, density, prior, support).save(a.model);
  };
  const auto train = [&](const FitOptions& first, const TrainingPlan& plan) {
    return train_committee(a, *table, columns.parameters.size(), prior, first, plan, globals);
  };
  run_training({.source = source,
                .table = *table,
                .columns = pair_schema(*table, columns, prior, support),
                .model = a.model,
                .defaults = default_posterior_options,
                .train = train,
                .save = save,
                .more = record},
               *a.training, globals);
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
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--outcomes", a->simulator.outcomes,
                   "Columns that are observed (default: all others), or names for a simulator's")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_simulator_options(*command, a->simulator);
  add_retry_option(*command, a->simulator);
  command
      ->add_option(
          "--support", a->support,
          "How samples stay inside the prior: transform (default; folded back over its ends) or "
          "rejection (drawn anew)")
      ->check(CLI::IsMember({"transform", "rejection"}));
  command
      ->add_option(
          "--members", a->members,
          "Fits that each leave out other pairs and correct each other; 1: a single fit, "
          "much quicker, less well calibrated (default: 10, from 5,000 pairs on 5; 1 for fewer "
          "than 100 pairs, from 20,000 on, and for more than ten parameters)")
      ->check(CLI::Range(1, 100));
  add_training_options(*command, a->training,
                       "mle (default), or dual (default with --proxy), mle-noise, mle-entropy, "
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
