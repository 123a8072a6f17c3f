#include "cli/training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "cli/progress.h"
#include "cli/run_record.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/fit/chosen_settings.h"
#include "jeffreys/fit/models.h"
#include "jeffreys/storage/atomic_file.h"

namespace jeffreys::cli {
namespace {

ChosenSettings collect_settings(const TrainingArguments& a) {
  ChosenSettings all;
  if (!a.preset.empty()) all.choose_preset(a.preset);
  if (!a.config.empty()) all.add_file(a.config);
  for (const std::string& text : a.set) all.add_text(text, "--set");
  const auto add = [&](const std::string& key, const std::string& value,
                       const std::string& option) {
    if (!value.empty()) all.add(key, value, option);
  };
  add("method", a.method, "--method");
  add("proxy", a.proxy, "--proxy");
  add("missing", a.missing, "--missing");
  for (const auto& [key, value] : a.named) add(key, value, "--" + key);
  if (a.seed_given) add("seed", fmt::format("{}", a.seed), "--seed");
  if (a.time_limit > 0) add("time_limit", fmt::format("{}", a.time_limit), "--time-limit");
  if (a.no_validation) add("validation.fraction", "0", "--no-validation");
  return all;
}

// Of one fit a checkpoint is left, of several a folder.
void check_checkpoint(const std::filesystem::path& checkpoint, const std::filesystem::path& folder,
                      bool resume, const Globals& globals) {
  bool found = false;
  for (const auto& [path, what] :
       {std::pair{checkpoint, "the checkpoint"}, std::pair{folder, "the folder"}}) {
    if (!std::filesystem::exists(path)) continue;
    found = true;
    if (resume) continue;
    throw InputError(
        path.string(),
        fmt::format("{} of an unfinished fit: go on with --resume, or delete it", what));
  }
  if (resume && !found) say(globals, "no checkpoint to resume from: starting anew");
}

// What to add to a model's NLL for the user's units.
double nll_shift(const PreparedTable& table) {
  return table.validation_log_jacobian.size() > 0 ? -table.validation_log_jacobian.mean()
                                                  : -table.log_jacobian.mean();
}

// By one fit of the prepared table.
Trained train_once(PreparedTable table, const FitOptions& options, const TrainingPlan& plan,
                   const Globals& globals) {
  Progress progress(globals, "fit", options.train.iterations, nll_shift(table));
  Fit result = fit(table, options, plan.threads, plan.resume, &progress);
  const std::size_t rows = table.rows();
  return {.table = std::move(table), .fit = std::move(result), .rows = rows};
}

}  // namespace

std::size_t TrainingArguments::thread_count() const {
  return threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

void require_writable(const std::filesystem::path& model) {
  const std::filesystem::path folder =
      model.has_parent_path() ? model.parent_path() : std::filesystem::path(".");
  if (std::filesystem::is_directory(model)) {
    throw InputError(model.string(), "is a directory, expected a file name for the model");
  }
  if (!std::filesystem::is_directory(folder)) {
    throw InputError(model.string(),
                     fmt::format("there is no directory {}: create it first", folder.string()));
  }
  const std::filesystem::path probe = model.string() + ".checkpoint.probe";
  storage::write_file_atomically(probe, {});
  std::filesystem::remove(probe);
}

std::unique_ptr<TrainObserver> watch_fit(const Globals& globals, const std::string& label,
                                         const FitOptions& options, const PreparedTable& table) {
  return std::make_unique<Progress>(globals, label, options.train.iterations, nll_shift(table));
}

void run_training(const TrainingTask& task, const TrainingArguments& a, Globals& globals) {
  const std::filesystem::path checkpoint = task.model.string() + ".checkpoint";
  const ChosenSettings chosen = collect_settings(a);
  FitOptions data_options;
  data_options.schema = task.columns;
  chosen.apply_to(data_options);
  data_options.schema.validate();
  require_writable(task.model);
  PreparedTable prepared = prepare(task.table, data_options);

  const std::size_t features = prepared.schema.features();
  const std::size_t conditions = prepared.schema.context_features();
  const auto defaults_for = [&](std::size_t rows) {
    return chosen.defaults(task.defaults, rows, features, conditions);
  };
  const TrainingPlan plan{.options_for =
                              [&](std::size_t rows) {
                                FitOptions options = defaults_for(rows);
                                options.schema = task.columns;
                                chosen.apply_to(options);
                                options.train.checkpoint.path = checkpoint;
                                options.train.validate();
                                return options;
                              },
                          .threads = a.thread_count(),
                          .resume = a.resume,
                          .folder = task.model.string() + ".members"};
  const FitOptions options = plan.options_for(prepared.rows());
  check_checkpoint(checkpoint, plan.folder, a.resume, globals);
  const StopOnSignal signals;
  std::optional<Trained> trained;
  if (task.train) trained = task.train(options, plan);
  if (!trained) trained = train_once(std::move(prepared), options, plan, globals);

  const TrainResult& training = trained->fit.report.training;
  if (training.stop_reason == StopReason::interrupted) {
    const bool folder = std::filesystem::exists(plan.folder);
    say(globals, fmt::format("interrupted after {} iterations; {} is saved: go on with --resume",
                             training.iterations, (folder ? plan.folder : checkpoint).string()));
    globals.exit_code = ExitCode::failed;
    return;
  }
  Json more = task.more;
  more.update(trained->more);
  finish_fit({.source = task.source,
              .model = task.model,
              .threads = a.thread_count(),
              .save = task.save,
              .more = more},
             trained->table, plan.options_for(trained->rows), defaults_for(trained->rows),
             trained->fit, globals);
  std::filesystem::remove(checkpoint);
  std::filesystem::remove_all(plan.folder);
}

void add_training_options(CLI::App& command, const std::shared_ptr<TrainingArguments>& a,
                          const std::string& methods) {
  command.add_option("--method", a->method, methods);
  std::vector<std::string> models;
  for (const ModelChoiceInfo& choice : model_choices()) models.push_back(choice.name);
  command.add_option("--proxy", a->proxy, fmt::format("Proxy model: {}", fmt::join(models, ", ")));
  command.add_option("--preset", a->preset,
                     "A collection of settings; `jeffreys fit --settings` lists them");
  command.add_option("--config", a->config, "TOML file with settings");
  command
      .add_option("--set", a->set, "KEY=VALUE: one setting; `jeffreys fit --settings` lists them")
      ->allow_extra_args(false);
  command.add_option("--missing", a->missing, "Rows with missing values: drop (default) or error");
  command.add_option("--seed", a->seed, "Of all random numbers (default 0)")
      ->check(CLI::NonNegativeNumber)
      ->each([a](const std::string&) { a->seed_given = true; });
  command
      .add_option("--threads", a->threads, "Default: all cores; the result does not depend on it")
      ->check(CLI::Range(1, 1024));
  command.add_option("--time-limit", a->time_limit, "Seconds of training")
      ->check(CLI::PositiveNumber);
  command.add_flag("--no-validation", a->no_validation, "Hold nothing out, as in the paper");
  command.add_flag("--resume", a->resume, "Go on from the checkpoint of an interrupted fit");
}

}  // namespace jeffreys::cli
