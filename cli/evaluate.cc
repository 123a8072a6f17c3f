#include <fmt/format.h>

#include <optional>

#include "cli/load.h"
#include "cli/summary.h"
#include "cli/synthetic.h"
#include "jeffreys/fit/evaluate_density.h"

namespace jeffreys::cli {
namespace {

struct EvaluateArguments {
  std::string model;
  std::string table;
  std::string from;
  std::string weights;
  ReadingArguments reading;
  std::string synthetic;
  std::string training;
  std::string figure;
};

// Adds what is to be said about a synthetic table.
void check_synthetic_table(const EvaluateArguments& a, const Schema& schema, const Table& real,
                           Json& json, std::vector<std::string>& lines) {
  ReadingArguments reading = a.reading;
  reading.array.clear();  // that of the table
  const Table synthetic = read_table_for(a.synthetic, schema, reading);
  std::optional<Table> training;
  if (!a.training.empty()) training = read_table_for(a.training, schema, reading);
  const SyntheticCheck check =
      check_synthetic(schema, real, synthetic, training ? &*training : nullptr);
  const Table& learned = training ? *training : real;
  json["synthetic"] = synthetic_json(check, synthetic, learned);
  for (const std::string& line : synthetic_lines(check, synthetic, learned)) lines.push_back(line);
  const std::string figure =
      a.figure.empty()
          ? std::filesystem::path(a.synthetic).filename().replace_extension(".check.svg").string()
          : a.figure;
  require_other_file(figure, {a.model, a.table, a.synthetic, a.training});
  draw_synthetic(check, figure);
  json["synthetic"]["figure"] = figure;
  lines.push_back("figure: " + figure);
}

void run_evaluate(const EvaluateArguments& a, const Globals& globals) {
  if (a.synthetic.empty() && !(a.training.empty() && a.figure.empty())) {
    throw UsageError("--training and --output belong to --synthetic ROWS: which synthetic rows?");
  }
  if (!a.figure.empty()) require_folder(a.figure);
  const auto density = TabularDensity<float>::load(a.model);
  const Table table = read_table_for(a.table, density.schema(), a.reading);
  Json json{{"model", a.model}, {"table", a.table}, {"default", name_of(density.chosen())}};
  const DensityEvaluation found = evaluate_density(density, table, a.weights);
  std::vector<std::string> lines{
      fmt::format("mean negative log density of {}, nats a row{}", a.table,
                  found.weights.empty()
                      ? ""
                      : fmt::format("; rows count as much as column \"{}\" says", found.weights))};
  if (!found.weights.empty()) json["weights"] = found.weights;
  const bool both = a.from.empty();
  const From only = chosen_from(a.from, density);
  for (const From from : {From::main, From::proxy}) {
    if ((from == From::proxy && !found.proxy) || (!both && from != only)) continue;
    const MeanNll& nll = from == From::main ? found.main : *found.proxy;
    json[name_of(from)] = nll_json(nll);
    json["dropped_rows"] = found.dropped;
    json["rows_with_gaps"] = found.with_gaps;
    lines.push_back(fmt::format("  {:<6} {:.4f} +- {:.4f}{}", name_of(from), nll.nll,
                                nll.standard_error,
                                density.chosen() == from ? "  <- used by default" : ""));
    if (from == only && found.dropped > 0) {
      lines.push_back(fmt::format("  {} rows with missing values were left out", found.dropped));
    }
    if (from == only && found.with_gaps > 0) {
      lines.push_back(fmt::format("  {} rows with missing values count with the cells they have",
                                  found.with_gaps));
    }
  }
  if (found.reverse && both) {
    const auto& [kl, importance, samples] = *found.reverse;
    json["reverse_kl"] = {{"kl", number(kl.mean)},
                          {"standard_error", number(kl.standard_error)},
                          {"samples", samples},
                          {"effective_sample_size", number(importance.effective_sample_size)},
                          {"pareto_k", number(importance.pareto_k)}};
    // Of an energy proxy, from more samples, these are the energy check's, which follows.
    json["effective_sample_size"] = number(importance.effective_sample_size);
    json["pareto_k"] = number(importance.pareto_k);
    lines.push_back(fmt::format(
        "KL(main || proxy) {:.4f} +- {:.4f}, effective sample size {:.1f} %, Pareto k {:.2f}, from "
        "{} samples of main",
        kl.mean, kl.standard_error, 100 * importance.effective_sample_size, importance.pareto_k,
        samples));
  }
  if (found.energy.conditions > 0 && (both || only == From::proxy)) {
    json.update(energy_json(found.energy));
    json["warnings"] = found.energy.warnings();
    lines.push_back(energy_line(found.energy));
    for (const std::string& warning : found.energy.warnings()) {
      lines.push_back("warning: " + warning);
    }
  }
  if (!a.synthetic.empty()) {
    check_synthetic_table(a, density.schema(), table, json, lines);
  }
  if (density.schema().outdated()) {
    json["advice"] = kOutdated;
    lines.emplace_back(kOutdated);
  }
  if (globals.json) {
    print_json(json);
  } else {
    for (const std::string& line : lines) print_line(line);
  }
}

}  // namespace

void add_evaluate(CLI::App& app, Globals& globals) {
  auto a = std::make_shared<EvaluateArguments>();
  CLI::App* command =
      app.add_subcommand("evaluate", "How well a model fits a table, and how its two parts agree");
  command->add_option("model", a->model, "Model file")->required();
  command->add_option("table", a->table, "Rows that the model has not seen")->required();
  command->add_option("--synthetic", a->synthetic,
                      "Synthetic rows: do they look like the table's, and are some of them copies? "
                      "The table is then what the model learned from, unless --training says");
  command->add_option("--training", a->training,
                      "Rows that the model learned from, where the table holds others");
  command->add_option(
      "-o,--output", a->figure,
      "Figure of that check, .svg or .png (default: the rows' name with .check.svg)");
  command->add_option("--weights", a->weights,
                      "Column that says how much each row counts (default: that of the fit)");
  add_from(*command, a->from);
  add_reading_options(*command, a->reading);
  command->footer(
      "Examples:\n"
      "  jeffreys evaluate table.model test.csv --json\n"
      "  jeffreys sample table.model -n 1000 -o rows.csv\n"
      "  jeffreys evaluate table.model table.csv --synthetic rows.csv      can they be published?\n"
      "  jeffreys evaluate table.model test.csv --synthetic rows.csv --training table.csv");
  command->callback([a, &globals] { run_evaluate(*a, globals); });
}

}  // namespace jeffreys::cli
