#include "jeffreys/table/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <numeric>
#include <stdexcept>

#include "base/shuffle.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/base/random_purpose.h"

namespace jeffreys {

bool Column::missing(std::size_t row) const {
  return is_text() ? codes[row] < 0 : std::isnan(numbers[row]);
}

std::string Column::text(std::size_t row) const {
  if (missing(row)) return {};
  return is_text() ? labels[static_cast<std::size_t>(codes[row])] : notation.write(numbers[row]);
}

const Column* Table::find(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

std::size_t Table::line(std::size_t row) const {
  const auto after =
      std::upper_bound(anchors.begin(), anchors.end(), row,
                       [](std::size_t r, const LineAnchor& anchor) { return r < anchor.row; });
  if (after == anchors.begin()) return 0;
  const LineAnchor& anchor = *(after - 1);
  return anchor.line + (row - anchor.row);
}

namespace {

// Less, equal or greater; what is missing comes last.
std::weak_ordering compare_cells(const Column& column, std::size_t a, std::size_t b) {
  const bool a_missing = column.missing(a);
  if (a_missing || column.missing(b)) return a_missing <=> column.missing(b);
  if (column.is_text()) {
    if (column.codes[a] == column.codes[b]) return std::weak_ordering::equivalent;
    return column.labels[static_cast<std::size_t>(column.codes[a])] <=>
           column.labels[static_cast<std::size_t>(column.codes[b])];
  }
  return std::weak_order(column.numbers[a] + 0.0, column.numbers[b] + 0.0);
}

template <typename Item>
std::vector<Item> in_order(const std::vector<Item>& items, const std::vector<std::size_t>& order) {
  std::vector<Item> result;
  if (items.empty()) return result;
  result.reserve(items.size());
  for (const std::size_t row : order) result.push_back(items[row]);
  return result;
}

}  // namespace

Table ordered_by_content(const Table& table, const std::vector<std::string>& but_not) {
  std::vector<const Column*> columns;
  for (const Column& column : table.columns) {
    if (std::find(but_not.begin(), but_not.end(), column.name) == but_not.end()) {
      columns.push_back(&column);
    }
  }
  std::vector<std::size_t> order(table.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    for (const Column* column : columns) {
      const std::weak_ordering compared = compare_cells(*column, a, b);
      if (compared != 0) return compared < 0;
    }
    return false;
  });
  // Neighbours are alike now, which those who look at the first rows only must not see.
  shuffle(order, {.seed = 0, .purpose = kRowOrder, .iteration = 0});
  Table ordered = table;
  ordered.anchors.clear();
  for (Column& column : ordered.columns) {
    column.numbers = in_order(column.numbers, order);
    column.codes = in_order(column.codes, order);
    column.first_text_row = static_cast<std::size_t>(
        std::find(order.begin(), order.end(), column.first_text_row) - order.begin());
  }
  for (std::size_t row = 0; row < order.size() && !table.anchors.empty(); ++row) {
    ordered.anchors.push_back({row, table.line(order[row])});
  }
  return ordered;
}

Table table_from_matrix(const MatrixView<double>& values, const std::vector<std::string>& names) {
  if (static_cast<std::size_t>(values.cols()) != names.size()) {
    throw std::invalid_argument(fmt::format("names: expected one for each of {} columns, got {}",
                                            values.cols(), names.size()));
  }
  Table table;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Vector<double> numbers = values.col(static_cast<Eigen::Index>(i));
    table.columns.push_back({.name = names[i], .numbers = {numbers.begin(), numbers.end()}});
  }
  return table;
}

Matrix<double> matrix_from_table(const Table& table, const std::vector<std::string>& names) {
  Matrix<double> numbers(static_cast<Eigen::Index>(table.rows()),
                         static_cast<Eigen::Index>(names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Column* column = table.find(names[i]);
    if (column == nullptr) {
      throw InputError(table.source, fmt::format("there is no column '{}'; it needs the columns {}",
                                                 names[i], fmt::join(names, ", ")));
    }
    for (std::size_t r = 0; r < table.rows(); ++r) {
      const double value = column->is_text() ? std::nan("") : column->numbers[r];
      if (!std::isfinite(value)) {
        throw InputError(table.source,
                         fmt::format("column '{}' has a cell that is no finite number", names[i]),
                         table.line(r), column->place);
      }
      numbers(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(i)) = value;
    }
  }
  return numbers;
}

}  // namespace jeffreys
