#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/load.h"
#include "jeffreys/evaluate/held_out.h"
#include "jeffreys/fit/explain.h"
#include "jeffreys/fit/given.h"

namespace jeffreys::cli {
namespace {

struct LogProbArguments {
  std::string model;
  std::string table;
  std::string from;
  std::string precision = "float";
  std::vector<std::string> columns;
  std::vector<std::string> given;
  bool percentile = false;
  bool explain = false;
  std::string output;
  ReadingArguments reading;
};

constexpr std::size_t kMostExplained = 3;

// One number for each row of the table, in its order; NaN for rows that have none.
std::vector<double> by_row(const Vector<double>& values, const std::vector<std::size_t>& rows,
                           std::size_t all) {
  std::vector<double> result(all, std::nan(""));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    result[rows[i]] = values(static_cast<Eigen::Index>(i));
  }
  return result;
}

Column text_column(const std::string& name, const std::vector<std::string>& texts) {
  Column column{.name = name};
  for (const std::string& text : texts) {
    column.codes.push_back(text.empty() ? -1 : static_cast<std::int32_t>(column.labels.size()));
    if (!text.empty()) column.labels.push_back(text);
  }
  return column;
}

// The most surprising columns first: "age 4.2; site 1.3".
std::vector<std::string> explanations(const Surprises& surprises, std::size_t all) {
  std::vector<std::string> texts(all);
  for (std::size_t i = 0; i < surprises.rows.size(); ++i) {
    std::vector<std::pair<double, std::string>> columns;
    for (std::size_t j = 0; j < surprises.columns.size(); ++j) {
      columns.emplace_back(
          surprises.nats(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)),
          surprises.columns[j]);
    }
    std::stable_sort(columns.begin(), columns.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string& text = texts[surprises.rows[i]];
    for (std::size_t k = 0; k < std::min(kMostExplained, columns.size()); ++k) {
      const auto& [nats, name] = columns[k];
      if (nats > 0) text += fmt::format("{}{} {:.1f}", text.empty() ? "" : "; ", name, nats);
    }
  }
  return texts;
}

template <typename T>
std::vector<std::string> score_lines(const LogProbArguments& a, const TabularDensity<T>& density,
                                     const TableLogProb& result, From from, std::size_t rows) {
  std::vector<std::string> lines;
  if (density.schema().outdated()) lines.emplace_back(kOutdated);
  if (result.dropped > 0) {
    const bool kept = density.schema().missing() == Missing::keep;
    lines.push_back(fmt::format("{} of {} rows have {}: their log_prob is empty", result.dropped,
                                rows,
                                kept ? "no known cell, or lack a condition" : "missing values"));
  }
  if (!result.with_gaps.empty() && a.columns.empty() && a.given.empty()) {
    lines.push_back(fmt::format(
        "{} of {} rows have missing values: their log_prob is that of the cells which they have{}",
        result.with_gaps.size(), rows, a.percentile ? ", and they have no p_value" : ""));
  }
  if (!result.unusual.empty()) {
    lines.push_back(fmt::format(
        "{} of {} rows have a label that the model does not know, a value beyond its bounds, or "
        "cells that are too unusual: the column \"note\" says what",
        result.unusual.size(), rows));
  }
  if (a.percentile) {
    const CalibrationScores& known = density.calibration();
    const auto count = (from == From::main ? known.main : known.proxy).size();
    lines.push_back(
        known.kept
            ? fmt::format("p-values are from {} rows that the fit kept for nothing else", count)
            : fmt::format("p-values are approximate: they are from the {} held-out rows, which "
                          "also chose the model; `fit --calibration 0.1` keeps rows for p-values "
                          "alone",
                          count));
  }
  // Of the rows that have one.
  Vector<double> finite = result.log_prob;
  const auto end =
      std::remove_if(finite.begin(), finite.end(), [](double v) { return !std::isfinite(v); });
  finite.conservativeResize(end - finite.begin());
  const MeanNll nll = mean_nll(finite);
  if (nll.rows > 1) {
    lines.push_back(fmt::format("mean negative log density {:.4f} +- {:.4f} nats a row, {} rows",
                                nll.nll, nll.standard_error, nll.rows));
  }
  if (result.error.size() > 0 && result.error.maxCoeff() > 0) {
    const auto& columns = density.schema().columns();
    const bool cells = std::any_of(columns.begin(), columns.end(), [](const ColumnInfo& column) {
      return column.role == ColumnRole::feature && column.resolution > 0;
    });
    lines.push_back(
        fmt::format("{}{}: standard error {:.2g} nats on average, {:.2g} at most",
                    cells ? "whole and rounded numbers are cells, over which scores are integrated"
                          : "scores are integrated",
                    result.with_gaps.empty() ? ""
                    : cells                  ? ", as over what is not there"
                                             : " over what is not there",
                    result.error.mean(), result.error.maxCoeff()));
  }
  return lines;
}

// What is compared or explained is a row as a whole.
void require_whole_rows(const LogProbArguments& a) {
  if (a.columns.empty() && a.given.empty()) return;
  if (a.percentile)
    throw UsageError("--percentile is for whole rows: leave --columns and --given out");
  if (a.explain) throw UsageError("--explain is for whole rows: leave --columns and --given out");
}

template <typename T>
void run_log_prob(const LogProbArguments& a, const Globals& globals) {
  require_whole_rows(a);
  require_other_file(a.output, {a.model, a.table});
  require_table_name(a.output);
  const auto density = TabularDensity<T>::load(a.model);
  const From from = chosen_from(a.from, density);
  const Table table = read_table_for(a.table, density.schema(), a.reading);
  const bool some = !a.columns.empty() || !a.given.empty();
  TableLogProb result = some ? log_prob_given(density, table, a.columns, a.given, from)
                             : density.log_prob(table, from, Unusual::keep);
  withhold_uncertain(result);
  Table scores{"", {}, {}};
  const std::size_t rows = table.rows();
  scores.columns.push_back(
      {.name = "log_prob", .numbers = by_row(result.log_prob, result.rows, rows)});
  if (a.percentile) {
    scores.columns.push_back(
        {.name = "p_value", .numbers = by_row(density.p_values(result, from), result.rows, rows)});
  }
  if (!result.with_gaps.empty()) {
    scores.columns.push_back({.name = "error", .numbers = by_row(result.error, result.rows, rows)});
  }
  if (a.explain) {
    scores.columns.push_back(
        text_column("explanation", explanations(explain(density, table, from), rows)));
  }
  if (!result.unusual.empty()) {
    std::vector<std::string> notes(rows);
    for (const auto& [row, note] : result.unusual) notes[row] = note;
    scores.columns.push_back(text_column("note", notes));
  }
  write_result(scores, a.output, globals);
  for (const std::string& line : score_lines(a, density, result, from, rows)) say(globals, line);
}

}  // namespace

