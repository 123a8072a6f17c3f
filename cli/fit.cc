#include <fmt/format.h>

#include "cli/columns.h"
#include "cli/load.h"
#include "cli/progress.h"
#include "cli/run_record.h"
#include "cli/summary.h"
#include "cli/training.h"

namespace jeffreys::cli {
namespace {

struct FitArguments {
  std::string table;
  std::string model;
  std::string ties, standardize, calibration, members, simple, weights;
  bool list_settings = false;
  bool distill = false;
  std::shared_ptr<ColumnArguments> columns = std::make_shared<ColumnArguments>();
  std::shared_ptr<TrainingArguments> training = std::make_shared<TrainingArguments>();
};

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
  a.training->named = {{"ties", a.ties},
                       {"standardize", a.standardize},
                       {"calibration.fraction", a.calibration},
                       {"members", a.members},
                       {"simple", a.simple},
                       {"distill", a.distill ? "true" : ""}};
  const Table table = a.columns->read(a.table);
  SchemaOptions columns = a.columns->schema(table);
  columns.weights = a.weights;
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
  add_column_options(*command, a->columns);
  command->add_option("--weights", a->weights, "Column that says how much each row counts");
  add_training_options(*command, a->training,
                       "dual (default of a single fit), fixed-epsilon, weighted, mle (default of "
                       "several), mle-noise, mle-entropy");
  command
      ->add_option(
          "--members", a->members,
          "Fits that each leave out other rows and make one density together; 1: a single "
          "fit (default: 10; 1 with --method or --proxy, for fewer than 40 rows and from 20,000 "
          "on)")
      ->check(CLI::Range(1, 100));
  command
      ->add_option(
          "--simple", a->simple,
          "Whether a Gaussian and a mixture of Gaussians may be part of it: true (default) "
          "or false")
      ->check(CLI::IsMember({"true", "false"}));
  command->add_flag("--distill", a->distill,
                    "Let one flow learn what several fits say, and stand in their place: faster, "
                    "smaller, a little worse");
  command->add_flag("--settings", a->list_settings, "List all settings and presets, and stop");
  command->add_option("--ties", a->ties, "Repeated values: dequantize (default) or keep");
  command->add_option("--standardize", a->standardize, "On training rows (default) or all");
  command->add_option("--calibration", a->calibration,
                      "Share of the rows to keep for the p-values of `log_prob --percentile` "
                      "(default: none below 1000 rows, then 5 %)");
  command->footer(
      "Examples:\n"
      "  jeffreys fit table.csv -o table.model\n"
      "  jeffreys fit table.csv --condition temperature --bound price=0: --ignore id\n"
      "  jeffreys fit table.csv --preset thorough --set learning_rate.main=5e-4 --time-limit 600\n"
      "  jeffreys fit table.csv --method mle -o baseline.model\n"
      "  jeffreys fit table.csv --members 1             one fit by the dual method, with its "
      "proxy");
  command->callback([a, &globals] { run_fit(*a, globals); });
}

}  // namespace jeffreys::cli
