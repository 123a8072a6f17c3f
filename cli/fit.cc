#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "cli/command.h"
#include "cli/config.h"
#include "cli/progress.h"
#include "cli/run_record.h"
#include "cli/summary.h"
#include "jeffreys/data/table_file.h"
#include "jeffreys/input_error.h"
#include "jeffreys/storage/atomic_file.h"
#include "jeffreys/tabular/fit.h"

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
  std::string method, proxy, preset, config, ties, missing, standardize;
  std::vector<std::string> set;
  std::uint64_t seed = 0;
  bool seed_given = false;
  std::size_t threads = 0;
  double time_limit = 0;
  bool resume = false;
  bool no_validation = false;
  bool list_settings = false;
  TableOptions reading;
};

// name=lower:upper, either side may be empty
std::pair<std::string, Bounds> parse_bound(const std::string& text) {
  const auto refuse = [&]() -> UsageError {
    return UsageError(fmt::format(
        "--bound: expected COLUMN=LOWER:UPPER, for example age=0:120 or price=0:, got '{}'", text));
  };
  const std::size_t equals = text.rfind('=');
  const std::size_t colon = text.find(':', equals == std::string::npos ? 0 : equals);
  if (equals == std::string::npos || equals == 0 || colon == std::string::npos) throw refuse();
  const auto side = [&](const std::string& part, double absent) {
    if (part.empty()) return absent;
    try {
      std::size_t end = 0;
      const double value = std::stod(part, &end);
      if (end != part.size()) throw refuse();
      return value;
    } catch (const std::logic_error&) {
      throw refuse();
    }
  };
  Bounds bounds;
  bounds.lower = side(text.substr(equals + 1, colon - equals - 1), bounds.lower);
  bounds.upper = side(text.substr(colon + 1), bounds.upper);
  return {text.substr(0, equals), bounds};
}

// What the user said, in order of precedence: preset, file, --set, and last the options that have a
// name of their own.
struct Overrides {
  std::string preset;
  std::vector<GivenSetting> settings;

  void apply_to(FitOptions& options) const {
    if (!preset.empty()) apply_preset(preset, options);
    cli::apply(settings, options);
  }
};

std::string checked_preset(const GivenSetting& setting) {
  try {
    FitOptions unused;
    apply_preset(setting.value, unused);
    return setting.value;
  } catch (const std::invalid_argument& error) {
    throw InputError(setting.origin, error.what(), setting.line, setting.column);
  }
}

Overrides collect_overrides(const FitArguments& a) {
  Overrides all;
  all.preset = a.preset;
  if (!a.config.empty()) {
    for (GivenSetting& setting : read_config(a.config)) {
      if (setting.key == "preset") {
        if (all.preset.empty()) all.preset = checked_preset(setting);
      } else {
        all.settings.push_back(std::move(setting));
      }
    }
  }
  for (const std::string& text : a.set) all.settings.push_back(parse_set(text));
  const auto add = [&](const char* key, const std::string& value, const char* option) {
    if (!value.empty()) all.settings.push_back({key, value, option});
  };
  add("method", a.method, "--method");
  add("proxy", a.proxy, "--proxy");
  add("ties", a.ties, "--ties");
  add("missing", a.missing, "--missing");
  add("standardize", a.standardize, "--standardize");
  if (a.seed_given) add("seed", fmt::format("{}", a.seed), "--seed");
  if (a.time_limit > 0) add("time_limit", fmt::format("{}", a.time_limit), "--time-limit");
  if (a.no_validation) add("validation.fraction", "0", "--no-validation");
  return all;
}

