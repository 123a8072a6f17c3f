// What every command that trains has in common: settings, checkpoints, records.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "jeffreys/tabular/fit.h"

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

struct TrainingTask {
  std::string source;  // where the table came from
  const Table& table;
  SchemaOptions columns;
  std::filesystem::path model;
  // The defaults for a table as the models will see it.
  std::function<FitOptions(const PreparedTable&, ProxyKind)> defaults;
  // Writes the model file; empty: the density itself.
  std::function<void(const PreparedTable&, const TabularDensity<float>&)> save = {};
  Json more = Json::object();  // for the record: where the table came from
};

// Fails now rather than after an hour of training.
void require_writable(const std::filesystem::path& model);

// Trains, goes on from a checkpoint if asked to, and writes model, record and summary.
void run_training(const TrainingTask& task, const TrainingArguments& arguments, Globals& globals);

}  // namespace jeffreys::cli
