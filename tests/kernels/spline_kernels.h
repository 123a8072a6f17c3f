// Both kinds of spline kernels behind one face, so that the same laws are stated for both: one
// spline for any number of values, evaluated tile by tile.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/aligned_random.h"
#include "kernels/shared_spline.h"
#include "kernels/spline.h"

namespace jeffreys::kernels {

template <typename T>
struct Moved {
  std::vector<T> value;
  std::vector<T> log_determinant;
};

template <typename T>
struct SplineGradient {
  std::vector<T> raw;  // summed over the values
  std::vector<T> input;
};

// Calls call(first, tile) for each tile of the values; the last one is filled up with zeros.
template <typename T, typename Call>
void for_each_tile(const std::vector<T>& values, const Call& call) {
  for (std::size_t first = 0; first < values.size(); first += kTileRows) {
    AlignedVector<T> tile(kTileRows);
    for (std::size_t i = 0; i < kTileRows && first + i < values.size(); ++i) {
      tile[i] = values[first + i];
    }
    call(first, tile);
  }
}

template <typename T>
void append_tile(const AlignedVector<T>& tile, std::size_t size, std::vector<T>& values) {
  for (std::size_t i = 0; i < kTileRows && values.size() < size; ++i) values.push_back(tile[i]);
}

// Repeats the parameters in all rows of the kernel that keeps a spline for each row.
template <typename T>
class RowSpline {
 public:
  using Value = T;
  static constexpr const char* kName = "Row";

  RowSpline(std::size_t bins, const std::vector<T>& raw)
      : bins_(bins), raw_(raw.size() * kTileRows), scratch_(2 * bins * kTileRows) {
    for (std::size_t i = 0; i < raw_.size(); ++i) raw_[i] = raw[i / kTileRows];
  }

  Moved<T> forward(const std::vector<T>& x) {
    return move(x, [](const SplineArguments<T>& a) { spline_forward(a); });
  }
  Moved<T> inverse(const std::vector<T>& y) {
    return move(y, [](const SplineArguments<T>& a) { spline_inverse(a); });
  }

  SplineGradient<T> backward(const std::vector<T>& x, const std::vector<T>& output_gradient,
                             const std::vector<T>& log_determinant_gradient) {
    SplineGradient<T> g{std::vector<T>(spline_parameters(bins_)), {}};
    for_each_tile(x, [&](std::size_t first, const AlignedVector<T>& tile) {
      AlignedVector<T> gy(kTileRows);
      AlignedVector<T> gl(kTileRows);
      for (std::size_t i = 0; i < kTileRows && first + i < x.size(); ++i) {
        gy[i] = output_gradient[first + i];
        gl[i] = log_determinant_gradient[first + i];
      }
      AlignedVector<T> raw_gradient(raw_.size());
      AlignedVector<T> input_gradient(kTileRows);
      spline_backward(SplineBackwardArguments<T>{bins_, raw_.data(), tile.data(), gy.data(),
                                                 gl.data(), raw_gradient.data(),
                                                 input_gradient.data(), scratch_.data()});
      for (std::size_t i = 0; i < raw_.size(); ++i) g.raw[i / kTileRows] += raw_gradient[i];
      append_tile(input_gradient, x.size(), g.input);
    });
    return g;
  }

 private:
  template <typename Kernel>
  Moved<T> move(const std::vector<T>& values, const Kernel& kernel) {
    Moved<T> moved;
    for_each_tile(values, [&](std::size_t, const AlignedVector<T>& tile) {
      AlignedVector<T> output(kTileRows);
      AlignedVector<T> log_determinant(kTileRows);
      kernel(SplineArguments<T>{bins_, raw_.data(), tile.data(), output.data(),
                                log_determinant.data(), scratch_.data()});
      append_tile(output, values.size(), moved.value);
      append_tile(log_determinant, values.size(), moved.log_determinant);
    });
    return moved;
  }

