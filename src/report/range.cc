#include "report/range.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace jeffreys::report {

bool can_be_drawn(double value) { return std::abs(value) <= 1e100; }

std::vector<double> drawable(const std::vector<double>& values) {
  std::vector<double> result;
  std::copy_if(values.begin(), values.end(), std::back_inserter(result), can_be_drawn);
  return result;
}

double quantile(std::vector<double> values, double fraction) {
  const auto place = values.begin() +
                     static_cast<std::ptrdiff_t>(fraction * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

std::vector<double> column_of(const MatrixView<double>& matrix, Eigen::Index column) {
  std::vector<double> result(static_cast<std::size_t>(matrix.rows()));
  for (std::size_t r = 0; r < result.size(); ++r) {
    result[r] = matrix(static_cast<Eigen::Index>(r), column);
  }
  return result;
}

Interval fit(const std::vector<const std::vector<double>*>& values, bool logarithmic) {
  double min = std::numeric_limits<double>::infinity();
  double max = -min;
  for (const std::vector<double>* set : values) {
    for (const double value : *set) {
      if (!can_be_drawn(value) || (logarithmic && value <= 0)) continue;
      min = std::min(min, value);
      max = std::max(max, value);
    }
  }
  if (min > max) return {logarithmic ? 1.0 : 0.0, logarithmic ? 10.0 : 1.0};
  if (logarithmic) {
    const double margin = std::max(std::pow(max / min, 0.04), 1.02);
    return {min / margin, max * margin};
  }
  const double margin = 0.04 * (max - min);
  return choose(min - margin, max + margin, {});
}

Interval choose(double min, double max, const Interval& fitted) {
  if (!can_be_drawn(min)) min = fitted.min;
  if (!can_be_drawn(max)) max = fitted.max;
  // Narrower, gnuplot runs out of digits.
  const double narrowest = 1e-7 * std::max(std::abs(min), std::abs(max));
  if (max - min > narrowest) return {min, max};
  const double middle = 0.5 * (min + max);
  const double half = std::max(0.5, std::abs(middle) * 1e-3);
  return {middle - half, middle + half};
}

}  // namespace jeffreys::report
