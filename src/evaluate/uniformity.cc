#include "jeffreys/evaluate/uniformity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include "base/checks.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

constexpr std::int64_t kFewestRanks = 10;
constexpr double kOutsideBand = 0.005;  // on either side

// Kolmogorov's distribution, of z = sqrt(n) distance for infinite n. Each of the two series
// converges within a few terms on its side of 1.
double kolmogorov_tail(double z) {
  if (z <= 0) return 1;
  double sum = 0;
  if (z < 1) {
    const double base = -std::numbers::pi * std::numbers::pi / (8 * z * z);
    for (const double odd : {1.0, 3.0, 5.0}) sum += std::exp(base * odd * odd);
    return 1 - std::sqrt(2 * std::numbers::pi) / z * sum;
  }
  for (const double k : {1.0, 2.0, 3.0, 4.0}) {
    const double term = std::exp(-2 * k * k * z * z);
    sum += std::fmod(k, 2) == 1 ? term : -term;
  }
  return 2 * sum;
}

void check_probability(const char* argument, double value) {
  if (!(value > 0 && value < 1)) {
    throw std::invalid_argument(
        fmt::format("{}: expected more than 0 and less than 1, got {}", argument, value));
  }
}

// The probabilities of 0 ... n successes. They start at the likeliest number, since that of 0 may
// be too small for a double.
std::vector<double> binomial_probabilities(std::size_t n, double share) {
  std::vector<double> weight(n + 1, 0.0);
  const auto trials = static_cast<double>(n);
  const double odds = share / (1 - share);
  const std::size_t mode = std::min(n, static_cast<std::size_t>((trials + 1) * share));
  weight[mode] = 1;
  for (std::size_t k = mode; k < n; ++k) {
    const auto at = static_cast<double>(k);
    weight[k + 1] = weight[k] * odds * (trials - at) / (at + 1);
  }
  for (std::size_t k = mode; k > 0; --k) {
    const auto at = static_cast<double>(k);
    weight[k - 1] = weight[k] / odds * at / (trials - at + 1);
  }
  const double sum = std::accumulate(weight.begin(), weight.end(), 0.0);
  for (double& w : weight) w /= sum;
  return weight;
}

void set_band(RankBin& bin, std::size_t n, double share) {
  const std::vector<double> probability = binomial_probabilities(n, share);
  std::size_t lower = 0;
  double below = probability[0];
  while (below < kOutsideBand) below += probability[++lower];
  std::size_t upper = n;
  double above = probability[n];
  while (above < kOutsideBand) above += probability[--upper];
  bin.lower = static_cast<int>(lower);
  bin.upper = static_cast<int>(upper);
}

// Bin b holds the ranks from floor(b values / bins) on.
std::vector<RankBin> bins_of(std::span<const int> ranks, std::int64_t values) {
  const auto n = static_cast<double>(ranks.size());
  const auto most = static_cast<std::int64_t>(std::min(2 * std::pow(n, 0.4), n / 5));
  const std::int64_t count = std::min(values, most);
  std::vector<RankBin> bins(static_cast<std::size_t>(count));
  for (std::int64_t b = 0; b < count; ++b) {
    const std::int64_t held = (b + 1) * values / count - b * values / count;
    const double share = static_cast<double>(held) / static_cast<double>(values);
    RankBin& bin = bins[static_cast<std::size_t>(b)];
    bin.expected = n * share;
    set_band(bin, ranks.size(), share);
  }
  for (const int rank : ranks) {
    ++bins[static_cast<std::size_t>(((rank + std::int64_t{1}) * count - 1) / values)].count;
  }
  return bins;
}

// Uniform numbers in (0, 1) if the ranks are uniform.
std::vector<double> spread_ranks(std::span<const int> ranks, double values, std::uint64_t seed) {
  std::vector<double> spread(ranks.size());
  kernels::fill_uniforms(
      kernels::RandomArguments<double>{{seed, kSpreadRanks, 0}, 0, ranks.size(), 1, spread.data()});
  for (std::size_t i = 0; i < ranks.size(); ++i) spread[i] = (ranks[i] + spread[i]) / values;
  return spread;
}

