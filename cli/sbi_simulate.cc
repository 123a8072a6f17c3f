#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "cli/load.h"
#include "cli/progress.h"
#include "cli/sbi.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/sbi/task_prior.h"
#include "jeffreys/table/table_file.h"
#include "jeffreys/truth/task.h"

namespace jeffreys::cli {
namespace {

class SimulateProgressLine final : public SimulateObserver {
 public:
  explicit SimulateProgressLine(const Globals& globals) : line_(globals) {}

  void on_progress(const SimulateProgress& progress) override {
    const auto done = static_cast<double>(progress.finished + progress.failed);
    const double left = static_cast<double>(progress.requested) - done;
    std::string text = fmt::format("simulate: {} of {} rows, {} failed", progress.finished,
                                   progress.requested, progress.failed);
    if (done > 0) text += fmt::format(", {} left", duration(progress.seconds * left / done));
    line_.draw_if_due(text);
  }
  bool should_stop() override { return StopOnSignal::requested(); }

 private:
  ProgressLine line_;
};

struct SbiSimulateArguments {
  SimulatorArguments simulator;
  std::string output;
};

const char* what_happened(FailureKind kind) {
  switch (kind) {
    case FailureKind::failed: return "failed";
    case FailureKind::timed_out: return "took too long";
    case FailureKind::garbage: return "have outcomes that cannot be read";
    case FailureKind::missing_line: return "have no line of outcomes";
    case FailureKind::not_finite: return "have outcomes that are not finite";
    case FailureKind::stopped: return "were stopped";
  }
  return "failed";
}

void say_report(const SimulateReport& report, const std::filesystem::path& journal,
                const Globals& globals) {
  if (report.resumed > 0) {
    say(globals, fmt::format("{} rows were in {}", report.resumed, journal.string()));
  }
  for (const auto& [kind, count] : report.failures) {
    say(globals, fmt::format("{} of {} rows {} and are left out; the first: {}", count.rows,
                             report.requested, what_happened(kind), count.first_message));
  }
  // Without a journal they are drawn anew by the next run anyway.
  if (!report.failures.empty() && !journal.empty()) {
    say(globals, fmt::format("{} keeps them as failed: once the simulator is corrected, "
                             "--retry-failed simulates them again",
                             journal.string()));
  }
}

void run_simulate(const SbiSimulateArguments& a, Globals& globals) {
  if (a.simulator.rows < 1) throw UsageError("sbi simulate: how many? For example: -n 1000");
  if (a.output.empty() || a.output == "-") {
    throw UsageError("sbi simulate: -o needs the name of a file: the journal is kept beside it");
  }
  require_other_file(a.output, {a.simulator.prior});
  require_table_name(a.output);
  const std::filesystem::path journal = a.output + ".journal";
  const Simulations simulations = simulate_pairs(a.simulator, journal, globals);
  const SimulateReport& report = simulations.report;
  if (report.stopped) {
    say(globals,
        fmt::format("stopped; {} of {} rows are in {}: the same command goes on",
                    report.finished + report.failed(), report.requested, journal.string()));
    globals.exit_code = ExitCode::failed;
    return;
  }
  write_table(a.output, simulations.table);
  if (globals.json) {
    Json json{{"output", a.output}, {"journal", journal.string()}};
    json.update(report_json(report));
    print_json(json);
    return;
  }
  say(globals, fmt::format("{} pairs in {:.1f} s: {}", report.finished, report.seconds, a.output));
}

std::unique_ptr<Simulator> make_simulator(const SimulatorArguments& a,
                                          std::vector<std::string>& outcome_names) {
  if (!a.command.empty() && !a.task.empty()) {
    throw UsageError("--simulator and --task exclude each other");
  }
  if (!a.task.empty()) {
    if (outcome_names.empty()) outcome_names = make_task(a.task)->outcome_names();
    return make_task_simulator(a.task);
  }
  return make_command_simulator({.command = a.command,
                                 .seconds = a.seconds,
                                 .outcomes = static_cast<Eigen::Index>(outcome_names.size())});
}

// A journal without a single row would only be in the way.
void remove_if_empty(const std::filesystem::path& journal) {
  std::error_code absent;
  if (std::filesystem::file_size(journal, absent) == 0) std::filesystem::remove(journal, absent);
}

}  // namespace

Json report_json(const SimulateReport& report) {
  Json failures = Json::object();
  for (const auto& [kind, count] : report.failures) {
    failures[std::string(name_of(kind))] = {{"rows", count.rows}, {"first", count.first_message}};
  }
  return {{"requested", report.requested}, {"simulated", report.finished},
          {"resumed", report.resumed},     {"failed", report.failed()},
          {"failures", failures},          {"seconds", report.seconds}};
}

void add_simulator_options(CLI::App& command, SimulatorArguments& a) {
  command.add_option("--simulator", a.command,
                     "Command that reads parameters as CSV lines and writes outcomes as CSV lines");
  command.add_option(
      "--task", a.task,
      fmt::format("Built-in simulator with its prior: {}", fmt::join(task_names(), ", ")));
  command.add_option("--prior", a.prior,
                     "TOML file with the parameters' distributions, in the simulator's order");
  command.add_option("-n,--simulations", a.rows, "How many rows to simulate")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  command.add_option("--rows-per-call", a.rows_per_call, "Lines for each call (default 100)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  command.add_option("--processes", a.processes, "Calls at the same time (default: all cores)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--call-seconds", a.seconds, "Seconds that one call may take (default 60)")
      ->check(positive());
}

void add_retry_option(CLI::App& command, SimulatorArguments& a) {
  command.add_flag("--retry-failed", a.retry_failed,
                   "Simulate the journal's failed rows again, with a simulator that was corrected");
}

std::optional<Prior> chosen_prior(const SimulatorArguments& a) {
  std::optional<Prior> own;
  if (!a.task.empty()) own = task_prior(*make_task(a.task));
  if (a.prior.empty()) return own;
  Prior prior = Prior::read(a.prior);
  if (own && own->dimension() != prior.dimension()) {
    throw UsageError(fmt::format("--prior: task {} has {} parameters, but {} has {}", a.task,
                                 own->dimension(), a.prior, prior.dimension()));
  }
  return prior;
}

Prior needed_prior(const SimulatorArguments& a) {
  std::optional<Prior> prior = chosen_prior(a);
  if (prior) return *std::move(prior);
  throw UsageError("a simulator needs the parameters' distributions: give --prior FILE");
}

Simulations run_simulator(const SimulatorArguments& a, const Prior& prior,
                          const DrawParameters& draw, const std::filesystem::path& journal,
                          const Globals& globals) {
  std::vector<std::string> outcome_names = a.outcomes;
  const std::unique_ptr<Simulator> simulator = make_simulator(a, outcome_names);
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const SimulateOptions options{
      .rows = a.rows,
      .rows_per_call = a.rows_per_call,
      .processes = a.processes > 0 ? a.processes : cores,
      .seed = a.seed,
      .parameter_names = prior.names(),
      .outcome_names = outcome_names,
      .journal = journal,
      .retry_failed = a.retry_failed,
      .identity = {{"simulator", a.task.empty() ? a.command : "task " + a.task},
                   {"prior", fmt::format("{}", fmt::join(prior.describe(), "; "))}}};
  const StopOnSignal signals;
  Simulations simulations = [&] {
    SimulateProgressLine progress(globals);
    try {
      return simulate(*simulator, draw, options, &progress);
    } catch (...) {
      remove_if_empty(journal);
      throw;
    }
  }();
  say_report(simulations.report, journal, globals);
  return simulations;
}

Simulations simulate_pairs(const SimulatorArguments& a, const std::filesystem::path& journal,
                           const Globals& globals) {
  if (!a.given()) throw UsageError("which simulator? Give --simulator COMMAND or --task NAME");
  const Prior prior = needed_prior(a);
  const auto draw = [&](std::uint64_t first, std::int64_t count) {
    return prior.sample(count, a.seed, 0, first);
  };
  return run_simulator(a, prior, draw, journal, globals);
}

void add_sbi_simulate(CLI::App& sbi, Globals& globals) {
  auto a = std::make_shared<SbiSimulateArguments>();
  CLI::App* command =
      sbi.add_subcommand("simulate", "Draw parameters from a prior and simulate their outcomes");
  add_simulator_options(*command, a->simulator);
  add_retry_option(*command, a->simulator);
  command
      ->add_option("--outcomes", a->simulator.outcomes,
                   "Names of the outcomes (default: those of the task, or x1, x2, ...)")
      ->delimiter(',');
  add_seed(*command, a->simulator.seed, "Of all random numbers (default 0)");
  command
      ->add_option("-o,--output", a->output,
                   "Table of pairs: CSV, NPY or NPZ file; OUTPUT.journal keeps what is done")
      ->required();
  command->footer(
      "Every call is kept in OUTPUT.journal: the same command goes on where it was stopped, and a\n"
      "larger -n adds to it. How a simulator is written: docs/sbi.md. Examples:\n"
      "  jeffreys sbi simulate --simulator ./decay.sh --prior decay.toml -n 2000 -o pairs.csv\n"
      "  jeffreys sbi simulate --task two_moons -n 1000 -o pairs.csv --seed 1");
  command->callback([a, &globals] { run_simulate(*a, globals); });
}

}  // namespace jeffreys::cli
