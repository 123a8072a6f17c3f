#include "jeffreys/table/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/fingerprint.h"
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
std::vector<Item> in_order(const std::vector<Item>& items, std::span<const std::size_t> order) {
  std::vector<Item> result;
  if (items.empty()) return result;
  result.reserve(items.size());
  for (const std::size_t row : order) result.push_back(items[row]);
  return result;
}

// Where the number lies between the least and the largest of its column, in steps that rounding
// does not reach: the same in any unit.
class Steps {
 public:
  explicit Steps(const Column& column) {
    for (const double number : column.numbers) {
      if (!std::isfinite(number)) continue;
      least_ = std::min(least_, number);
      most_ = std::max(most_, number);
    }
  }
  [[nodiscard]] std::int64_t of(double number) const {
    constexpr double kSteps = 1 << 20;
    if (!std::isfinite(number) || !(most_ > least_)) return -1;
    return std::llround((number / 2 - least_ / 2) / (most_ / 2 - least_ / 2) * kSteps);
  }

 private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

// Of the cells, row by row in this order.
std::uint64_t digest(const std::vector<const Column*>& columns,
                     const std::vector<std::size_t>& order) {
  std::vector<Steps> steps;
  for (const Column* column : columns) steps.emplace_back(*column);
  Fingerprint all;
  for (const std::size_t row : order) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c]->is_text()) {
        all.add(std::span<const char>(columns[c]->text(row)));
      } else {
        const std::int64_t step = steps[c].of(columns[c]->numbers[row]);
        all.add(std::span<const std::int64_t>(&step, 1));
      }
    }
  }
  return all.value();
}

// Cells that are text, of a column whose rows were taken in this order.
void take_text_cells(const Column& whole, std::span<const std::size_t> order, Column& part) {
  if (whole.text_cells == 0) return;
  const auto found = std::find(order.begin(), order.end(), whole.first_text_row);
  part.first_text_row = static_cast<std::size_t>(found - order.begin());
  if (found == order.end()) part.text_cells = 0;
}

// Only labels that occur, in order of first appearance.
void forget_labels(Column& column) {
  std::vector<std::int32_t> places(column.labels.size(), -1);
  std::vector<std::string> labels;
  for (std::int32_t& code : column.codes) {
    if (code < 0) continue;
    std::int32_t& place = places[static_cast<std::size_t>(code)];
    if (place < 0) {
      place = static_cast<std::int32_t>(labels.size());
      labels.push_back(column.labels[static_cast<std::size_t>(code)]);
    }
    code = place;
  }
  column.labels = std::move(labels);
}

}  // namespace

Table take_rows(const Table& table, std::span<const std::size_t> rows) {
  Table taken = table;
  taken.anchors.clear();
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    Column& column = taken.columns[i];
    column.numbers = in_order(column.numbers, rows);
    column.codes = in_order(column.codes, rows);
    take_text_cells(table.columns[i], rows, column);
    forget_labels(column);
  }
  for (std::size_t row = 0; row < rows.size() && !table.anchors.empty(); ++row) {
    taken.anchors.push_back({row, table.line(rows[row])});
  }
  return taken;
}

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
  // Neighbours are alike now, and places are ranks. So the order is mixed, by what the table holds:
  // by a fixed order a split would take the same ranks of every table, and rows that are kept for
  // p-values would not be like new ones.
  shuffle(order, {.seed = digest(columns, order), .purpose = kRowOrder, .iteration = 0});
  return take_rows(table, order);
}

Table table_from_matrix(const MatrixView<double>& values, const std::vector<std::string>& names) {
  if (static_cast<std::size_t>(values.cols()) != names.size()) {
    throw std::invalid_argument(fmt::format("names: expected one for each of {} columns, got {}",
                                            values.cols(), names.size()));
  }
  Table table;
  table.columns.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    Column& column = table.columns.emplace_back(Column{.name = names[i]});
    column.numbers.resize(static_cast<std::size_t>(values.rows()));
    Eigen::Map<Vector<double>>(column.numbers.data(), values.rows()) =
        values.col(static_cast<Eigen::Index>(i));
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