void add_log_prob(CLI::App& app, Globals& globals) {
  auto a = std::make_shared<LogProbArguments>();
  CLI::App* command =
      app.add_subcommand("log_prob", "Log density of a table's rows: low values are unusual rows");
  command->add_option("model", a->model, "Model file")->required();
  command->add_option("table", a->table, "CSV, NPY or NPZ file with the model's columns")
      ->required();
  command->add_flag("--percentile", a->percentile,
                    "Add p_value: the share of rows like those of the fit that are as unusual");
  command->add_flag("--explain", a->explain,
                    "Add explanation: the columns that make a row unusual, in nats more than "
                    "expected");
  command
      ->add_option("--columns", a->columns,
                   "The density of these columns alone; others are integrated out")
      ->delimiter(',');
  command->add_option("--given", a->given, "The density given the values of these columns")
      ->delimiter(',');
  add_from(*command, a->from);
  command->add_option("--precision", a->precision, "float (default) or double arithmetic")
      ->check(CLI::IsMember({"float", "double"}));
  command->add_option("-o,--output", a->output, "CSV, NPY or NPZ file (default: standard output)");
  add_reading_options(*command, a->reading);
  command->footer(
      "In nats, in the table's units. Rows with a label that the model does not know, or with a\n"
      "value beyond its bounds, are scored too, and a column says what is wrong. Examples:\n"
      "  jeffreys log_prob table.model new.csv -o scores.csv\n"
      "  jeffreys log_prob table.model new.csv --percentile --explain -o unusual.csv\n"
      "  jeffreys log_prob table.model new.csv --columns price --given age,site -o prices.csv\n"
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
