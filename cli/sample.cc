#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/load.h"
#include "jeffreys/fit/given.h"

namespace jeffreys::cli {
namespace {

struct SampleArguments {
  std::string model;
  std::int64_t rows = 0;
  std::vector<std::string> given;
  std::string given_file;
  std::string from;
  std::string output;
  std::uint64_t seed = 0;
  ReadingArguments reading;
};

// Rows of a file, or the one of --given; nothing if nothing is given.
std::optional<Table> read_given_rows(const SampleArguments& a, const Schema& schema) {
  if (!a.given_file.empty() && !a.given.empty()) {
    throw UsageError("--given and --given-file exclude each other");
  }
  if (a.given_file.empty()) {
    if (a.given.empty()) return std::nullopt;
    return schema.given_row(given_values(a.given));
  }
  Table file = read_table_for(a.given_file, schema, a.reading);
  std::erase_if(file.columns, [&](const Column& column) {
    const auto same = [&](const ColumnInfo& info) {
      return info.name == column.name && info.role != ColumnRole::left_out;
    };
    return std::none_of(schema.columns().begin(), schema.columns().end(), same);
  });
  if (file.columns.empty()) {
    throw UsageError("--given-file: this file has no column of the model");
  }
  return file;
}

void sample_others(const SampleArguments& a, const TabularDensity<float>& density,
                   const Table& given, const Globals& globals) {
  ResultWriter writer(a.output, globals);
  const GivenSamples samples =
      sample_given(density, given, a.rows, a.seed, chosen_from(a.from, density));
  say(globals, fmt::format("drawn by importance sampling: at least {:.0f} effective proposals for "
                           "each row that is given",
                           samples.effective_samples));
  writer.add(samples.table);
  writer.finish();
}

// What the rows are conditioned on.
class Conditions {
 public:
  // file: the conditions of --given-file, if there is one.
  Conditions(const SampleArguments& a, const Schema& schema, const std::optional<Table>& file)
      : values_(file ? schema.encode_conditions(*file) : read_given(a.given, schema)),
        each_(a.rows),
        rows_(file ? values_.rows() * a.rows : a.rows),
        given_(file.has_value()) {}

  // With a file, as many for each of its rows.
  Eigen::Index rows() const { return rows_; }
  // [rows or 1, context features] of samples from `first` on.
  Matrix<double> part(Eigen::Index first, Eigen::Index rows) const {
    if (!given_) return values_;
    Matrix<double> part(rows, values_.cols());
    for (Eigen::Index i = 0; i < rows; ++i) part.row(i) = values_.row((first + i) / each_);
    return part;
  }

 private:
  Matrix<double> values_;
  Eigen::Index each_;
  Eigen::Index rows_;
  bool given_;
};

void say_acceptance(double rate, const Globals& globals) {
  if (rate >= 1) return;
  say(globals,
      fmt::format("energy model sampled by a Markov chain: {:.0f} % of its moves accepted{}",
                  100 * rate, rate < 0.2 ? " (few: do not trust these rows)" : ""));
}

void sample_all(const SampleArguments& a, const TabularDensity<float>& density,
                const Conditions& conditions, const Globals& globals) {
  const Eigen::Index rows = conditions.rows();
  // CSV goes out in parts, so that memory does not grow with the number of rows; arrays and JSON
  // do not.
  const bool in_parts = is_csv(a.output) && !(globals.json && goes_to_output(a.output));
  const Eigen::Index most = in_parts ? density.kSampleBlock : rows;
  ResultWriter writer(a.output, globals);
  const From from = chosen_from(a.from, density);
  double accepted = 0;
  for (Eigen::Index first = 0; first < rows; first += most) {
    const Eigen::Index count = std::min(most, rows - first);
    const TableSamples samples =
        density.sample(count, a.seed, conditions.part(first, count), from, first);
    accepted += samples.acceptance_rate * static_cast<double>(count);
    writer.add(samples.table);
  }
  say_acceptance(accepted / static_cast<double>(rows), globals);
  writer.finish();
}

void run_sample(const SampleArguments& a, const Globals& globals) {
  require_other_file(a.output, {a.model, a.given_file});
  const auto density = TabularDensity<float>::load(a.model);
  std::optional<Table> given = read_given_rows(a, density.schema());
  if (given && gives_features(*given, density.schema())) {
    sample_others(a, density, *given, globals);
    return;
  }
  if (a.given_file.empty()) given.reset();
  sample_all(a, density, Conditions(a, density.schema(), given), globals);
}

}  // namespace

void add_sample(CLI::App& app, Globals& globals) {
  auto a = std::make_shared<SampleArguments>();
  CLI::App* command = app.add_subcommand("sample", "Draw new rows from a model");
  command->add_option("model", a->model, "Model file")->required();
  command->add_option("-n,--rows", a->rows, "How many (for each row of --given-file)")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  command
      ->add_option("--given", a->given,
                   "COLUMN=VALUE,...: values of condition columns, or of any others")
      ->delimiter(',');
  command->add_option("--given-file", a->given_file,
                      "Table with the given columns; a missing cell is not given");
  add_from(*command, a->from);
  add_seed(*command, a->seed, "The same seed gives the same rows (default 0)");
  command->add_option("-o,--output", a->output, "CSV, NPY or NPZ file (default: standard output)");
  add_reading_options(*command, a->reading);
  command->footer(
      "Examples:\n"
      "  jeffreys sample table.model -n 1000 -o synthetic.csv\n"
      "  jeffreys sample weather.model -n 100 --given month=7,station=north\n"
      "  jeffreys sample table.model -n 100 --given age=40 -o same_age.csv\n"
      "  jeffreys sample table.model -n 10 --from proxy --seed 5");
  command->callback([a, &globals] { run_sample(*a, globals); });
}

}  // namespace jeffreys::cli
