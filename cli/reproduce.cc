#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <thread>

#include "cli/command.h"
#include "cli/progress.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/experiment/reproduce.h"

namespace jeffreys::cli {
namespace {

using namespace experiment;

struct ReproduceArguments {
  ReproduceOptions options;
  std::string shard;
  int seeds = 0;
  bool no_training = false;
  bool no_figures = false;
  bool list = false;
  bool show = false;
};

class StatusLine final : public ReproduceObserver {
 public:
  explicit StatusLine(const Globals& globals)
      : globals_(globals), line_(globals, std::chrono::minutes(1)) {}

  void on_finished(const FinishedJob& job) override {
    if (job.state == JobState::was_done) return;
    line_.clear();
    say(globals_, fmt::format("{}: {}{}", job.name, word(job.state),
                              job.message.empty() ? "" : ": " + job.message));
  }

  void on_status(const QueueStatus& status) override {
    if (status.running.empty() || !line_.due()) return;
    std::string line = fmt::format("{}/{} done", status.done, status.all);
    if (std::isfinite(status.seconds_left)) {
      line += fmt::format(", {} left", duration(status.seconds_left));
    }
    for (const RunningJob& job : status.running) {
      line += fmt::format(" | {} {:.0f} %", job.name,
                          100.0 * static_cast<double>(job.iteration) /
                              static_cast<double>(std::max<std::int64_t>(job.iterations, 1)));
    }
    line_.draw(line);
  }

  void on_figure(const std::filesystem::path& path) override {
    line_.clear();
    say(globals_, fmt::format("wrote {}", path.string()));
  }

  bool should_stop() override { return StopOnSignal::requested(); }

  static const char* word(JobState state) {
    switch (state) {
      case JobState::done: return "done";
      case JobState::was_done: return "was done";
      case JobState::interrupted: return "interrupted, goes on at the next start";
      case JobState::elsewhere: return "another process works on it";
      case JobState::failed: return "FAILED";
      case JobState::missing_data:
      case JobState::left_out: return "left out";
    }
    return "";
  }

 private:
  const Globals& globals_;
  ProgressLine line_;
};

Shard parse_shard(const std::string& text) {
  Shard shard;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%d/%d%c", &shard.index, &shard.count, &rest) != 2) {
    throw UsageError(fmt::format("--shard: expected i/n such as 2/8, got '{}'", text));
  }
  return shard;
}

void list_experiments(const Globals& globals) {
  Json json = Json::array();
  for (const ExperimentInfo& info : experiments()) {
    if (globals.json) {
      json.push_back({{"name", info.name}, {"title", info.title}});
    } else {
      print_line(fmt::format("{:<14} {}", info.name, info.title));
    }
  }
  if (globals.json) print_json(json);
}

void summarise(const ReproduceResult& result, Globals& globals) {
  std::map<JobState, std::size_t> count;
  for (const FinishedJob& job : result.jobs) ++count[job.state];
  if (globals.json) {
    Json jobs = Json::array();
    for (const FinishedJob& job : result.jobs) {
      jobs.push_back(
          {{"name", job.name}, {"state", StatusLine::word(job.state)}, {"message", job.message}});
    }
    print_json({{"jobs", jobs}, {"page", result.page.string()}});
  } else {
    std::string line;
    for (const auto& [state, jobs] : count) {
      line += fmt::format("{}{} {}", line.empty() ? "" : ", ", jobs, StatusLine::word(state));
    }
    if (!line.empty()) print_line("jobs: " + line);
    if (!result.page.empty()) print_line("report: " + result.page.string());
  }
  if (count[JobState::missing_data] > 0) globals.exit_code = ExitCode::bad_input;
  if (count[JobState::failed] > 0 || result.interrupted) globals.exit_code = ExitCode::failed;
}

void run_reproduce(const ReproduceArguments& a, Globals& globals) {
  if (a.list) return list_experiments(globals);
  ReproduceOptions options = a.options;
  if (options.names.empty()) {
    throw UsageError("NAME: expected an experiment or 'all'; --list shows them");
  }
  if (std::find(options.names.begin(), options.names.end(), "all") != options.names.end()) {
    options.names.clear();
    for (const ExperimentInfo& info : experiments()) options.names.push_back(info.name);
  }
  if (a.show) {
    for (const std::string& name : options.names) print_line(experiment_text(name));
    return;
  }
  if (!a.shard.empty()) options.shard = parse_shard(a.shard);
  if (a.seeds > 0) options.seeds = a.seeds;
  options.train = !a.no_training;
  options.figures = !a.no_figures;
  if (options.data.empty()) {
    if (const char* folder = std::getenv("JEFFREYS_DATA")) options.data = folder;
  }
  const StopOnSignal signals;
  StatusLine status(globals);
  const ReproduceResult result = reproduce(options, status);
  summarise(result, globals);
}

}  // namespace

void add_reproduce(CLI::App& app, Globals& globals) {
  auto a = std::make_shared<ReproduceArguments>();
  a->options.jobs = std::max(1U, std::thread::hardware_concurrency());
  CLI::App* command = app.add_subcommand(
      "reproduce", "Run the paper's experiments, draw its figures and judge its claims");
  command->add_option("NAME", a->options.names, "Experiments, or 'all'; --list shows them");
  command->add_flag("--list", a->list, "Names and titles of all experiments");
  command->add_flag("--show", a->show, "The settings of the experiments, as TOML");
  command->add_option(
      "--scale", a->options.scale,
      "Of the number of iterations (default 1). Below 0.05 a smoke run: at most 100 "
      "iterations, one seed, two corners of every grid, fewer test rows");
  command->add_option("--seeds", a->seeds, "How many (default: the experiment's own)")
      ->check(CLI::Range(1, 1000));
  command->add_option("--jobs", a->options.jobs, "Runs at the same time (default: all cores)")
      ->check(CLI::Range(1, 1024));
  command->add_option("-o,--output", a->options.output, "Folder (default: reproduce)");
  command->add_option("--data", a->options.data,
                      "Folder that holds uci/ (default: the variable JEFFREYS_DATA)");
  command->add_option("--only", a->options.only,
                      "Only runs whose name contains this text; may be given again");
  command->add_option("--shard", a->shard, "Only part i of n: i/n, for an array of batch jobs");
  command
      ->add_option("--checkpoint-seconds", a->options.checkpoint_seconds,
                   "Between two checkpoints of a run (default 20): what a kill can cost")
      ->check(positive());
  command->add_flag("--no-training", a->no_training,
                    "Figures and tables from the results that are in the folder");
  command->add_flag("--no-figures", a->no_figures, "Only train");
  command->footer(
      "A run that was stopped, at any moment, goes on where it was when the command is given\n"
      "again. Results of several machines merge by copying their folders into one.\n"
      "Examples:\n"
      "  jeffreys reproduce --list\n"
      "  jeffreys reproduce all --scale 0.01            everything, in minutes\n"
      "  jeffreys reproduce density --only ring --seeds 5\n"
      "  jeffreys reproduce all --shard $SLURM_ARRAY_TASK_ID/16 --no-figures\n"
      "  jeffreys reproduce all --no-training -o results");
  command->callback([a, &globals] { run_reproduce(*a, globals); });
}

}  // namespace jeffreys::cli
