#include "jeffreys/evaluate/resampled_interval.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "jeffreys/evaluate/seeds.h"

namespace jeffreys {

ResampledDifference resampled_difference(std::span<const double> differences, double test_share) {
  if (!(test_share >= 0 && test_share < 1)) {
    throw std::invalid_argument(
        fmt::format("test_share: expected at least 0 and less than 1, got {}", test_share));
  }
  const SeedSummary summary = seed_summary(differences);
  ResampledDifference result{.mean = summary.mean, .splits = summary.n};
  if (summary.n == 1) {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    result.standard_error = std::numeric_limits<double>::quiet_NaN();
    result.lower = -kInfinite;
    result.upper = kInfinite;
    return result;
  }
  const double overlap = test_share / (1 - test_share);
  result.standard_error =
      summary.standard_deviation * std::sqrt(1 / static_cast<double>(summary.n) + overlap);
  const double half = student_t_quantile(0.975, summary.n - 1) * result.standard_error;
  result.lower = summary.mean - half;
  result.upper = summary.mean + half;
  return result;
}

}  // namespace jeffreys