SchemaOptions column_options(const FitArguments& a) {
  SchemaOptions schema;
  schema.condition = a.condition;
  schema.categorical = a.categorical;
  schema.integer = a.integer;
  schema.ignore = a.ignore;
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

// Fails now rather than after an hour of training.
void require_writable(const std::filesystem::path& path) {
  const std::filesystem::path folder =
      path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  if (std::filesystem::is_directory(path)) {
    throw InputError(path.string(), "is a directory, expected a file name for the model");
  }
  if (!std::filesystem::is_directory(folder)) {
    throw InputError(path.string(),
                     fmt::format("there is no directory {}: create it first", folder.string()));
  }
  const std::filesystem::path probe = path.string() + ".checkpoint.probe";
  storage::write_file_atomically(probe, {});
  std::filesystem::remove(probe);
}

void run_fit(const FitArguments& a, Globals& globals) {
  if (a.list_settings) {
    print_settings(globals);
    return;
  }
  if (a.table.empty())
    throw UsageError("fit: which table? For example: jeffreys fit table.csv -o table.model");
  const std::filesystem::path model_path =
      a.model.empty() ? std::filesystem::path(a.table).filename().replace_extension(".model")
                      : std::filesystem::path(a.model);
  const std::filesystem::path checkpoint = model_path.string() + ".checkpoint";
  const Overrides overrides = collect_overrides(a);
  FitOptions data_options;
  data_options.schema = column_options(a);
  overrides.apply_to(data_options);
  data_options.schema.validate();

  TableOptions reading = a.reading;
  reading.text_columns = a.categorical;
  const Table table = read_table(a.table, reading);
  require_writable(model_path);
  const PreparedTable prepared = prepare(table, data_options);

  FitOptions defaults = default_fit_options(prepared.rows(), prepared.schema.features(),
                                            prepared.schema.context_features(), data_options.proxy);
  defaults.proxy = FitOptions().proxy;  // so that the record shows another one as chosen
  FitOptions options = defaults;
  options.schema = column_options(a);
  overrides.apply_to(options);
  options.train.checkpoint.path = checkpoint;
  options.train.validate();
  if (!a.resume && std::filesystem::exists(checkpoint)) {
    throw InputError(checkpoint.string(),
                     "the checkpoint of an unfinished fit: go on with --resume, or delete it");
  }
  if (a.resume && !std::filesystem::exists(checkpoint)) {
    say(globals, "no checkpoint to resume from: starting anew");
  }
  const std::size_t threads =
      a.threads > 0 ? a.threads : std::max(1U, std::thread::hardware_concurrency());
  const StopOnSignal signals;
  const double shift = prepared.validation_log_jacobian.size() > 0
                           ? -prepared.validation_log_jacobian.mean()
                           : -prepared.log_jacobian.mean();
  Fit result = [&] {
    Progress progress(globals, "fit", options.train.iterations, shift);
    return fit(prepared, options, threads, a.resume, &progress);
  }();

  if (result.report.training.stop_reason == StopReason::interrupted) {
    say(globals, fmt::format("interrupted after {} iterations; {} is saved: go on with --resume",
                             result.report.training.iterations, checkpoint.string()));
    globals.exit_code = ExitCode::failed;
    return;
  }
  finish_fit({.source = a.table, .model = model_path, .threads = threads}, prepared, options,
             defaults, result, globals);
  std::filesystem::remove(checkpoint);
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
  command->add_option("--method", a->method,
                      "dual (default), mle, mle-noise, mle-entropy, weighted");
  command->add_option("--proxy", a->proxy, "energy or flow");
  command->add_option("--preset", a->preset, "A collection of settings; --settings lists them");
  command->add_option("--config", a->config, "TOML file with settings");
  command->add_option("--set", a->set, "KEY=VALUE: one setting; --settings lists them")
      ->allow_extra_args(false);
  command->add_flag("--settings", a->list_settings, "List all settings and presets, and stop");
  command->add_option("--ties", a->ties, "Repeated values: dequantize (default) or keep");
  command->add_option("--missing", a->missing, "Rows with missing values: drop (default) or error");
  command->add_option("--standardize", a->standardize, "On training rows (default) or all");
  command->add_option("--seed", a->seed, "Of all random numbers (default 0)")
      ->check(CLI::NonNegativeNumber)
      ->each([a](const std::string&) { a->seed_given = true; });
  command
      ->add_option("--threads", a->threads, "Default: all cores; the result does not depend on it")
      ->check(CLI::Range(1, 1024));
  command->add_option("--time-limit", a->time_limit, "Seconds of training")
      ->check(CLI::PositiveNumber);
  command->add_flag("--no-validation", a->no_validation, "Hold nothing out, as in the paper");
  command->add_flag("--resume", a->resume, "Go on from the checkpoint of an interrupted fit");
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
