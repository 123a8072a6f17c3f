// Numbers as a table with named columns, which is what a schema reads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "jeffreys/base/matrix.h"
#include "jeffreys/table/table.h"

namespace jeffreys {

// One column for each name.
inline Table number_table(const std::vector<std::string>& names, const MatrixView<double>& values) {
  Table table{"", {}, {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Vector<double> numbers = values.col(static_cast<Eigen::Index>(i));
    Column column;
    column.name = names[i];
    column.numbers.assign(numbers.begin(), numbers.end());
    table.columns.push_back(std::move(column));
  }
  return table;
}

}  // namespace jeffreys
