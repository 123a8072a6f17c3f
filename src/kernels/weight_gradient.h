// Gradient of a tile matrix product with respect to its weights and biases:
//   weights[row][column] += sum over the tile's rows of output_gradient[row][.] input[column][.]
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/tile.h"

namespace jeffreys::kernels {

// Up to kMaxBlockRows consecutive rows, of which columns [0, columns) are wanted. Columns beyond,
// up to the accumulator's stride, are filled with values that belong to masked weights: whoever
// reads the accumulator must leave them out.
struct GradientBlock {
  std::uint32_t row;
  std::uint32_t rows;
  std::uint32_t columns;
};

// A gradient accumulator's rows start at multiples of this many elements.
inline constexpr std::size_t kGradientAlign = 32;

constexpr std::size_t gradient_stride(std::size_t columns) {
  return (columns + kGradientAlign - 1) / kGradientAlign * kGradientAlign;
}

template <typename T>
struct WeightGradientArguments {
  const GradientBlock* blocks;
  std::size_t block_count;
  const T* output_gradient;  // [rows][64] for each tile
  const T* input;            // [columns][64] for each tile
  std::size_t tiles = 1;
  std::size_t output_stride = 0;  // elements between tiles
  std::size_t input_stride = 0;
  T* weight_gradient;  // [rows][gradient_stride(columns)]
  T* bias_gradient;    // [rows], or null
  std::size_t columns;
  T* scratch;  // tiles * 64 * gradient_stride(columns) elements
};

void weight_gradient(const WeightGradientArguments<float>&);
void weight_gradient(const WeightGradientArguments<double>&);

}  // namespace jeffreys::kernels
