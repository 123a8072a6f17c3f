#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/load.h"
#include "cli/plotting.h"
#include "jeffreys/report/figure.h"
#include "jeffreys/report/pair_plot.h"

namespace jeffreys::cli {
namespace {

constexpr Eigen::Index kPairSamples = 2000;

struct PlotArguments {
  std::string model;
  std::string table;
  std::string output;
  std::string from;
  std::vector<std::string> given;
  std::vector<std::string> columns;
  bool training = false;
  ReadingArguments reading;
};

// The feature columns to draw: those asked for, or the first ones.
std::vector<std::string> drawn_columns(const PlotArguments& a, const Schema& schema) {
  const std::vector<std::string> all = schema.feature_names();
  if (a.columns.empty()) {
    return {all.begin(),
            all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                              all.size(), static_cast<std::size_t>(report::kMostPairColumns)))};
  }
  for (const std::string& name : a.columns) {
    if (std::find(all.begin(), all.end(), name) == all.end()) {
      throw UsageError(fmt::format("--columns: the model has no feature '{}'; it has {}", name,
                                   fmt::join(all, ", ")));
    }
  }
  return a.columns;
}

// A column as numbers to draw; labels as their places among those of the model, whatever their
// order in the table.
Vector<double> column_numbers(const Table& table, const ColumnInfo& info) {
  const Column* column = table.find(info.name);
  Vector<double> numbers =
      Vector<double>::Constant(static_cast<Eigen::Index>(table.rows()), std::nan(""));
  for (std::size_t i = 0; i < table.rows(); ++i) {
    double& place = numbers(static_cast<Eigen::Index>(i));
    if (info.kind != ColumnKind::categorical) {
      place = column->numbers[i];
      continue;
    }
    const auto found = std::find(info.labels.begin(), info.labels.end(), column->text(i));
    if (found != info.labels.end()) place = static_cast<double>(found - info.labels.begin());
  }
  return numbers;
}

Matrix<double> columns_of(const Table& table, const Schema& schema,
                          const std::vector<std::string>& names) {
  Matrix<double> x(static_cast<Eigen::Index>(table.rows()),
                   static_cast<Eigen::Index>(names.size()));
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto& columns = schema.columns();
    const auto info = std::find_if(columns.begin(), columns.end(), [&](const ColumnInfo& column) {
      return column.name == names[k];
    });
    x.col(static_cast<Eigen::Index>(k)) = column_numbers(table, *info);
  }
  return x;
}

// What stands along the axes: labels, and dates as they are written in the table.
std::vector<report::PairColumn> pair_columns(const std::vector<std::string>& names,
                                             const Schema& schema) {
  std::vector<report::PairColumn> columns;
  for (const std::string& name : names) {
    report::PairColumn& column = columns.emplace_back(report::PairColumn{name});
    for (const ColumnInfo& info : schema.columns()) {
      if (info.name != name) continue;
      if (info.kind == ColumnKind::categorical) column.labels = info.labels;
      if (!info.notation.is_time()) continue;
      column.text = [notation = info.notation](double value) { return notation.write(value); };
    }
  }
  return columns;
}

bool is_plane(const Schema& schema) {
  if (schema.features() != 2 || schema.continuous() != 2) return false;
  for (const ColumnInfo& column : schema.columns()) {
    if (column.role != ColumnRole::feature) continue;
    if (column.kind == ColumnKind::categorical || column.notation.is_time()) return false;
  }
  return true;
}

void run_plot(const PlotArguments& a, const Globals& globals) {
  const auto density = TabularDensity<float>::load(a.model);
  const std::string output =
      !a.output.empty() ? a.output : a.model + (a.training ? ".training.png" : ".png");
  require_other_file(output, {a.model, a.table});
  require_figure(output);
  if (a.training) {
    draw_training_of(density, output);
    announce(output, globals);
    return;
  }
  const Matrix<double> context = read_given(a.given, density.schema());
  std::optional<Table> table;
  if (!a.table.empty()) {
    table = read_table_for(a.table, density.schema(), a.reading);
    density.schema().encode(*table);  // says what is wrong with it
  }
  if (is_plane(density.schema())) {
    draw_plane(density, table ? &*table : nullptr, context, output);
  } else {
    const std::vector<std::string> names = drawn_columns(a, density.schema());
    const Table samples =
        density.sample(kPairSamples, 0, context, chosen_from(a.from, density)).table;
    const std::size_t features = density.schema().feature_names().size();
    report::draw_pair_plot(
        output, pair_columns(names, density.schema()),
        table ? columns_of(*table, density.schema(), names) : Matrix<double>(),
        columns_of(samples, density.schema(), names),
        names.size() < features ? fmt::format("{} of {} columns", names.size(), features) : "");
  }
  announce(output, globals);
}

}  // namespace

void add_plot(CLI::App& app, Globals& globals) {
  auto a = std::make_shared<PlotArguments>();
  CLI::App* command =
      app.add_subcommand("plot", "Draw a model: density map, pair plot, or its training");
  command->add_option("model", a->model, "Model file")->required();
  command->add_option("table", a->table, "Rows to draw beside the model");
  command->add_option("-o,--output", a->output, "SVG or PNG file (default: MODEL.png)");
  command->add_option("--columns", a->columns, "Which columns of a pair plot")->delimiter(',');
  command->add_option("--given", a->given, "COLUMN=VALUE,...: values of the condition columns")
      ->delimiter(',');
  add_from(*command, a->from);
  add_reading_options(*command, a->reading);
  command->add_flag("--training", a->training, "The course of training instead");
  command->footer(
      "Two columns give a density map, other numbers a pair plot of data and samples. Examples:\n"
      "  jeffreys plot table.model table.csv -o density.svg\n"
      "  jeffreys plot table.model --columns age,height,weight\n"
      "  jeffreys plot table.model --training -o training.png");
  command->callback([a, &globals] { run_plot(*a, globals); });
}

}  // namespace jeffreys::cli
