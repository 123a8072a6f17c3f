// What the commands of simulation-based inference share: simulators, observations, warnings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/load.h"
#include "jeffreys/sbi/posterior.h"
#include "jeffreys/sbi/simulate.h"

namespace jeffreys::cli {

// Where pairs of parameters and outcomes come from.
struct SimulatorArguments {
  std::string command;
  std::string task;
  std::string prior;
  std::int64_t rows = 0;  // 0: not given
  std::int64_t rows_per_call = 100;
  int processes = 0;  // 0: all cores
  double seconds = 60;
  bool retry_failed = false;
  std::vector<std::string> outcomes;
  std::uint64_t seed = 0;

  [[nodiscard]] bool given() const { return !command.empty() || !task.empty(); }
};

void add_simulator_options(CLI::App& command, SimulatorArguments& a);
// For commands that keep a journal.
void add_retry_option(CLI::App& command, SimulatorArguments& a);

// The prior of --prior or of the task; nothing if neither is given. UsageError for a prior that
// does not fit the task.
[[nodiscard]] std::optional<Prior> chosen_prior(const SimulatorArguments& a);
// The same, where it is needed: the order of its parameters is that of a simulator's input.
[[nodiscard]] Prior needed_prior(const SimulatorArguments& a);

// Simulates a.rows rows of parameters, those of `draw`, with a progress line; an empty journal
// keeps nothing. Says what failed.
[[nodiscard]] Simulations run_simulator(const SimulatorArguments& a, const Prior& prior,
                                        const DrawParameters& draw,
                                        const std::filesystem::path& journal,
                                        const Globals& globals);
// The same with parameters of the prior. UsageError without a simulator or a prior.
[[nodiscard]] Simulations simulate_pairs(const SimulatorArguments& a,
                                         const std::filesystem::path& journal,
                                         const Globals& globals);

// How many rows were simulated, and how many failed in which way.
[[nodiscard]] Json report_json(const SimulateReport& report);

// NAME=NUMBER,... of an option, each name once. UsageError for anything else.
[[nodiscard]] std::map<std::string, double> read_assignments(const std::string& option,
                                                             const std::vector<std::string>& items);

// [observations, outcomes] of --observed NAME=VALUE,... or of --observed-file. Without
// --extrapolate one that is beyond the training pairs is refused by an InputError with its line;
// says where others lie outside.
struct ObservedArguments {
  std::vector<std::string> observed;
  std::string file;
  bool extrapolate = false;
  ReadingArguments reading;  // of all tables of the command

  [[nodiscard]] bool given() const { return !observed.empty() || !file.empty(); }
  [[nodiscard]] FarObservations far() const {
    return extrapolate ? FarObservations::extrapolate : FarObservations::refuse;
  }
};
void add_observed_options(CLI::App& command, ObservedArguments& a);
[[nodiscard]] Matrix<double> read_observed(const ObservedArguments& a, const Posterior& posterior,
                                           const Globals& globals);
// For commands that can do only one at a time.
[[nodiscard]] Matrix<double> read_one_observed(const ObservedArguments& a,
                                               const Posterior& posterior, const Globals& globals);

// A posterior that uses all cores: no result depends on their number.
[[nodiscard]] Posterior load_posterior(const std::string& path);

// How samples are drawn.
struct SamplingArguments {
  std::string from;
  std::string sampler = "metropolis";
  int steps = 2000;
  double step_size = 1e-4;
  double time_limit = 60;
  std::uint64_t seed = 0;
};
void add_sampling_options(CLI::App& command, SamplingArguments& a);
[[nodiscard]] PosteriorSampling sampling_options(const SamplingArguments& a,
                                                 const ObservedArguments& observed,
                                                 const Posterior& posterior);

void add_sbi_simulate(CLI::App& sbi, Globals& globals);
void add_sbi_fit(CLI::App& sbi, Globals& globals);
void add_sbi_sample(CLI::App& sbi, Globals& globals);
void add_sbi_log_prob(CLI::App& sbi, Globals& globals);
void add_sbi_check(CLI::App& sbi, Globals& globals);
void add_sbi_plot(CLI::App& sbi, Globals& globals);

}  // namespace jeffreys::cli
