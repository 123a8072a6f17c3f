// Which columns make a row unusual.
#pragma once

#include <string>
#include <vector>

#include "jeffreys/fit/tabular_density.h"

namespace jeffreys {

// How surprising each value is given the others of its row, -log p(x_j | the others), less what is
// to be expected, the entropy of that distribution: near 0 or below for an ordinary value.
// Integrals are taken over one number, or sums over the classes; other numbers on a lattice are in
// the middle of their cells.
struct Surprises {
  std::vector<std::string> columns;
  Matrix<double> nats;            // [rows, columns]; NaN for a row with gaps
  std::vector<std::size_t> rows;  // the table's rows that these are
};

// Unusual rows are kept: see Schema::Encoded. Throws InputError for a table that the schema cannot
// read.
template <typename T>
[[nodiscard]] Surprises explain(const TabularDensity<T>& density, const Table& table, From from);

}  // namespace jeffreys
