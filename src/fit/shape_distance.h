// How far two sets of rows are apart in their columns and pairs of columns.
#pragma once

#include <cstdint>
#include <span>

#include "jeffreys/fit/synthetic_check.h"

namespace jeffreys {

// The columns of two tables that a density speaks of, rows of the first before those of the second:
// numbers as they are, labels as codes.
struct PooledColumns {
  struct Column {
    std::string name;
    std::vector<double> values;  // of all rows
    std::vector<int> bins;       // fifths of the numbers, or the labels
    bool labels = false;
  };
  std::vector<Column> columns = {};
  std::size_t first = 0;   // rows of the first table
  std::size_t second = 0;  // of the second
};

[[nodiscard]] PooledColumns pooled_columns(const Schema& schema, const Table& first,
                                           std::span<const std::size_t> first_rows,
                                           const Table& second,
                                           std::span<const std::size_t> second_rows);

[[nodiscard]] std::vector<ShapeDistance> column_distances(const PooledColumns& pooled,
                                                          std::uint64_t seed);
[[nodiscard]] std::vector<ShapeDistance> pair_distances(const PooledColumns& pooled,
                                                        std::uint64_t seed);

}  // namespace jeffreys
