// The unit of work: a tile holds 64 rows of a batch, stored `[feature][64 rows]`, so that a SIMD
// lane is a row. Splines, layer norms and activations then need neither gathers nor horizontal
// operations, a NaN stays in its row, and a tile's activations stay in the cache through a model.
#pragma once

#include <cstddef>

namespace jeffreys::kernels {

inline constexpr std::size_t kTileRows = 64;

// Tile buffers and packed weights start at multiples of this, so that vector loads are aligned.
inline constexpr std::size_t kAlignment = 64;

}  // namespace jeffreys::kernels
