#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/load.h"
#include "cli/sbi.h"
#include "cli/training.h"
#include "jeffreys/data/table_file.h"
#include "jeffreys/input_error.h"
#include "jeffreys/sbi/posterior_fit.h"

namespace jeffreys::cli {
namespace {

struct SbiFitArguments {
  std::string pairs;
  std::string model;
  std::vector<std::string> parameters;
  std::string support = "transform";
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

void run_fit(SbiFitArguments& a, Globals& globals) {
  require_sense(a);
  // Who names a proxy wants one.
  if (!a.training->proxy.empty() && a.training->method.empty()) a.training->method = "dual";
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
  const auto defaults = [](const PreparedTable& prepared, ProxyKind proxy) {
    return default_posterior_options(prepared.rows(), prepared.schema.features(),
                                     prepared.schema.context_features(), proxy);
  };
  const auto save = [&](const PreparedTable& prepared, const TabularDensity<float>& density) {
    make_posterior(prepared, density, prior, support).save(a.model);
  };
  run_training({.source = source,
                .table = *table,
                .columns = pair_schema(*table, columns, prior, support),
                .model = a.model,
                .defaults = defaults,
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
  command
      ->add_option(
          "--support", a->support,
          "How samples stay inside the prior: transform (default; folded back over its ends) or "
          "rejection (drawn anew)")
      ->check(CLI::IsMember({"transform", "rejection"}));
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
