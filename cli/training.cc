#include "cli/training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "cli/load.h"
#include "cli/progress.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/fit/models.h"
#include "jeffreys/storage/atomic_file.h"

namespace jeffreys::cli {
std::size_t TrainingArguments::thread_count() const {
  return threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

void require_writable(const std::filesystem::path& model) {
  if (std::filesystem::is_directory(model)) {
    throw InputError(model.string(), "is a directory, expected a file name for the model");
  }
  require_folder(model);
  const std::filesystem::path probe = model.string() + ".checkpoint.probe";
  storage::write_file_atomically(probe, {});
  std::filesystem::remove(probe);
}

ChosenSettings chosen_settings(const TrainingArguments& a) {
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
  for (const auto& [key, value] : a.named) {
    add(key, value, "--" + key.substr(0, key.find('.')));
  }
  if (a.seed_given) add("seed", fmt::format("{}", a.seed), "--seed");
  if (a.time_limit > 0) add("time_limit", fmt::format("{}", a.time_limit), "--time-limit");
  if (a.no_validation) add("validation.fraction", "0", "--no-validation");
  return all;
}

FitRun fit_run(const TrainingArguments& a, const std::filesystem::path& model,
               const Globals& globals) {
  return {.threads = a.thread_count(),
          .checkpoint = model.string() + ".checkpoint",
          .folder = model.string() + ".members",
          .resume = a.resume,
          .observe =
              [&globals](const std::string& label, const FitOptions& options,
                         const PreparedTable& table) {
                return std::make_unique<Progress>(globals, label, options, table);
              },
          .should_stop = StopOnSignal::requested,
          .tell = [&globals](const std::string& sentence) { say(globals, sentence); }};
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
  command.add_option("--set", a->set, "Settings; `jeffreys fit --settings` lists them")
      ->option_text("KEY=VALUE ...");
  command.add_option("--missing", a->missing,
                     "Rows with missing values: keep (they count with the values that they have; "
                     "default for tables), drop (default for posteriors) or error");
  add_seed(command, a->seed, "Of all random numbers (default 0)");
  command.get_option("--seed")->each([a](const std::string&) { a->seed_given = true; });
  command
      .add_option("--threads", a->threads, "Default: all cores; the result does not depend on it")
      ->check(CLI::Range(1, 1024));
  command.add_option("--time-limit", a->time_limit, "Seconds of training")->check(positive());
  command.add_flag("--no-validation", a->no_validation, "Hold nothing out, as in the paper");
  command.add_flag("--resume", a->resume, "Go on from the checkpoint of an interrupted fit");
}

}  // namespace jeffreys::cli
