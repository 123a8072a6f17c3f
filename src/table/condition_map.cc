#include "table/condition_map.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/cell.h"

namespace jeffreys {
namespace {

double with_digits(double value, int digits) {
  double result = value;
  read_cell(fmt::format("{:.{}g}", value, digits), result);
  return result;
}

}  // namespace

std::size_t context_width(const ColumnInfo& info) {
  return info.kind == ColumnKind::categorical ? info.labels.size() : 1;
}

void write_condition(const ColumnInfo& info, double value, Eigen::Index first,
                     Eigen::Ref<Eigen::RowVectorXd> row) {
  if (info.kind == ColumnKind::categorical) {
    row.segment(first, static_cast<Eigen::Index>(info.labels.size())).setZero();
    row[first + static_cast<Eigen::Index>(value)] = 1;
  } else {
    row[first] = (value - info.mean) / info.scale;
  }
}

double read_condition(const ColumnInfo& info, const Eigen::Ref<const Eigen::RowVectorXd>& row,
                      Eigen::Index first) {
  if (info.kind == ColumnKind::categorical) {
    Eigen::Index label = 0;
    row.segment(first, static_cast<Eigen::Index>(info.labels.size())).maxCoeff(&label);
    return static_cast<double>(label);
  }
  // Standardising and back may change the last digits of a double: of the numbers nearby, take the
  // shortest that is standardised to the same.
  const double value = row[first] * info.scale + info.mean;
  const double up = std::nextafter(value, std::numeric_limits<double>::infinity());
  const double down = std::nextafter(value, -std::numeric_limits<double>::infinity());
  for (const double candidate : {with_digits(value, 15), with_digits(value, 16), value, up, down}) {
    if ((candidate - info.mean) / info.scale == row[first]) return candidate;
  }
  return value;
}

}  // namespace jeffreys
