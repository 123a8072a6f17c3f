#include "table/condition_map.h"

#include <fmt/format.h>

#include <algorithm>
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

double standardized(const ColumnInfo& info, double value) {
  return (info.tails.draw_in(value) - info.mean) / info.scale;
}

}  // namespace

HeavyTails find_tails(std::vector<double> values) {
  constexpr double kFar = 10;
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double share) {
    return values[static_cast<std::size_t>(
        std::lround(share * static_cast<double>(values.size() - 1)))];
  };
  const double centre = quantile(0.5);
  const double lower = quantile(0.25);
  const double upper = quantile(0.75);
  const double farthest = std::max(values.back() - centre, centre - values.front());
  // Where half of the values are equal, one quartile is the median itself.
  const double near = std::max(upper - centre, centre - lower);
  if (!(near > 0 && farthest > kFar * near)) return {};
  return {.centre = centre, .width = (upper - lower) / 2};
}

std::size_t context_width(const ColumnInfo& info) {
  return info.kind == ColumnKind::categorical ? info.labels.size() : 1;
}

void write_condition(const ColumnInfo& info, double value, Eigen::Index first,
                     Eigen::Ref<Eigen::RowVectorXd> row) {
  if (info.kind == ColumnKind::categorical) {
    row.segment(first, static_cast<Eigen::Index>(info.labels.size())).setZero();
    row[first + static_cast<Eigen::Index>(value)] = 1;
  } else {
    row[first] = standardized(info, value);
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
  // shortest that is standardised to the same. A logarithm keeps fewer digits of a far value.
  const double value = info.tails.push_out(row[first] * info.scale + info.mean);
  const double up = std::nextafter(value, std::numeric_limits<double>::infinity());
  const double down = std::nextafter(value, -std::numeric_limits<double>::infinity());
  for (int digits = info.tails.width > 0 ? 13 : 15; digits <= 16; ++digits) {
    const double candidate = with_digits(value, digits);
    if (standardized(info, candidate) == row[first]) return candidate;
  }
  for (const double candidate : {value, up, down}) {
    if (standardized(info, candidate) == row[first]) return candidate;
  }
  return value;
}

}  // namespace jeffreys
