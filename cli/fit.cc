#include <fmt/format.h>

#include "cli/load.h"
#include "cli/progress.h"
#include "cli/run_record.h"
#include "cli/summary.h"
#include "cli/training.h"
#include "jeffreys/base/assignment.h"
#include "jeffreys/table/table_file.h"

namespace jeffreys::cli {
namespace {

struct FitArguments {
  std::string table;
  std::string model;
  std::vector<std::string> condition;
  std::vector<std::string> categorical;
  std::vector<std::string> integer;
  std::vector<std::string> ignore;
  std::vector<std::string> bounds;
  std::string ties, standardize, calibration, weights;
  bool list_settings = false;
  TableOptions reading;
  std::shared_ptr<TrainingArguments> training = std::make_shared<TrainingArguments>();
};

// name=lower:upper, either side may be empty
std::pair<std::string, Bounds> parse_bound(const std::string& text) {
  constexpr const char* kForm = "COLUMN=LOWER:UPPER, for example age=0:120 or price=0:";
  const auto [column, range] = split_assignment(text, "--bound", kForm, Equals::last);
  const std::size_t colon = range.find(':');
  const auto side = [&](const std::string& part, double absent) {
    const std::optional<double> value = part.empty() ? absent : read_number(part);
    if (colon != std::string::npos && value) return *value;
    throw UsageError(fmt::format("--bound: expected {}, got '{}'", kForm, text));
  };
  Bounds bounds;
  bounds.lower = side(range.substr(0, colon), bounds.lower);
  bounds.upper = side(range.substr(colon + 1), bounds.upper);
  return {column, bounds};
}

SchemaOptions column_options(const FitArguments& a) {
  SchemaOptions schema;
  schema.condition = a.condition;
  schema.categorical = a.categorical;
  schema.integer = a.integer;
  schema.ignore = a.ignore;
  schema.weights = a.weights;
  for (const std::string& text : a.bounds) schema.bounds.insert(parse_bound(text));
  return schema;
}

void print_settings(const Globals& globals) {
  const FitOptions options = default_fit_options(1000, 2, 0);
  if (globals.json) {
    print_json(settings_json(options, options));
    return;
  }
  print_line(
      "Settings for --set KEY=VALUE and for files, with the defaults for 1000 rows of 2 columns:");
  for (const Setting& setting : list_settings(options)) {
    print_line(fmt::format("  {:<28} {:<16} {}", setting.key, setting.value, setting.help));
  }
  print_line("Presets (--preset NAME):");
  for (const Preset& preset : presets()) {
    print_line(fmt::format("  {:<28} {}", preset.name, preset.description));
  }
}

void run_fit(FitArguments& a, Globals& globals) {
  if (a.list_settings) {
    print_settings(globals);
    return;
  }
  if (a.table.empty())
    throw UsageError("fit: which table? For example: jeffreys fit table.csv -o table.model");
  const std::filesystem::path model =
      a.model.empty() ? std::filesystem::path(a.table).filename().replace_extension(".model")
                      : std::filesystem::path(a.model);
  require_other_file(model.string(), {a.table});
  a.training->named = {
      {"ties", a.ties}, {"standardize", a.standardize}, {"calibration.fraction", a.calibration}};
  TableOptions reading = a.reading;
  reading.text_columns = a.categorical;
  const Table table = read_table(a.table, reading);
  require_writable(model);
  const FitRun run = fit_run(*a.training, model, globals);
  const StopOnSignal signals;
  TableFit made = fit_table(table, column_options(a), chosen_settings(*a.training), run);
  const auto save = [&](const std::string& record) {
    made.fit.density.record = record;
    made.fit.density.save(model);
  };
  finish_fit({.source = a.table,
              .model = model,
              .table = made.table,
              .options = made.options,
              .defaults = made.defaults,
              .report = made.fit.report,
              .save = save},
             run, globals);
}

}  // namespace

void add_fit(CLI::App& app, Globals& globals) {
  auto a = std::make_shared<FitArguments>();
  CLI::App* command = app.add_subcommand("fit", "Fit a density to a table");
  command->add_option("table", a->table, "CSV, NPY or NPZ file");
  command->add_option("-o,--output", a->model,
                      "Model file (default: the table's name with .model)");
  command->add_option("--condition", a->condition, "Columns that the others are conditioned on")
      ->delimiter(',');
  command->add_option("--categorical", a->categorical, "Columns that hold categories")
      ->delimiter(',');
  command->add_option("--integer", a->integer, "Columns that hold whole numbers")->delimiter(',');
  command->add_option("--ignore", a->ignore, "Columns to leave out")->delimiter(',');
  command->add_option("--bound", a->bounds, "COLUMN=LOWER:UPPER, for example age=0:120 or price=0:")
      ->delimiter(',');
  command->add_option("--weights", a->weights, "Column that says how much each row counts");
  add_training_options(*command, a->training,
                       "dual (default), fixed-epsilon, weighted, mle, mle-noise, mle-entropy");
  command->add_flag("--settings", a->list_settings, "List all settings and presets, and stop");
  command->add_option("--ties", a->ties, "Repeated values: dequantize (default) or keep");
  command->add_option("--standardize", a->standardize, "On training rows (default) or all");
  command->add_option("--calibration", a->calibration,
                      "Share of the rows to keep for the p-values of `log_prob --percentile` "
                      "(default: none below 1000 rows, then 5 %)");
  command->add_option("--array", a->reading.array, "Which array of an NPZ file");
  command->footer(
      "Examples:\n"
      "  jeffreys fit table.csv -o table.model\n"
      "  jeffreys fit table.csv --condition temperature --bound price=0: --ignore id\n"
      "  jeffreys fit table.csv --preset thorough --set learning_rate.main=5e-4 --time-limit 600\n"
      "  jeffreys fit table.csv --method mle -o baseline.model");
  command->callback([a, &globals] { run_fit(*a, globals); });
}

}  // namespace jeffreys::cli
