// Between row-major matrices and tiles.
#pragma once

#include <cstddef>

#include "kernels/tile.h"

namespace jeffreys::kernels {

// tile[feature][row] = matrix[row][feature]; rows beyond `rows` become 0. A stride of 0 repeats one
// row (one condition for all samples).
template <typename T>
void load_tile(const T* matrix, std::size_t row_stride, std::size_t rows, std::size_t features,
               T* tile) {
  for (std::size_t f = 0; f < features; ++f) {
    T* out = tile + f * kTileRows;
    for (std::size_t r = 0; r < rows; ++r) out[r] = matrix[r * row_stride + f];
    for (std::size_t r = rows; r < kTileRows; ++r) out[r] = T(0);
  }
}

template <typename T>
void store_tile(const T* tile, std::size_t rows, std::size_t features, T* matrix,
                std::size_t row_stride) {
  for (std::size_t f = 0; f < features; ++f) {
    const T* in = tile + f * kTileRows;
    for (std::size_t r = 0; r < rows; ++r) matrix[r * row_stride + f] = in[r];
  }
}

}  // namespace jeffreys::kernels
