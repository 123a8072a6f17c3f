// Splines whose parameters are the same for all rows. The first feature of an autoregressive order
// has no inputs, so without context its table is computed once for a batch instead of once a row.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/tile.h"

namespace jeffreys::kernels {

// Bins as six arrays [6][bins]: x0, width, y0, height, slope at the lower and at the upper knot.
inline constexpr std::size_t kBinNumbers = 6;

template <typename T>
struct SplineTable {
  std::size_t bins = 0;
  std::vector<T> bin_numbers;  // [6][bins]
  T last_x = 0;                // upper ends of the last bin
  T last_y = 0;

  // raw: [3 bins - 1], as one row's raw parameters.
  void build(std::size_t bin_count, const T* raw);

  // Chains the gradient with respect to the bins ([6][bins]) to the raw parameters: adds to
  // raw_gradient [3 bins - 1].
  void add_raw_gradient(const T* raw, const T* bin_gradient, T* raw_gradient) const;
};

template <typename T>
struct SharedSplineArguments {
  const SplineTable<T>* table;
  const T* input;      // [64]
  T* output;           // [64]
  T* log_determinant;  // [64], += log dy/dx, in both directions
};

void shared_spline_forward(const SharedSplineArguments<float>&);
void shared_spline_forward(const SharedSplineArguments<double>&);
void shared_spline_inverse(const SharedSplineArguments<float>&);
void shared_spline_inverse(const SharedSplineArguments<double>&);

template <typename T>
struct SharedSplineBackwardArguments {
  const SplineTable<T>* table;
  const T* input;                     // [64]: x
  const T* output_gradient;           // [64]
  const T* log_determinant_gradient;  // [64]
  T* bin_gradient;                    // [6][bins], += sums over the tile's rows
  T* input_gradient;                  // [64]
};

void shared_spline_backward(const SharedSplineBackwardArguments<float>&);
void shared_spline_backward(const SharedSplineBackwardArguments<double>&);

}  // namespace jeffreys::kernels