  std::size_t bins_;
  AlignedVector<T> raw_;
  AlignedVector<T> scratch_;
};

template <typename T>
class SharedSpline {
 public:
  using Value = T;
  static constexpr const char* kName = "Shared";

  SharedSpline(std::size_t bins, const std::vector<T>& raw) : raw_(raw) {
    table_.build(bins, raw.data());
  }

  Moved<T> forward(const std::vector<T>& x) {
    return move(x, [](const SharedSplineArguments<T>& a) { shared_spline_forward(a); });
  }
  Moved<T> inverse(const std::vector<T>& y) {
    return move(y, [](const SharedSplineArguments<T>& a) { shared_spline_inverse(a); });
  }

  SplineGradient<T> backward(const std::vector<T>& x, const std::vector<T>& output_gradient,
                             const std::vector<T>& log_determinant_gradient) {
    SplineGradient<T> g{std::vector<T>(raw_.size()), {}};
    std::vector<T> bin_gradient(kBinNumbers * table_.bins);
    for_each_tile(x, [&](std::size_t first, const AlignedVector<T>& tile) {
      AlignedVector<T> gy(kTileRows);
      AlignedVector<T> gl(kTileRows);
      for (std::size_t i = 0; i < kTileRows && first + i < x.size(); ++i) {
        gy[i] = output_gradient[first + i];
        gl[i] = log_determinant_gradient[first + i];
      }
      AlignedVector<T> input_gradient(kTileRows);
      shared_spline_backward(SharedSplineBackwardArguments<T>{
          &table_, tile.data(), gy.data(), gl.data(), bin_gradient.data(), input_gradient.data()});
      append_tile(input_gradient, x.size(), g.input);
    });
    table_.add_raw_gradient(raw_.data(), bin_gradient.data(), g.raw.data());
    return g;
  }

 private:
  template <typename Kernel>
  Moved<T> move(const std::vector<T>& values, const Kernel& kernel) {
    Moved<T> moved;
    for_each_tile(values, [&](std::size_t, const AlignedVector<T>& tile) {
      AlignedVector<T> output(kTileRows);
      AlignedVector<T> log_determinant(kTileRows);
      kernel(SharedSplineArguments<T>{&table_, tile.data(), output.data(), log_determinant.data()});
      append_tile(output, values.size(), moved.value);
      append_tile(log_determinant, values.size(), moved.log_determinant);
    });
    return moved;
  }

  std::vector<T> raw_;
  SplineTable<T> table_;
};

using SplineKernels = ::testing::Types<RowSpline<float>, RowSpline<double>, SharedSpline<float>,
                                       SharedSpline<double>>;
using DoubleSplineKernels = ::testing::Types<RowSpline<double>, SharedSpline<double>>;

struct SplineKernelName {
  template <typename Kernel>
  static std::string GetName(int) {  // NOLINT(readability-identifier-naming): GoogleTest's name
    const bool is_float = std::is_same_v<typename Kernel::Value, float>;
    return std::string(Kernel::kName) + (is_float ? "Float" : "Double");
  }
};

inline constexpr std::size_t kBinCounts[] = {1, 2, 3, 8, 16};

// Raw parameters: uniform up to `size` in magnitude. A fresh network gives numbers below 1.
template <typename T>
std::vector<T> random_parameters(std::size_t bins, double size, Draw& draw) {
  std::vector<T> raw(spline_parameters(bins));
  for (T& value : raw) value = static_cast<T>(draw.uniform(-size, size));
  return raw;
}

// All of magnitude `size`. At 50 some bins are 640 times narrower than others, and the knots'
// slopes are 1/430 or 430.
template <typename T>
std::vector<T> extreme_parameters(std::size_t bins, double size, Draw& draw) {
  std::vector<T> raw(spline_parameters(bins));
  for (T& value : raw) value = static_cast<T>(draw.integer(0, 1) == 0 ? -size : size);
  return raw;
}

}  // namespace jeffreys::kernels
