#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jeffreys {

// Row numbers, each list in increasing order; together every row once.
struct Split {
  std::vector<std::size_t> training;
  std::vector<std::size_t> validation;
  std::vector<std::size_t> calibration = {};  // kept for p-values, and for nothing else
};

// Share of rows to hold out: 20 % up to 1,000 rows, 10 % from 10,000 on, linear in log(rows)
// between.
double validation_fraction(std::size_t rows);

// Share of rows to keep for p-values: none below 1,000 rows, then 5 %, but at least 100 rows and at
// most 1,000.
double calibration_fraction(std::size_t rows);

// Holds out round(fraction * rows) rows at random, at least one and not all if 0 < fraction < 1
// and rows > 1. The same arguments always give the same split. Throws std::invalid_argument unless
// 0 <= fraction < 1.
Split split_rows(std::size_t rows, double fraction, std::uint64_t seed);

// The same, where rows for calibration are taken first, and the fraction is of the others.
Split split_rows(std::size_t rows, double fraction, double calibration, std::uint64_t seed);

// Holds out whole groups, groups[row] of each row, in a random order until they have at least
// round(fraction * rows) rows; never all. The same arguments always give the same split. Throws
// std::invalid_argument unless 0 < fraction < 1 and there are two groups or more.
Split split_groups(std::span<const std::size_t> groups, double fraction, std::uint64_t seed);

// So many of these rows at random, in increasing order: all of them if there are fewer. The same
// arguments always give the same rows.
std::vector<std::size_t> random_rows(std::vector<std::size_t> rows, std::size_t count,
                                     std::uint64_t seed);

// The rows in a random order, cut into parts whose sizes differ by one at most: the part of each
// row. The same arguments always give the same parts. Throws std::invalid_argument unless
// 1 <= parts <= rows.
std::vector<std::size_t> random_parts(std::size_t rows, std::size_t parts, std::uint64_t seed);

}  // namespace jeffreys