double largest_distance(std::vector<double> uniform) {
  std::sort(uniform.begin(), uniform.end());
  const auto n = static_cast<double>(uniform.size());
  double largest = 0;
  for (std::size_t i = 0; i < uniform.size(); ++i) {
    const auto before = static_cast<double>(i);
    largest = std::max({largest, uniform[i] - before / n, (before + 1) / n - uniform[i]});
  }
  return largest;
}

void check_ranks(std::span<const int> ranks, int most) {
  check_at_least("most", most, 1);
  check_at_least("ranks", static_cast<std::int64_t>(ranks.size()), kFewestRanks);
  for (const int rank : ranks) check_between("a rank", rank, 0, most);
}

}  // namespace

// The finite sums of Abramowitz and Stegun, 26.4.4 and 26.4.5.
double chi_square_tail(double value, std::size_t degrees_of_freedom) {
  check_at_least("degrees_of_freedom", static_cast<std::int64_t>(degrees_of_freedom), 1);
  if (!(value > 0)) return std::isnan(value) ? value : 1;
  if (std::isinf(value)) return 0;
  const bool odd = degrees_of_freedom % 2 == 1;
  double term = std::exp(-value / 2) * (odd ? std::sqrt(2 * value / std::numbers::pi) : 1);
  double sum = odd ? std::erfc(std::sqrt(value / 2)) : 0;
  for (std::size_t degrees = odd ? 3 : 2; degrees <= degrees_of_freedom; degrees += 2) {
    sum += term;
    term *= value / static_cast<double>(degrees);
  }
  return std::min(sum, 1.0);
}

double kolmogorov_smirnov_tail(double distance, std::size_t n) {
  check_at_least("n", static_cast<std::int64_t>(n), 1);
  const double root = std::sqrt(static_cast<double>(n));
  const double z = root * distance;
  return kolmogorov_tail(z + 1 / (6 * root) + (z - 1) / (4 * root * root));
}

double kolmogorov_smirnov_distance(double tail, std::size_t n) {
  check_probability("tail", tail);
  double below = 0;
  double above = 1;
  constexpr int kHalvings = 50;  // beyond the resolution of a double
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (below + above);
    (kolmogorov_smirnov_tail(middle, n) > tail ? below : above) = middle;
  }
  return above;
}

std::vector<double> holm_correction(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> corrected(p_values.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto untested = static_cast<double>(order.size() - i);
    largest = std::max(largest, std::min(1.0, untested * p_values[order[i]]));
    corrected[order[i]] = largest;
  }
  return corrected;
}

UniformityTest uniformity_test(std::span<const int> ranks, int most, std::uint64_t seed) {
  check_ranks(ranks, most);
  UniformityTest test{.bins = bins_of(ranks, std::int64_t{most} + 1)};
  for (const RankBin& bin : test.bins) {
    test.chi_square += std::pow(bin.count - bin.expected, 2) / bin.expected;
  }
  test.chi_square_p_value = chi_square_tail(test.chi_square, test.bins.size() - 1);
  const std::vector<double> uniform = spread_ranks(ranks, most + 1.0, seed);
  test.distance = largest_distance(uniform);
  test.distance_p_value = kolmogorov_smirnov_tail(test.distance, ranks.size());
  test.p_value = std::min(1.0, 2 * std::min(test.chi_square_p_value, test.distance_p_value));
  // A uniform number has variance 1/12, its distance from the middle mean 1/4 and variance 1/48.
  const double root = std::sqrt(static_cast<double>(ranks.size()));
  for (const double u : uniform) {
    test.location += (u - 0.5) * std::sqrt(12.0) / root;
    test.spread += (std::abs(u - 0.5) - 0.25) * std::sqrt(48.0) / root;
  }
  return test;
}

}  // namespace jeffreys
