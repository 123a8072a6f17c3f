// A caller's mistakes become std::invalid_argument with argument, expected and actual value.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// Sizes beyond this are mistakes (or hostile files), and their products would overflow.
inline constexpr Eigen::Index kMostUnits = Eigen::Index{1} << 20;

// Beyond this the squares of values could leave the range of double.
inline constexpr double kLargestValue = 1e150;

inline void check_size(std::string_view argument, std::int64_t actual, std::int64_t expected) {
  if (actual != expected) {
    throw std::invalid_argument(
        fmt::format("{}: expected {} elements, got {}", argument, expected, actual));
  }
}

inline void check_at_least(std::string_view argument, std::int64_t actual, std::int64_t least) {
  if (actual < least) {
    throw std::invalid_argument(
        fmt::format("{}: expected at least {}, got {}", argument, least, actual));
  }
}

inline void check_between(std::string_view argument, std::int64_t actual, std::int64_t least,
                          std::int64_t most) {
  check_at_least(argument, actual, least);
  if (actual > most) {
    throw std::invalid_argument(
        fmt::format("{}: expected at most {}, got {}", argument, most, actual));
  }
}

inline void check_columns(std::string_view argument, std::int64_t actual, std::int64_t expected) {
  if (actual != expected) {
    throw std::invalid_argument(
        fmt::format("{}: expected {} columns, got {}", argument, expected, actual));
  }
}

// A context has one row for every row, or fewer that repeat.
template <typename T>
void check_context(const MatrixView<T>& context, Eigen::Index rows, Eigen::Index context_features) {
  if (context_features == 0 && context.size() == 0) return;
  check_columns("context", context.cols(), context_features);
  if (context.rows() == 0 ? rows != 0 : rows % context.rows() != 0) {
    throw std::invalid_argument(
        fmt::format("context: expected {} rows (as x), 1 for all rows, or another divisor of {}, "
                    "got {}",
                    rows, rows, context.rows()));
  }
}

}  // namespace jeffreys
