#include "jeffreys/table/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "jeffreys/base/input_error.h"

namespace jeffreys {

bool Column::missing(std::size_t row) const {
  return is_text() ? codes[row] < 0 : std::isnan(numbers[row]);
}

std::string Column::text(std::size_t row) const {
  if (missing(row)) return {};
  // Adding 0 turns -0 into 0.
  return is_text() ? labels[static_cast<std::size_t>(codes[row])]
                   : fmt::format("{}", numbers[row] + 0.0);
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
