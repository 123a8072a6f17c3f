#include "jeffreys/evaluate/seeds.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "base/checks.h"

namespace jeffreys {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Probability that |t| < sqrt(degrees) tan(angle): the finite sums of Abramowitz and Stegun, 26.7.3
// and 26.7.4, exact for every whole number of degrees of freedom.
double central_probability(double angle, std::size_t degrees) {
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = 0;
  for (std::size_t power = odd ? 1 : 0; power + 2 <= degrees; power += 2) {
    sum += term;
    const auto p = static_cast<double>(power);
    term *= cosine * cosine * (p + 1) / (p + 2);
  }
  const double tail = std::sin(angle) * sum;
  return odd ? 2 / std::numbers::pi * (angle + tail) : tail;
}

}  // namespace

double student_t_quantile(double probability, std::size_t degrees_of_freedom) {
  if (!(probability > 0 && probability < 1)) {
    throw std::invalid_argument(
        fmt::format("probability: expected more than 0 and less than 1, got {}", probability));
  }
  check_at_least("degrees_of_freedom", static_cast<std::int64_t>(degrees_of_freedom), 1);
  const double central = std::abs(2 * probability - 1);
  double below = 0;
  double above = std::numbers::pi / 2;
  constexpr int kHalvings = 60;  // beyond the resolution of a double
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (below + above);
    (central_probability(middle, degrees_of_freedom) < central ? below : above) = middle;
  }
  const double t = std::sqrt(static_cast<double>(degrees_of_freedom)) * std::tan(below);
  return probability < 0.5 ? -t : t;
}

SeedSummary seed_summary(std::span<const double> values) {
  check_at_least("values", static_cast<std::int64_t>(values.size()), 1);
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {.mean = mean, .standard_deviation = std::sqrt(squares / (n - 1)), .n = values.size()};
}

PairedInterval paired_interval(std::span<const double> a, std::span<const double> b) {
  check_size("b", static_cast<std::int64_t>(b.size()), static_cast<std::int64_t>(a.size()));
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(b[i] - a[i]);
  const SeedSummary summary = seed_summary(differences);
  if (summary.n == 1) return {summary.mean, -kInfinity, kInfinity, 1};
  const double half = student_t_quantile(0.975, summary.n - 1) * summary.standard_deviation /
                      std::sqrt(static_cast<double>(summary.n));
  return {summary.mean, summary.mean - half, summary.mean + half, summary.n};
}

}  // namespace jeffreys
