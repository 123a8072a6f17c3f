#include <fmt/format.h>
#include <fmt/ranges.h>

#include <thread>

#include "cli/columns.h"
#include "cli/compare_report.h"
#include "cli/job_line.h"
#include "cli/load.h"
#include "jeffreys/base/assignment.h"
#include "jeffreys/fit/compare.h"

namespace jeffreys::cli {
namespace {

struct CompareArguments {
  std::string table;
  std::string methods;
  std::string shard;
  std::vector<std::string> set;
  bool no_training = false;
  CompareOptions options;
  std::shared_ptr<ColumnArguments> columns = std::make_shared<ColumnArguments>();
};

CompareOptions options_of(const CompareArguments& a) {
  CompareOptions options = a.options;
  if (!a.methods.empty()) options.methods = parse_compare_methods(a.methods);
  if (!a.shard.empty()) options.shard = parse_shard(a.shard);
  for (const std::string& text : a.set) {
    options.settings.push_back(split_assignment(text, "--set", "KEY=VALUE"));
  }
  if (options.jobs == 0) {
    options.jobs = options.threads > 1 ? 1 : std::max(1U, std::thread::hardware_concurrency());
  }
  if (options.folder.empty()) {
    options.folder = std::filesystem::path(a.table).filename().replace_extension(".compare");
  }
  return options;
}

Comparison made_or_read(const CompareArguments& a, const Globals& globals) {
  CompareOptions options = options_of(a);
  std::vector<std::string> names;
  for (const CompareMethod& method : options.methods) names.push_back(method.name);
  if (a.no_training)
    return read_comparison(options.folder, a.methods.empty() ? std::vector<std::string>() : names);
  options.validate();
  const Table table = a.columns->read(a.table);
  options.columns = a.columns->schema(table);
  require_folder(options.folder);
  JobLine line(globals);
  return compare_table(table, options, line);
}

void run_compare(const CompareArguments& a, Globals& globals) {
  if (a.table.empty() && !(a.no_training && !a.options.folder.empty())) {
    throw UsageError("compare: which table? For example: jeffreys compare table.csv");
  }
  const std::filesystem::path folder = options_of(a).folder;
  const StopOnSignal signals;
  const Comparison comparison = made_or_read(a, globals);
  if (!comparison.interrupted) write_comparison(comparison, folder);
  if (globals.json) {
    Json json = comparison_json(comparison);
    json["jobs"] = jobs_json(comparison.jobs);
    json["folder"] = folder.string();
    print_json(json);
  } else if (!globals.quiet) {
    const std::string jobs = jobs_text(comparison.jobs);
    if (!jobs.empty()) print_line("jobs: " + jobs);
    if (!comparison.interrupted) {
      print_line(comparison_text(comparison));
      print_line(fmt::format("report: {}", (folder / "index.html").string()));
    }
  }
  set_exit_code(comparison.jobs, comparison.interrupted, globals);
}

std::string list_of_methods() {
  std::string text = "Methods:\n";
  for (const CompareKind& kind : compare_kinds()) {
    text += fmt::format("  {:<12} {}\n", kind.name, kind.description);
  }
  return text;
}

void add_split_options(CLI::App& command, const std::shared_ptr<CompareArguments>& a) {
  command.add_option("--splits", a->options.splits, "Random splits of the rows (default 5)")
      ->check(CLI::Range(1, 10000));
  command.add_option("--seeds", a->options.seeds, "Fits of each method to each split (default 1)")
      ->check(CLI::Range(1, 1000));
  command.add_option("--test", a->options.test, "Share of the rows that judge (default 0.2)");
  command
      .add_option("--rows", a->options.rows,
                  "Learn from so many rows, at random in each split (default: all others)")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--test-rows", a->options.most_tests,
                  "At most so many test rows of a split (default 5000)")
      ->check(CLI::PositiveNumber);
  command.add_option("--group", a->options.group,
                     "Column whose values stay together in a split, such as a day; it is not "
                     "modelled");
  command.add_option("--seed", a->options.seed, "Of splits and fits (default 0)")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace

void add_compare(CLI::App& app, Globals& globals) {
  auto a = std::make_shared<CompareArguments>();
  a->options.jobs = 0;
  CLI::App* command = app.add_subcommand("compare", "Which method fits a table best");
  command->add_option("table", a->table, "CSV, NPY or NPZ file");
  command->add_option("--methods", a->methods,
                      "[NAME=]METHOD[+KEY=VALUE...],...: others are compared with the first "
                      "(default: all)");
  add_split_options(*command, a);
  command->add_option("-o,--output", a->options.folder,
                      "Folder of results (default: the table's name with .compare)");
  command->add_option("--time-limit", a->options.time_limit, "Seconds of each fit")
      ->check(CLI::PositiveNumber);
  command->add_option("--set", a->set, "Settings of all fits")->option_text("KEY=VALUE ...");
  command->add_option("--jobs", a->options.jobs, "Fits at the same time (default: all cores)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--threads", a->options.threads, "Of each fit (default 1); needs --jobs 1")
      ->check(CLI::Range(1, 1024));
  command->add_option("--shard", a->shard, "Only part i of n: i/n, for an array of batch jobs");
  command->add_flag("--no-training", a->no_training,
                    "Table and figure from the results that are in the folder");
  add_column_options(*command, a->columns);
  command->footer(
      list_of_methods() +
      "A comparison that was stopped, at any moment, goes on where it was when the command is\n"
      "given again; more methods, splits or seeds are added to it. Results of several machines\n"
      "merge by copying their folders into one.\n"
      "Examples:\n"
      "  jeffreys compare table.csv\n"
      "  jeffreys compare table.csv --methods default,ten=mle+members=10,mixture --splits 10\n"
      "  jeffreys compare power.csv --rows 500 --group day --condition hour\n"
      "  jeffreys compare table.csv --shard $SLURM_ARRAY_TASK_ID/16 -o results\n"
      "  jeffreys compare --no-training -o results");
  command->callback([a, &globals] { run_compare(*a, globals); });
}

}  // namespace jeffreys::cli
