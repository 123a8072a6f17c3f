// What every command that trains has in common: settings, progress, checkpoints.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "jeffreys/fit/fit_table.h"

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

// Fails now rather than after an hour of training.
void require_writable(const std::filesystem::path& model);

[[nodiscard]] ChosenSettings chosen_settings(const TrainingArguments& a);

// Shows progress, stops on Ctrl-C, and keeps what is unfinished beside the model.
[[nodiscard]] FitRun fit_run(const TrainingArguments& a, const std::filesystem::path& model,
                             const Globals& globals);

}  // namespace jeffreys::cli
