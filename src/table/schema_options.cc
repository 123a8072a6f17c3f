#include "table/schema_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "table/column_values.h"

namespace jeffreys {
namespace {

bool without_values(const Column& column) {
  if (column.text_cells > 0) return false;
  for (std::size_t row = 0; row < column.rows(); ++row) {
    if (!column.missing(row)) return false;
  }
  return true;
}

void refuse_both(const std::vector<std::string>& first, const char* first_name,
                 const std::vector<std::string>& second, const char* second_name) {
  for (const std::string& name : first) {
    if (!contains(second, name)) continue;
    throw std::invalid_argument(fmt::format("column {} is declared {} and {}; leave one out",
                                            quote(name), first_name, second_name));
  }
}

void validate_distributions(const SchemaOptions& options) {
  std::vector<std::string> names;
  for (const auto& [name, distribution] : options.distributions) {
    names.push_back(name);
    if (options.bounds.contains(name)) {
      throw std::invalid_argument(fmt::format(
          "column {} has bounds and a distribution; leave the bounds out", quote(name)));
    }
    try {
      distribution.validate();
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(
          fmt::format("distribution of column {}: {}", quote(name), error.what()));
    }
  }
  refuse_both(names, "with a distribution", options.condition, "a condition");
  refuse_both(names, "with a distribution", options.categorical, "categorical");
  refuse_both(names, "with a distribution", options.integer, "integer");
  refuse_both(names, "with a distribution", options.ignore, "ignored");
}

// No time of day is before midnight or after the next one; times that are longer than a day are
// durations, which are not negative.
Bounds bounds_of_times(const Column& column) {
  constexpr double kDay = 86400;
  Bounds bounds{.lower = 0};
  const bool of_day = std::all_of(column.numbers.begin(), column.numbers.end(),
                                  [](double time) { return !(time >= kDay); });
  const bool seconds = column.notation.pattern.find("%S") != std::string::npos;
  const double step = seconds ? std::pow(10.0, -std::max(column.notation.decimals, 0)) : 60;
  if (of_day) bounds.upper = kDay - step;
  return bounds;
}

bool is_left_out(const Column& column, const SchemaOptions& options) {
  return contains(options.ignore, column.name) || column.name == options.weights ||
         without_values(column);
}

bool categorical(const Column& column, const SchemaOptions& options) {
  return column.is_text() || contains(options.categorical, column.name);
}

}  // namespace

void SchemaOptions::validate() const {
  refuse_both(categorical, "categorical", integer, "integer");
  refuse_both(ignore, "ignored", condition, "a condition");
  refuse_both(ignore, "ignored", categorical, "categorical");
  refuse_both(ignore, "ignored", integer, "integer");
  for (const auto& [list, name] : {std::pair{&ignore, "ignored"},
                                   {&condition, "a condition"},
                                   {&categorical, "categorical"},
                                   {&integer, "integer"}}) {
    if (!weights.empty()) refuse_both({weights}, "as the weights", *list, name);
  }
  for (const auto& [name, range] : bounds) {
    const bool between = range.lower < range.upper &&
                         range.lower < std::numeric_limits<double>::infinity() &&
                         range.upper > -std::numeric_limits<double>::infinity();
    if (!between) {
      throw std::invalid_argument(
          fmt::format("bounds of column {}: the lower, {}, must be below "
                      "the upper, {}",
                      quote(name), range.lower, range.upper));
    }
  }
  validate_distributions(*this);
}

void require_columns(const Table& table, const SchemaOptions& options) {
  std::vector<std::string> known;
  for (const Column& column : table.columns) known.push_back(column.name);
  const auto require = [&](const std::string& name, const char* list) {
    if (contains(known, name)) return;
    throw InputError(table.source,
                     fmt::format("there is no column {}, which is named as {}; the columns are {}",
                                 quote(name), list, fmt::join(known, ", ")));
  };
  for (const std::string& name : options.condition) require(name, "condition");
  for (const std::string& name : options.categorical) require(name, "categorical");
  for (const std::string& name : options.integer) require(name, "integer");
  for (const std::string& name : options.ignore) require(name, "ignored");
  if (!options.weights.empty()) require(options.weights, "the weights");
  for (const auto& [name, range] : options.bounds) {
    require(name, "bounded");
    if (categorical(*table.find(name), options)) {
      throw InputError(table.source, fmt::format("column {} is categorical, so it cannot have "
                                                 "bounds; leave them out",
                                                 quote(name)));
    }
  }
  for (const auto& [name, distribution] : options.distributions) {
    require(name, "a column with a distribution");
    if (!without_values(*table.find(name))) continue;
    throw InputError(table.source, fmt::format("column {} has no values, but a distribution; fill "
                                               "it in, or leave the distribution out",
                                               quote(name)));
  }
}

ColumnInfo initial_info(const Table& table, const Column& column, const SchemaOptions& options) {
  ColumnInfo info;
  info.name = column.name;
  if (is_left_out(column, options)) {
    info.role = ColumnRole::left_out;
    info.kind = ColumnKind::ignored;
    return info;
  }
  info.notation = column.notation;
  const auto distribution = options.distributions.find(column.name);
  if (distribution != options.distributions.end()) {
    info.distribution = distribution->second;
    info.notation.decimals = -1;  // rounded, a sample could leave the support
    info.notation.fixed = false;
    info.notation.exponent = '\0';
    return info;
  }
  if (contains(options.condition, column.name)) info.role = ColumnRole::condition;
  if (categorical(column, options) && !contains(options.integer, column.name)) {
    info.kind = ColumnKind::categorical;
    info.notation = {};
    info.labels = sorted_labels(table, column);
    return info;
  }
  if (contains(options.integer, column.name)) info.kind = ColumnKind::integer;
  const auto range = options.bounds.find(column.name);
  if (range != options.bounds.end()) {
    info.bounds = range->second;
  } else if (column.notation.is_time_of_day() && info.role == ColumnRole::feature) {
    info.bounds = bounds_of_times(column);
  }
  return info;
}

std::vector<std::size_t> usable_rows(const Table& table, const SchemaOptions& options) {
  std::vector<bool> usable(table.rows(), true);
  for (const Column& column : table.columns) {
    if (is_left_out(column, options)) continue;
    const bool condition = contains(options.condition, column.name);
    for (std::size_t row = 0; row < usable.size(); ++row) {
      // Text among numbers is refused as such, not as missing.
      if (!column.missing(row) || column.text_cells > 0) continue;
      if (condition || options.missing != Missing::keep) usable[row] = false;
      if (options.missing == Missing::error) refuse_missing(table, column, row);
    }
  }
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < usable.size(); ++row) {
    if (usable[row]) rows.push_back(row);
  }
  return rows;
}

Vector<double> row_weights(const Table& table, const std::string& column,
                           std::span<const std::size_t> rows) {
  const Column* found = table.find(column);
  if (found == nullptr) {
    throw InputError(table.source, fmt::format("there is no column {}, which is named as the "
                                               "weights; correct the name",
                                               quote(column)));
  }
  Vector<double> weights(static_cast<Eigen::Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double weight = found->is_text() ? std::nan("") : found->numbers[rows[i]];
    if (!(weight >= 0) || std::isinf(weight)) {
      refuse_cell(
          table, *found, rows[i],
          fmt::format("is to hold weights but has {}; give every row a number that is not "
                      "negative, or leave the row out",
                      found->missing(rows[i]) ? "a missing cell" : quote(found->text(rows[i]))));
    }
    weights(static_cast<Eigen::Index>(i)) = weight;
  }
  if (weights.size() > 0 && !(weights.maxCoeff() > 0)) {
    throw InputError(table.source, fmt::format("all weights in column {} are 0; rows that count "
                                               "need a positive one",
                                               quote(column)));
  }
  return weights;
}

}  // namespace jeffreys
