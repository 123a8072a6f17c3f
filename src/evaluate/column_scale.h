// Columns of mean 0 and deviation 1, so that distances and floors of variances mean the same in
// all of them.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "base/checks.h"

namespace jeffreys {

struct ColumnScale {
  Eigen::RowVectorXd mean;
  Eigen::RowVectorXd deviation;  // 1 for a column whose values are all the same

  explicit ColumnScale(const MatrixView<double>& x) : mean(x.colwise().mean()) {
    deviation = (x.rowwise() - mean).colwise().norm() / std::sqrt(static_cast<double>(x.rows()));
    // The mean of equal values is off by rounding.
    constexpr double kRounding = 1e-12;
    deviation = (deviation.array() > kRounding * mean.array().abs()).select(deviation, 1.0);
  }

  [[nodiscard]] Matrix<double> standardized(const MatrixView<double>& x) const {
    return (x.rowwise() - mean).array().rowwise() / deviation.array();
  }
};

// What a baseline learns from and what it is chosen by.
inline void check_fit_rows(const MatrixView<double>& training,
                           const MatrixView<double>& validation) {
  check_at_least("columns of training", training.cols(), 1);
  check_at_least("rows of training", training.rows(), 1);
  check_at_least("rows of validation", validation.rows(), 1);
  check_columns("validation", validation.cols(), training.cols());
  const auto check_finite = [](const char* argument, const MatrixView<double>& x) {
    if (!x.allFinite()) {
      throw std::invalid_argument(
          fmt::format("{}: expected finite values, got NaN or infinity", argument));
    }
  };
  check_finite("training", training);
  check_finite("validation", validation);
}

}  // namespace jeffreys
