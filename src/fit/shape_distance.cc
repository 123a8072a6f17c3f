#include "fit/shape_distance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "jeffreys/table/split.h"

namespace jeffreys {
namespace {

constexpr int kFifths = 5;
// Random parts of the pooled rows, by which chance is known.
constexpr std::uint64_t kTurns = 40;
constexpr double kDeviations = 3;

// Whether each pooled row counts as one of the second table: in truth, or by chance.
using Sides = std::vector<char>;

std::vector<Sides> all_sides(const PooledColumns& pooled, std::uint64_t seed) {
  const std::size_t rows = pooled.first + pooled.second;
  std::vector<Sides> all(1 + kTurns, Sides(rows, 0));
  std::fill(all[0].begin() + static_cast<std::ptrdiff_t>(pooled.first), all[0].end(), 1);
  std::vector<std::size_t> places(rows);
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (std::uint64_t turn = 0; turn < kTurns; ++turn) {
    for (const std::size_t row : random_rows(places, pooled.second, seed * kTurns + turn)) {
      all[turn + 1][row] = 1;
    }
  }
  return all;
}

// distance(sides) for the true sides, and what chance reaches.
template <typename Distance>
ShapeDistance with_chance(std::vector<std::string> names, const std::vector<Sides>& all,
                          Distance distance) {
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double d = distance(all[i]);
    sum += d / static_cast<double>(kTurns);
    squares += d * d / static_cast<double>(kTurns);
  }
  return {std::move(names), distance(all[0]),
          sum + kDeviations * std::sqrt(std::max(0.0, squares - sum * sum))};
}

// Half the sum of differences between the shares of each bin.
double total_variation(const std::vector<int>& bins, int count, const Sides& sides,
                       const PooledColumns& pooled) {
  std::vector<double> difference(static_cast<std::size_t>(count), 0.0);
  const double first = 1 / static_cast<double>(pooled.first);
  const double second = 1 / static_cast<double>(pooled.second);
  for (std::size_t row = 0; row < bins.size(); ++row) {
    difference[static_cast<std::size_t>(bins[row])] += sides[row] != 0 ? second : -first;
  }
  double sum = 0;
  for (const double d : difference) sum += std::abs(d);
  return 0.5 * sum;
}

// The largest difference between the shares of values up to any limit.
double largest_step(const std::vector<double>& values, const std::vector<std::size_t>& order,
                    const Sides& sides, const PooledColumns& pooled) {
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    difference += sides[order[i]] != 0 ? 1 / static_cast<double>(pooled.second)
                                       : -1 / static_cast<double>(pooled.first);
    const bool last = i + 1 == order.size() || values[order[i + 1]] != values[order[i]];
    if (last) largest = std::max(largest, std::abs(difference));
  }
  return largest;
}

std::vector<std::size_t> sorted_places(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

// Equal values are in the same one.
std::vector<int> fifths(const std::vector<double>& values) {
  const std::vector<std::size_t> order = sorted_places(values);
  std::vector<int> bins(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool tied = i > 0 && values[order[i]] == values[order[i - 1]];
    bins[order[i]] = tied ? bins[order[i - 1]] : static_cast<int>(i * kFifths / order.size());
  }
  return bins;
}

int bin_count(const PooledColumns::Column& column) {
  return 1 + *std::max_element(column.bins.begin(), column.bins.end());
}

}  // namespace

PooledColumns pooled_columns(const Schema& schema, const Table& first,
                             std::span<const std::size_t> first_rows, const Table& second,
                             std::span<const std::size_t> second_rows) {
  PooledColumns pooled{.first = first_rows.size(), .second = second_rows.size()};
  for (const ColumnInfo& info : schema.columns()) {
    if (info.role != ColumnRole::feature && info.role != ColumnRole::condition) continue;
    PooledColumns::Column column{.name = info.name,
                                 .values = {},
                                 .bins = {},
                                 .labels = info.kind == ColumnKind::categorical};
    std::map<std::string, int> codes;
    const auto add = [&](const Table& table, std::span<const std::size_t> rows) {
      const Column& cells = *table.find(info.name);
      for (const std::size_t row : rows) {
        column.values.push_back(
            column.labels
                ? codes.emplace(cells.text(row), static_cast<int>(codes.size())).first->second
                : cells.numbers[row]);
      }
    };
    add(first, first_rows);
    add(second, second_rows);
    column.bins = column.labels ? std::vector<int>(column.values.begin(), column.values.end())
                                : fifths(column.values);
    pooled.columns.push_back(std::move(column));
  }
  return pooled;
}

std::vector<ShapeDistance> column_distances(const PooledColumns& pooled, std::uint64_t seed) {
  const std::vector<Sides> all = all_sides(pooled, seed);
  std::vector<ShapeDistance> result;
  for (const PooledColumns::Column& column : pooled.columns) {
    const std::vector<std::size_t> order = sorted_places(column.values);
    result.push_back(with_chance({column.name}, all, [&](const Sides& sides) {
      return column.labels ? total_variation(column.bins, bin_count(column), sides, pooled)
                           : largest_step(column.values, order, sides, pooled);
    }));
  }
  return result;
}

std::vector<ShapeDistance> pair_distances(const PooledColumns& pooled, std::uint64_t seed) {
  const std::vector<Sides> all = all_sides(pooled, seed);
  std::vector<ShapeDistance> result;
  for (std::size_t a = 0; a < pooled.columns.size(); ++a) {
    for (std::size_t b = a + 1; b < pooled.columns.size(); ++b) {
      const PooledColumns::Column& x = pooled.columns[a];
      const PooledColumns::Column& y = pooled.columns[b];
      const int width = bin_count(y);
      std::vector<int> both(x.bins.size());
      for (std::size_t row = 0; row < both.size(); ++row) {
        both[row] = x.bins[row] * width + y.bins[row];
      }
      result.push_back(with_chance({x.name, y.name}, all, [&](const Sides& sides) {
        return total_variation(both, bin_count(x) * width, sides, pooled);
      }));
    }
  }
  return result;
}

}  // namespace jeffreys
