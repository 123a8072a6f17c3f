#include "kernels/dense.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dense.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"
#include "hwy/cache_control.h"
#include "kernels/dispatch.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Inputs are taken in chunks, so that their part of the tile ([k][64]) stays in the cache while
// blocks of weights stream past it.
inline constexpr std::size_t kChunk = 256;

// Vectors of lanes that a block of R rows handles at once: as many accumulators as the register
// file holds beside the operands (16 registers, 32 with AVX-512).
template <std::size_t R, std::size_t kVectors>
constexpr std::size_t strip_vectors() {
#if HWY_TARGET <= HWY_AVX3
  constexpr std::size_t kBudget = 24;
#else
  constexpr std::size_t kBudget = 12;
#endif
  std::size_t s = 1;
  while (s * 2 <= kVectors && s * 2 * R <= kBudget) s *= 2;
  return s;
}

template <typename T, std::size_t R, std::size_t S, class D>
HWY_INLINE void block_strip(D d, const DenseArguments<T>& a, const DenseBlock& block,
                            std::size_t begin, std::size_t end, const T* HWY_RESTRICT input,
                            const T* gate, T* HWY_RESTRICT output, std::size_t lane,
                            std::size_t ahead) {
  using V = hn::Vec<D>;
  const std::size_t n = hn::Lanes(d);
  V sum[R][S];
  const bool continued = begin > block.begin;
#pragma GCC unroll 8
  for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (std::size_t s = 0; s < S; ++s) {
      sum[r][s] = continued ? hn::Load(d, output + r * kTileRows + lane + s * n) : hn::Zero(d);
    }
  }
  const T* HWY_RESTRICT w = a.weights + block.offset + (begin - block.begin) * R;
  const T* HWY_RESTRICT in = input + begin * kTileRows + lane;
// A pragma, not a loop by hand: GCC would mix the steps and spill sums.
#pragma GCC unroll 4
  for (std::size_t k = begin; k < end; ++k, w += R, in += kTileRows) {
    if (ahead > 0) hwy::Prefetch(w + ahead);
    V x[S];
#pragma GCC unroll 8
    for (std::size_t s = 0; s < S; ++s) x[s] = hn::Load(d, in + s * n);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < R; ++r) {
      const V weight = hn::Set(d, w[r]);
#pragma GCC unroll 8
      for (std::size_t s = 0; s < S; ++s) sum[r][s] = hn::MulAdd(weight, x[s], sum[r][s]);
    }
  }
  if (end < block.end) {
#pragma GCC unroll 8
    for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (std::size_t s = 0; s < S; ++s) {
        hn::Store(sum[r][s], d, output + r * kTileRows + lane + s * n);
      }
    }
    return;
  }
  // Without a branch for each vector: a short sum takes no longer than they do.
  const V zero = hn::Zero(d);
  const V scale = hn::Set(d, a.scale);
  const V least = hn::Set(d, a.relu ? T(0) : -std::numeric_limits<T>::infinity());
#pragma GCC unroll 8
  for (std::size_t r = 0; r < R; ++r) {
    const V bias = hn::Set(d, a.bias ? a.bias[block.row + r] : T(0));
#pragma GCC unroll 8
    for (std::size_t s = 0; s < S; ++s) {
      const std::size_t at = r * kTileRows + lane + s * n;
      V y = hn::MulAdd(sum[r][s], scale, bias);
      y = hn::IfThenZeroElse(hn::Lt(y, least), y);
      if (gate) y = hn::IfThenElseZero(hn::Gt(hn::Load(d, gate + at), zero), y);
      hn::Store(y, d, output + at);
    }
  }
}

template <typename T, std::size_t R>
HWY_NOINLINE void block_chunk(const DenseArguments<T>& a, const DenseBlock& block,
                              std::size_t begin, std::size_t end, std::size_t tile) {
  const hn::CappedTag<T, kTileRows> d;
  constexpr std::size_t kVectors = kTileRows / hn::MaxLanes(hn::CappedTag<T, kTileRows>());
  constexpr std::size_t kStrip = strip_vectors<R, kVectors>();
  const std::size_t step = kStrip * hn::Lanes(d);
  const T* input = a.input + tile * a.input_stride;
  const std::size_t at = tile * a.output_stride + block.row * kTileRows;
  T* output = a.output + at;
  const T* gate = a.gate ? a.gate + at : nullptr;
  // Weights of a wide layer come from memory: while one strip works, the next block's are fetched.
  std::size_t ahead = R * (block.end - block.begin);
  for (std::size_t lane = 0; lane < kTileRows; lane += step) {
    block_strip<T, R, kStrip>(d, a, block, begin, end, input, gate, output, lane, ahead);
    ahead = 0;
  }
}

template <typename T>
void dense_impl(const DenseArguments<T>& a) {
  std::size_t longest = 0;
  for (std::size_t b = 0; b < a.block_count; ++b) {
    longest = std::max<std::size_t>(longest, a.blocks[b].end);
  }
  for (std::size_t from = 0; from == 0 || from < longest; from += kChunk) {
    for (std::size_t t = 0; t < a.tiles; ++t) {
      for (std::size_t b = 0; b < a.block_count; ++b) {
        const DenseBlock& block = a.blocks[b];
        const bool empty = block.begin == block.end;
        const std::size_t begin = empty ? block.begin : std::max<std::size_t>(from, block.begin);
        const std::size_t end = empty ? block.end : std::min<std::size_t>(from + kChunk, block.end);
        if (empty ? from > 0 : begin >= end) continue;
        switch (block.rows) {
          case 1: block_chunk<T, 1>(a, block, begin, end, t); break;
          case 2: block_chunk<T, 2>(a, block, begin, end, t); break;
          case 3: block_chunk<T, 3>(a, block, begin, end, t); break;
          case 4: block_chunk<T, 4>(a, block, begin, end, t); break;
          case 5: block_chunk<T, 5>(a, block, begin, end, t); break;
          default: block_chunk<T, 6>(a, block, begin, end, t); break;
        }
      }
    }
  }
}

JEFFREYS_KERNEL(dense, DenseArguments)

}  // namespace
}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace jeffreys::kernels {
JEFFREYS_EXPORT_KERNEL(dense, DenseArguments)
}  // namespace jeffreys::kernels
#endif
