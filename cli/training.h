// What every command that trains has in common: settings, checkpoints, records.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "jeffreys/fit/chosen_settings.h"
#include "jeffreys/fit/fit.h"

namespace jeffreys::cli {

struct TrainingArguments {
  std::string method, proxy, preset, config, missing;
  std::vector<std::string> set;
  std::vector<std::pair<std::string, std::string>> named =
      {};  // settings with options of their own
  std::uint64_t seed = 0;
  bool seed_given = false;
  std::size_t threads = 0;
  double time_limit = 0;
  bool resume = false;
  bool no_validation = false;

  [[nodiscard]] std::size_t thread_count() const;
};

// methods: how --method is described.
void add_training_options(CLI::App& command, const std::shared_ptr<TrainingArguments>& a,
                          const std::string& methods);

// What training has to know: the settings of a fit to so many training rows, and how to go on.
struct TrainingPlan {
  std::function<FitOptions(std::size_t rows)> options_for;
  std::size_t threads = 1;
  bool resume = false;
  std::filesystem::path folder;  // for whatever must outlive an interruption beside the checkpoint
};

// What came of it, where it is more than one fit of the prepared table.
struct Trained {
  PreparedTable table;
  Fit fit;
  std::size_t rows = 0;        // that the model was trained on: its settings are those for so many
  Json more = Json::object();  // for the record
};

struct TrainingTask {
  std::string source;  // where the table came from
  const Table& table;
  SchemaOptions columns;
  std::filesystem::path model;
  // The defaults for a table of so many training rows, features and context features.
  DefaultOptions defaults;
  // Trains in another way than by one fit, or says nothing. `first` has the settings of that fit.
  std::function<std::optional<Trained>(const FitOptions& first, const TrainingPlan& plan)> train =
      {};
  // Writes the model file; empty: the density itself.
  std::function<void(const PreparedTable&, const TabularDensity<float>&)> save = {};
  Json more = Json::object();  // for the record: where the table came from
};

// Fails now rather than after an hour of training.
void require_writable(const std::filesystem::path& model);

// The progress line of one fit among several.
[[nodiscard]] std::unique_ptr<TrainObserver> watch_fit(const Globals& globals,
                                                       const std::string& label,
                                                       const FitOptions& options,
                                                       const PreparedTable& table);

// Trains, goes on from a checkpoint if asked to, and writes model, record and summary.
void run_training(const TrainingTask& task, const TrainingArguments& arguments, Globals& globals);

}  // namespace jeffreys::cli
