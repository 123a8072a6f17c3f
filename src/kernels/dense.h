// Matrix products on tiles: output[row][64] = weights[row][k] input[k][64], with the epilogues that
// a layer needs fused in. The forward pass and the input gradient are the same kernel on a matrix
// and on its transpose.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/tile.h"

namespace jeffreys::kernels {

inline constexpr std::size_t kMaxBlockRows = 6;

// Up to kMaxBlockRows consecutive output rows that share one range [begin, end) of inputs. Masks of
// a network whose units are sorted by degree become such ranges. The block's weights are packed [k
// - begin][rows].
struct DenseBlock {
  std::uint32_t row;
  std::uint32_t rows;
  std::uint32_t begin;
  std::uint32_t end;
  std::size_t offset;
};

template <typename T>
struct DenseArguments {
  const DenseBlock* blocks;
  std::size_t block_count;
  const T* weights;
  T scale = 1;              // multiplies the product (1 / sigma of a spectrally normalised layer)
  const T* bias = nullptr;  // [rows], optional
  bool relu = false;
  const T* gate = nullptr;  // laid out as output, optional: the result is 0 where gate <= 0
  const T* input;           // [k][64] for each tile
  T* output;                // [rows][64] for each tile
  std::size_t tiles = 1;    // several tiles reuse each block of weights while it is in the cache
  std::size_t input_stride = 0;  // elements between tiles
  std::size_t output_stride = 0;
};

void dense(const DenseArguments<float>&);
void dense(const DenseArguments<double>&);

}  // namespace jeffreys::kernels
