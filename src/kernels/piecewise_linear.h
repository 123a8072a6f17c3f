// Functions of one number that are linear between knots, many at once:
//   f_o(u) = slope[j][o] u + offset[j][o],  j = number of knots below u.
// The first two layers of a ReLU network with one input are such a function
// (model/scalar_layers.h).
#pragma once

#include <cstddef>

#include "kernels/tile.h"

namespace jeffreys::kernels {

// A table has, for each piece j, slopes and then offsets, each padded to this many elements.
constexpr std::size_t piece_stride(std::size_t outputs) { return (outputs + 15) / 16 * 16; }

template <typename T>
struct PiecewiseForwardArguments {
  const T* knots;  // ascending
  std::size_t knot_count;
  const T* table;  // [knots + 1][2][piece_stride(outputs)]
  std::size_t outputs;
  const T* input;  // [64]
  bool relu;
  T* output;   // [outputs][64]
  T* piece;    // [64]: j of each row, for the backward pass
  T* scratch;  // 64 * piece_stride(outputs) elements
};

void piecewise_forward(const PiecewiseForwardArguments<float>&);
void piecewise_forward(const PiecewiseForwardArguments<double>&);

template <typename T>
struct PiecewiseBackwardArguments {
  const T* table;
  std::size_t outputs;
  const T* input;            // [64]
  const T* piece;            // [64]
  const T* output_gradient;  // [outputs][64]
  T* input_gradient;         // [64]
  T* sums;     // as the table, or null: += sum over each piece's rows of g u, and of g
  T* scratch;  // 64 * piece_stride(outputs) elements
};

void piecewise_backward(const PiecewiseBackwardArguments<float>&);
void piecewise_backward(const PiecewiseBackwardArguments<double>&);

}  // namespace jeffreys::kernels
