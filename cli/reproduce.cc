#include <fmt/format.h>

#include <cstdlib>
#include <thread>

#include "cli/command.h"
#include "cli/job_line.h"
#include "cli/progress.h"
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

class Status final : public ReproduceObserver {
 public:
  explicit Status(const Globals& globals) : globals_(globals), line_(globals) {}

  void on_finished(const FinishedJob& job) override { line_.on_finished(job); }
  void on_status(const QueueStatus& status) override { line_.on_status(status); }
  void on_figure(const std::filesystem::path& path) override {
    line_.clear();
    say(globals_, fmt::format("wrote {}", path.string()));
  }
  bool should_stop() override { return line_.should_stop(); }

 private:
  const Globals& globals_;
  JobLine line_;
};

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
  if (globals.json) {
    print_json({{"jobs", jobs_json(result.jobs)}, {"page", result.page.string()}});
  } else {
    const std::string line = jobs_text(result.jobs);
    if (!line.empty()) print_line("jobs: " + line);
    if (!result.page.empty()) print_line("report: " + result.page.string());
  }
  set_exit_code(result.jobs, result.interrupted, globals);
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
  Status status(globals);
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
                      "Folder that holds uci/ and images/ (default: the variable JEFFREYS_DATA)");
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
