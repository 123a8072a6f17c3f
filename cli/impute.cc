#include <fmt/format.h>

#include <algorithm>

#include "cli/load.h"
#include "jeffreys/fit/given.h"

namespace jeffreys::cli {
namespace {

struct ImputeArguments {
  std::string model;
  std::string table;
  std::string fill = "draw";
  int draws = 1;
  std::string from;
  std::string output;
  std::uint64_t seed = 0;
  ReadingArguments reading;
};

Fill fill_of(const std::string& name) {
  if (name == "mean") return Fill::mean;
  return name == "median" ? Fill::median : Fill::draw;
}

// Which copy of the table a row belongs to, counted from 1.
Column copy_numbers(std::size_t rows, int draws) {
  Column column{.name = "draw"};
  for (int i = 1; i <= draws; ++i) {
    column.numbers.insert(column.numbers.end(), rows, static_cast<double>(i));
  }
  return column;
}

void run_impute(const ImputeArguments& a, const Globals& globals) {
  if (a.draws > 1 && a.fill != "draw") {
    throw UsageError("--draws: means and medians are the same in every copy; leave it out");
  }
  require_other_file(a.output, {a.model, a.table});
  const auto density = TabularDensity<float>::load(a.model);
  const Table table = read_table_for(a.table, density.schema(), a.reading);
  if (a.draws > 1 && table.find("draw") != nullptr) {
    throw UsageError(
        "--draws: the copies are counted in a column \"draw\", which the table has "
        "already; rename that one");
  }
  ResultWriter writer(a.output, globals);
  Imputed filled =
      impute(density, table, fill_of(a.fill), a.draws, a.seed, chosen_from(a.from, density));
  if (a.draws > 1) filled.table.columns.push_back(copy_numbers(table.rows(), a.draws));
  writer.add(filled.table);
  writer.finish();
  say(globals, fmt::format("{} missing cells filled", filled.cells));
  for (const auto& [row, reason] : filled.left) {
    const std::size_t line = table.line(row);
    say(globals, fmt::format("left as it is, {} {}: {}", line > 0 ? "line" : "row",
                             line > 0 ? line : row + 1, reason));
  }
}

}  // namespace

void add_impute(CLI::App& app, Globals& globals) {
  auto a = std::make_shared<ImputeArguments>();
  CLI::App* command =
      app.add_subcommand("impute", "Fill the missing cells of a table, given its other cells");
  command->add_option("model", a->model, "Model file")->required();
  command->add_option("table", a->table, "CSV, NPY or NPZ file with some of the model's columns")
      ->required();
  command
      ->add_option("--fill", a->fill,
                   "draw (default): as likely as the model says; mean, or median")
      ->check(CLI::IsMember({"draw", "mean", "median"}));
  command
      ->add_option("--draws", a->draws,
                   "So many copies of the table, each with draws of its own (default 1)")
      ->check(CLI::Range(1, 1000));
  add_from(*command, a->from);
  add_seed(*command, a->seed, "The same seed gives the same cells (default 0)");
  command->add_option("-o,--output", a->output, "CSV, NPY or NPZ file (default: standard output)");
  add_reading_options(*command, a->reading);
  command->footer(
      "Of a category, mean and median give the most probable label. Examples:\n"
      "  jeffreys impute table.model table.csv -o complete.csv\n"
      "  jeffreys impute table.model table.csv --fill mean -o means.csv\n"
      "  jeffreys impute table.model table.csv --draws 5 -o five.csv");
  command->callback([a, &globals] { run_impute(*a, globals); });
}

}  // namespace jeffreys::cli
