#include "jeffreys/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

}  // namespace jeffreys
