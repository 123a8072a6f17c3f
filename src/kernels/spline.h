// Monotonic rational-quadratic splines on tiles, in Zuko's parametrisation (bound 5, smallest slope
// 1e-3): a row's spline has `bins` widths, `bins` heights and `bins - 1` inner derivatives, given
// as raw network outputs. Outside of [-5, 5] a spline is the identity.
#pragma once

#include <cstddef>

#include "kernels/tile.h"

namespace jeffreys::kernels {

inline constexpr double kSplineBound = 5.0;
inline constexpr double kLogMinSlope = -6.907755278982137;  // ln 1e-3

constexpr std::size_t spline_parameters(std::size_t bins) { return 3 * bins - 1; }

// One feature of a tile; every row has its own spline.
template <typename T>
struct SplineArguments {
  std::size_t bins;
  const T* raw;        // [3 bins - 1][64]
  const T* input;      // [64]: x for spline_forward, y for spline_inverse
  T* output;           // [64]: y for spline_forward, x for spline_inverse
  T* log_determinant;  // [64], += log dy/dx, in both directions
  T* scratch;          // 2 bins * 64 elements
};

void spline_forward(const SplineArguments<float>&);
void spline_forward(const SplineArguments<double>&);
void spline_inverse(const SplineArguments<float>&);
void spline_inverse(const SplineArguments<double>&);

// Given d objective / dy and d objective / d log-determinant, writes the gradient with respect to
// the raw parameters and to x.
template <typename T>
struct SplineBackwardArguments {
  std::size_t bins;
  const T* raw;                       // [3 bins - 1][64]
  const T* input;                     // [64]: x
  const T* output_gradient;           // [64]: d objective / dy
  const T* log_determinant_gradient;  // [64]
  T* raw_gradient;                    // [3 bins - 1][64]
  T* input_gradient;                  // [64]: d objective / dx
  T* scratch;                         // 2 bins * 64 elements
};

void spline_backward(const SplineBackwardArguments<float>&);
void spline_backward(const SplineBackwardArguments<double>&);

}  // namespace jeffreys::kernels
