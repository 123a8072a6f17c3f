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
  std::string ties, standardize, calibration;
  bool list_settings = false;
  ReadingArguments reading;
  std::shared_ptr<TrainingArguments> training = std::make_shared<TrainingArguments>();
};

// name=lower:upper, either side may be empty; numbers, or dates and times as in the table, which
// may have colons themselves.
std::pair<std::string, Bounds> parse_bound(const std::string& text, const Table& table) {
  constexpr const char* kForm = "COLUMN=LOWER:UPPER, for example age=0:120 or price=0:";
  const auto [name, range] = split_assignment(text, "--bound", kForm, Equals::last);
  const Column* column = table.find(name);
  const auto side = [&](const std::string& part, double absent) -> std::optional<double> {
    if (part.empty()) return absent;
    const auto written = column != nullptr ? column->notation.read(part) : std::nullopt;
    return written ? written : read_number(part);
  };
  for (std::size_t colon = range.find(':'); colon != std::string::npos;
       colon = range.find(':', colon + 1)) {
    const auto lower = side(range.substr(0, colon), Bounds().lower);
    const auto upper = side(range.substr(colon + 1), Bounds().upper);
    if (lower && upper) return {name, {.lower = *lower, .upper = *upper}};
  }
  throw UsageError(fmt::format("--bound: expected {}, got '{}'", kForm, text));
}

SchemaOptions column_options(const FitArguments& a, const Table& table) {
  SchemaOptions schema;
  schema.condition = a.condition;
  schema.categorical = a.categorical;
  schema.integer = a.integer;
  schema.ignore = a.ignore;
  for (const std::string& text : a.bounds) schema.bounds.insert(parse_bound(text, table));
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
  const Table table =
      read_table(a.table, a.reading.options(TableOptions{.text_columns = a.categorical}));
  const SchemaOptions columns = column_options(a, table);
  require_writable(model);
  const FitRun run = fit_run(*a.training, model, globals);
  const StopOnSignal signals;
  TableFit made = fit_table(table, columns, chosen_settings(*a.training), run);
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
  add_training_options(*command, a->training,
                       "dual (default), fixed-epsilon, weighted, mle, mle-noise, mle-entropy");
  command->add_flag("--settings", a->list_settings, "List all settings and presets, and stop");
  command->add_option("--ties", a->ties, "Repeated values: dequantize (default) or keep");
  command->add_option("--standardize", a->standardize, "On training rows (default) or all");
  command->add_option("--calibration", a->calibration,
                      "Share of the rows to keep for the p-values of `log_prob --percentile` "
                      "(default: none below 1000 rows, then 5 %)");
  add_reading_options(*command, a->reading);
  command->footer(
      "Examples:\n"
      "  jeffreys fit table.csv -o table.model\n"
      "  jeffreys fit table.csv --condition temperature --bound price=0: --ignore id\n"
      "  jeffreys fit table.csv --preset thorough --set learning_rate.main=5e-4 --time-limit 600\n"
      "  jeffreys fit table.csv --method mle -o baseline.model");
  command->callback([a, &globals] { run_fit(*a, globals); });
}

}  // namespace jeffreys::cli
