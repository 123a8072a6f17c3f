#include <fmt/format.h>

#include <cmath>

#include "cli/load.h"
#include "jeffreys/evaluate/held_out.h"

namespace jeffreys::cli {
namespace {

struct LogProbArguments {
  std::string model;
  std::string table;
  std::string from;
  std::string precision = "float";
  std::string output;
};

// One row for each row of the table, in its order; rows with missing values have an empty cell.
Table scores_table(const TableLogProb& result, std::size_t rows) {
  Vector<double> scores = Vector<double>::Constant(static_cast<Eigen::Index>(rows), std::nan(""));
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    scores(static_cast<Eigen::Index>(result.rows[i])) =
        result.log_prob(static_cast<Eigen::Index>(i));
  }
  return table_from_matrix(scores, {"log_prob"});
}

template <typename T>
void run_log_prob(const LogProbArguments& a, const Globals& globals) {
  require_other_file(a.output, {a.model, a.table});
  const auto density = TabularDensity<T>::load(a.model);
  const From from = chosen_from(a.from, density);
  const Table table = read_table_for(a.table, density.schema());
  const TableLogProb result = density.log_prob(table, from);
  const MeanNll nll = mean_nll(result.log_prob);
  if (result.dropped > 0) {
    say(globals, fmt::format("{} of {} rows have missing values: their log_prob is empty",
                             result.dropped, table.rows()));
  }
  write_result(scores_table(result, table.rows()), a.output, globals);
  say(globals, fmt::format("mean negative log density {:.4f} +- {:.4f} nats a row, {} rows",
                           nll.nll, nll.standard_error, nll.rows));
}

}  // namespace

void add_log_prob(CLI::App& app, Globals& globals) {
  auto a = std::make_shared<LogProbArguments>();
  CLI::App* command =
      app.add_subcommand("log_prob", "Log density of a table's rows: low values are unusual rows");
  command->add_option("model", a->model, "Model file")->required();
  command->add_option("table", a->table, "CSV, NPY or NPZ file with the model's columns")
      ->required();
  add_from(*command, a->from);
  command->add_option("--precision", a->precision, "float (default) or double arithmetic")
      ->check(CLI::IsMember({"float", "double"}));
  command->add_option("-o,--output", a->output, "CSV, NPY or NPZ file (default: standard output)");
  command->footer(
      "In nats, in the table's units. Examples:\n"
      "  jeffreys log_prob table.model new.csv -o scores.csv\n"
      "  jeffreys log_prob table.model new.csv --precision double --from main");
  command->callback([a, &globals] {
    if (a->precision == "double") {
      run_log_prob<double>(*a, globals);
    } else {
      run_log_prob<float>(*a, globals);
    }
  });
}

}  // namespace jeffreys::cli
