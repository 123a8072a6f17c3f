// How rows of a batch are cut into tiles, and tiles into groups. The cut depends on the number of
// rows alone, never on threads: each group sums its own gradient, and groups are added in order, so
// a result is the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <cstddef>

#include "jeffreys/base/matrix.h"
#include "kernels/tile.h"
#include "kernels/tile_copy.h"

namespace jeffreys {

struct TileRows {
  std::size_t first;  // row of the batch
  std::size_t rows;   // at most 64
};

inline std::size_t tile_count(Eigen::Index rows) {
  return (static_cast<std::size_t>(rows) + kernels::kTileRows - 1) / kernels::kTileRows;
}

inline TileRows tile_rows(Eigen::Index rows, std::size_t tile) {
  const std::size_t first = tile * kernels::kTileRows;
  return {first, std::min(kernels::kTileRows, static_cast<std::size_t>(rows) - first)};
}

// Groups of tiles: enough of them to keep several threads busy, few enough that clearing and adding
// their accumulators stays cheap.
inline std::size_t group_count(std::size_t tiles, std::size_t accumulator_bytes) {
  constexpr std::size_t kMostGroups = 32;
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  const std::size_t affordable = std::max<std::size_t>(2, kMostBytes / (accumulator_bytes + 1));
  return std::min({tiles, std::max<std::size_t>(4, tiles / 4), kMostGroups, affordable});
}

// Row i of a batch is row i mod rows() of the matrix: a context may have fewer rows than the batch.
template <typename T>
void load_rows(const MatrixView<T>& matrix, TileRows at, T* tile) {
  const auto period = static_cast<std::size_t>(matrix.rows());
  const auto features = static_cast<std::size_t>(matrix.cols());
  const auto stride = period == 1 ? 0 : static_cast<std::size_t>(matrix.outerStride());
  const std::size_t first = at.first % period;
  if (period == 1 || first + at.rows <= period) {
    kernels::load_tile(matrix.data() + first * stride, stride, at.rows, features, tile);
    return;
  }
  for (std::size_t f = 0; f < features; ++f) {
    T* out = tile + f * kernels::kTileRows;
    for (std::size_t r = 0; r < kernels::kTileRows; ++r) {
      out[r] = r < at.rows ? matrix.data()[(first + r) % period * stride + f] : T(0);
    }
  }
}

// 0 for a row of finite numbers, NaN for any other: added to a value, it keeps infinities, which a
// ReLU or a spline's tail might hide, from passing as finite results.
template <typename T>
void add_poison(const T* tile, std::size_t features, T* values) {
  for (std::size_t i = 0; i < features * kernels::kTileRows; ++i) {
    values[i % kernels::kTileRows] += tile[i] * T(0);
  }
}

}  // namespace jeffreys
