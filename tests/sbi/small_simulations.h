// Simulations that take no time, and their table as text.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "jeffreys/sbi/simulate.h"
#include "jeffreys/table/table_file.h"

namespace jeffreys::testing {

// Row i holds i and a number with many digits.
inline Matrix<double> draw(std::uint64_t first, std::int64_t count) {
  Matrix<double> parameters(count, 2);
  for (Eigen::Index i = 0; i < count; ++i) {
    const double row = static_cast<double>(first) + static_cast<double>(i);
    parameters.row(i) << row, std::sin(row);
  }
  return parameters;
}

inline SimulateOptions options(std::int64_t rows, std::int64_t rows_per_call) {
  return {.rows = rows,
          .rows_per_call = rows_per_call,
          .seed = 3,
          .parameter_names = {"a", "b"},
          .identity = {{"prior", "uniform"}, {"simulator", "./decay.sh"}}};
}

// Outcomes are the sum and, to tell seeds apart, the seed; every row with a % 10 == 4 fails
// until the simulator is corrected.
inline std::unique_ptr<Simulator> make_sums(bool corrected = false) {
  return make_function_simulator(
      [corrected](const MatrixView<double>& p, std::uint64_t seed, std::uint64_t) {
        Matrix<double> outcomes(p.rows(), 2);
        outcomes.col(0) = p.rowwise().sum();
        outcomes.col(1).setConstant(static_cast<double>(seed));
        for (Eigen::Index i = 0; i < p.rows(); ++i) {
          if (!corrected && std::fmod(p(i, 0), 10) == 4) outcomes(i, 0) = 0 / 0.0;
        }
        return outcomes;
      },
      2);
}

inline std::string csv_of(const Simulations& simulations) {
  std::string text;
  write_csv(simulations.table, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace jeffreys::testing
