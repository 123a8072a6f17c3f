#include <fmt/format.h>

#include "cli/load.h"
#include "jeffreys/base/input_error.h"

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
};

// [rows or 1, context features]; with a file, n samples for each of its rows.
Matrix<double> conditions(const SampleArguments& a, const Schema& schema) {
  if (!a.given_file.empty()) {
    if (!a.given.empty()) throw UsageError("--given and --given-file exclude each other");
    if (schema.context_features() == 0) {
      throw UsageError("--given-file: this model has no condition columns");
    }
    const Matrix<double> each = schema.encode_conditions(read_table_for(a.given_file, schema));
    Matrix<double> repeated(each.rows() * a.rows, each.cols());
    for (Eigen::Index i = 0; i < each.rows(); ++i) {
      repeated.middleRows(i * a.rows, a.rows).rowwise() = each.row(i);
    }
    return repeated;
  }
  return read_given(a.given, schema);
}

void run_sample(const SampleArguments& a, const Globals& globals) {
  require_other_file(a.output, {a.model, a.given_file});
  const auto density = TabularDensity<float>::load(a.model);
  const From from = chosen_from(a.from, density);
  const Matrix<double> context = conditions(a, density.schema());
  const Eigen::Index rows = a.given_file.empty() ? a.rows : context.rows();
  const TableSamples samples = density.sample(rows, a.seed, context, from);
  if (samples.acceptance_rate < 1) {
    say(globals,
        fmt::format("energy model sampled by a Markov chain: {:.0f} % of its moves accepted{}",
                    100 * samples.acceptance_rate,
                    samples.acceptance_rate < 0.2 ? " (few: do not trust these rows)" : ""));
  }
  write_result(samples.table, a.output, globals);
}

}  // namespace

void add_sample(CLI::App& app, Globals& globals) {
  auto a = std::make_shared<SampleArguments>();
  CLI::App* command = app.add_subcommand("sample", "Draw new rows from a model");
  command->add_option("model", a->model, "Model file")->required();
  command->add_option("-n,--rows", a->rows, "How many (for each row of --given-file)")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  command->add_option("--given", a->given, "COLUMN=VALUE,...: values of the condition columns")
      ->delimiter(',');
  command->add_option("--given-file", a->given_file, "Table with the condition columns");
  add_from(*command, a->from);
  command->add_option("--seed", a->seed, "The same seed gives the same rows (default 0)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("-o,--output", a->output, "CSV, NPY or NPZ file (default: standard output)");
  command->footer(
      "Examples:\n"
      "  jeffreys sample table.model -n 1000 -o synthetic.csv\n"
      "  jeffreys sample weather.model -n 100 --given month=7,station=north\n"
      "  jeffreys sample table.model -n 10 --from proxy --seed 5");
  command->callback([a, &globals] { run_sample(*a, globals); });
}

}  // namespace jeffreys::cli
