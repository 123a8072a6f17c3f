// Quick fits of small tables made in memory.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "jeffreys/fit/fit.h"
#include "table/tables.h"

namespace jeffreys::testing {

// share in (0, 1) and height around 170; without ties.
inline Table plane_table(std::size_t rows = 200) {
  const std::vector<double> a = normal_numbers(rows, 1);
  const std::vector<double> b = normal_numbers(rows, 2);
  std::vector<double> share;
  std::vector<double> height;
  for (std::size_t i = 0; i < rows; ++i) {
    share.push_back(1 / (1 + std::exp(-a[i])));
    height.push_back(170 + 10 * (b[i] + std::abs(a[i])));
  }
  return TableMaker().numbers("share", share).numbers("height", height).table();
}

inline FitOptions small_fit_options(std::int64_t iterations = 30) {
  FitOptions options = default_fit_options(160, 2, 0);
  options.schema.bounds = {{"share", {0, 1}}};
  options.seed = 5;
  options.flow.transforms = 2;
  options.flow.hidden = {16, 16};
  options.energy.hidden = 16;
  options.train.iterations = iterations;
  options.train.learning_rate.main = 5e-3;
  options.train.learning_rate.proxy = 5e-3;
  return options;
}

inline Fit small_fit(const Table& table, const FitOptions& options) {
  return fit(prepare(table, options), options);
}

}  // namespace jeffreys::testing
