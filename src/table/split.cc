#include "jeffreys/table/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

#include "base/shuffle.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {

double validation_fraction(std::size_t rows) {
  const double decades = std::log10(static_cast<double>(std::max<std::size_t>(rows, 1))) - 3;
  return 0.2 - 0.1 * std::clamp(decades, 0.0, 1.0);
}

double calibration_fraction(std::size_t rows) {
  if (rows < 1000) return 0;
  const auto all = static_cast<double>(rows);
  return std::clamp(0.05 * all, 100.0, 1000.0) / all;
}

Split split_rows(std::size_t rows, double fraction, double calibration, std::uint64_t seed) {
  if (calibration == 0) return split_rows(rows, fraction, seed);
  // Far from any seed that somebody chooses.
  constexpr std::uint64_t kCalibrationSeed = 0x5be0cd19137e2179ULL;
  const Split kept = split_rows(rows, calibration, seed ^ kCalibrationSeed);
  const Split others = split_rows(kept.training.size(), fraction, seed);
  Split split{.training = {}, .validation = {}, .calibration = kept.validation};
  for (const std::size_t row : others.training) split.training.push_back(kept.training[row]);
  for (const std::size_t row : others.validation) split.validation.push_back(kept.training[row]);
  return split;
}

Split split_rows(std::size_t rows, double fraction, std::uint64_t seed) {
  if (!(fraction >= 0 && fraction < 1)) {
    throw std::invalid_argument(
        fmt::format("split_rows: fraction must be at least 0 and below 1, not {}", fraction));
  }
  auto held_out = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(rows)));
  if (fraction > 0 && rows > 1) held_out = std::clamp<std::size_t>(held_out, 1, rows - 1);
  if (rows <= 1) held_out = 0;

  std::vector<double> keys(rows);
  kernels::fill_uniforms(kernels::RandomArguments<double>{
      .key = {.seed = seed, .purpose = kSplitPurpose, .iteration = 0},
      .first_row = 0,
      .rows = rows,
      .columns = 1,
      .output = keys.data()});
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(held_out);
  std::nth_element(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
    return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
  });
  Split split{{middle, order.end()}, {order.begin(), middle}};
  std::sort(split.training.begin(), split.training.end());
  std::sort(split.validation.begin(), split.validation.end());
  return split;
}

Split split_groups(std::span<const std::size_t> groups, double fraction, std::uint64_t seed) {
  if (!(fraction > 0 && fraction < 1)) {
    throw std::invalid_argument(
        fmt::format("split_groups: fraction must be above 0 and below 1, not {}", fraction));
  }
  std::map<std::size_t, std::size_t> sizes;
  for (const std::size_t group : groups) ++sizes[group];
  if (sizes.size() < 2) {
    throw std::invalid_argument("split_groups: expected two groups or more");
  }
  std::vector<std::size_t> order;
  for (const auto& [group, size] : sizes) order.push_back(group);
  shuffle(order, {.seed = seed, .purpose = kGroupOrder, .iteration = 0});
  const auto wanted = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::llround(fraction * static_cast<double>(groups.size()))));
  std::set<std::size_t> held_out;
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < order.size() && count < wanted; ++i) {
    held_out.insert(order[i]);
    count += sizes[order[i]];
  }
  Split split;
  for (std::size_t row = 0; row < groups.size(); ++row) {
    (held_out.contains(groups[row]) ? split.validation : split.training).push_back(row);
  }
  return split;
}

std::vector<std::size_t> random_rows(std::vector<std::size_t> rows, std::size_t count,
                                     std::uint64_t seed) {
  if (rows.size() > count) {
    shuffle(rows, {.seed = seed, .purpose = kChosenRows, .iteration = 0});
    rows.resize(count);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<std::size_t> random_parts(std::size_t rows, std::size_t parts, std::uint64_t seed) {
  if (parts < 1 || parts > rows) {
    throw std::invalid_argument(
        fmt::format("random_parts: parts must be between 1 and the {} rows, not {}", rows, parts));
  }
  std::vector<std::size_t> part(rows);
  for (std::size_t row = 0; row < rows; ++row) part[row] = row % parts;
  shuffle(part, {.seed = seed, .purpose = kPartsPurpose, .iteration = 0});
  return part;
}

}  // namespace jeffreys
