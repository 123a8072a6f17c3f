#include "kernels/weight_gradient.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/weight_gradient.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"
#include "hwy/cache_control.h"
#include "kernels/dispatch.h"
#include "kernels/reduce-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Below this many columns, dot products along the rows are cheaper than a mostly empty panel.
inline constexpr std::size_t kMaxDotColumns = 3;

// Transposes a tile's `columns` into panels [panel][tile][64 rows][width], so that the sums over
// the rows need no horizontal additions.
template <typename T>
HWY_INLINE void make_panels(const T* HWY_RESTRICT input, std::size_t columns, std::size_t width,
                            std::size_t panel_stride, T* HWY_RESTRICT panels) {
  for (std::size_t first = 0; first < columns; first += width) {
    T* HWY_RESTRICT panel = panels + first / width * panel_stride;
    const std::size_t count = std::min(width, columns - first);
    transpose(input + first * kTileRows, kTileRows, count, kTileRows, panel, width);
    for (std::size_t r = 0; count < width && r < kTileRows; ++r) {
      std::fill(panel + r * width + count, panel + (r + 1) * width, T(0));
    }
  }
}

// R rows times S vectors of columns, summed over all rows of all tiles.
template <typename T, std::size_t R, std::size_t S>
HWY_NOINLINE void panel_product(const WeightGradientArguments<T>& a, const GradientBlock& block,
                                const T* HWY_RESTRICT panel, std::size_t width,
                                std::size_t column) {
  const hn::CappedTag<T, kGradientAlign / 2> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t n = hn::Lanes(d);
  const std::size_t stride = gradient_stride(a.columns);
  T* HWY_RESTRICT out = a.weight_gradient + block.row * stride + column;
  V sum[R][S];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < R; ++r) {
    hwy::Prefetch(out + r * stride);
#pragma GCC unroll 2
    for (std::size_t s = 0; s < S; ++s) sum[r][s] = hn::Zero(d);
  }
  for (std::size_t t = 0; t < a.tiles; ++t) {
    const T* HWY_RESTRICT g = a.output_gradient + t * a.output_stride + block.row * kTileRows;
    const T* HWY_RESTRICT x = panel + t * kTileRows * width;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kTileRows; ++i, ++g, x += width) {
      V columns[S];
#pragma GCC unroll 2
      for (std::size_t s = 0; s < S; ++s) columns[s] = hn::Load(d, x + s * n);
#pragma GCC unroll 8
      for (std::size_t r = 0; r < R; ++r) {
        const V gradient = hn::Set(d, g[r * kTileRows]);
#pragma GCC unroll 2
        for (std::size_t s = 0; s < S; ++s) {
          sum[r][s] = hn::MulAdd(gradient, columns[s], sum[r][s]);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (std::size_t s = 0; s < S; ++s) {
      T* at = out + r * stride + s * n;
      hn::Store(hn::Add(hn::Load(d, at), sum[r][s]), d, at);
    }
  }
}

template <typename T, std::size_t R>
void block_products(const WeightGradientArguments<T>& a, const GradientBlock& block,
                    std::size_t begin, std::size_t end) {
  const hn::CappedTag<T, kGradientAlign / 2> d;
  const std::size_t n = hn::Lanes(d);
  for (std::size_t column = begin; column < end; column += 2 * n) {
    const T* panel = a.scratch + column * a.tiles * kTileRows;
    if (block.columns - column > n) {
      panel_product<T, R, 2>(a, block, panel, 2 * n, column);
    } else {
      panel_product<T, R, 1>(a, block, panel, 2 * n, column);
    }
  }
}

// A few panels at a time, which stay in the L2 cache, while a block's output gradients, in the L1
// cache, meet each of them.
template <typename T>
void all_products(const WeightGradientArguments<T>& a) {
  constexpr std::size_t kColumns = 128;
  for (std::size_t begin = 0; begin < a.columns; begin += kColumns) {
    for (std::size_t b = 0; b < a.block_count; ++b) {
      const GradientBlock& block = a.blocks[b];
      const std::size_t end = std::min<std::size_t>(begin + kColumns, block.columns);
      switch (block.rows) {
        case 1: block_products<T, 1>(a, block, begin, end); break;
        case 2: block_products<T, 2>(a, block, begin, end); break;
        case 3: block_products<T, 3>(a, block, begin, end); break;
        case 4: block_products<T, 4>(a, block, begin, end); break;
        case 5: block_products<T, 5>(a, block, begin, end); break;
        default: block_products<T, 6>(a, block, begin, end); break;
      }
    }
  }
}

// One column's gradient of a block's rows, or the bias's: a column of ones.
template <typename T>
void dot_column(const WeightGradientArguments<T>& a, const GradientBlock& block, bool ones,
                std::size_t column, T* HWY_RESTRICT out, std::size_t stride) {
  const hn::CappedTag<T, kTileRows> d;
  const std::size_t n = hn::Lanes(d);
  for (std::size_t first = 0; first < block.rows; first += kSumsAtOnce) {
    const std::size_t count = std::min<std::size_t>(kSumsAtOnce, block.rows - first);
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (std::size_t t = 0; t < a.tiles; ++t) {
      const T* g = a.output_gradient + t * a.output_stride + (block.row + first) * kTileRows;
      const T* g1 = count > 1 ? g + kTileRows : g;
      const T* g2 = count > 2 ? g + 2 * kTileRows : g;
      const T* g3 = count > 3 ? g + 3 * kTileRows : g;
      const T* in = a.input + t * a.input_stride + column * kTileRows;
      for (std::size_t lane = 0; lane < kTileRows; lane += n) {
        if (ones) {
          s0 = hn::Add(s0, hn::Load(d, g + lane));
          s1 = hn::Add(s1, hn::Load(d, g1 + lane));
          s2 = hn::Add(s2, hn::Load(d, g2 + lane));
          s3 = hn::Add(s3, hn::Load(d, g3 + lane));
        } else {
          const auto x = hn::Load(d, in + lane);
          s0 = hn::MulAdd(x, hn::Load(d, g + lane), s0);
          s1 = hn::MulAdd(x, hn::Load(d, g1 + lane), s1);
          s2 = hn::MulAdd(x, hn::Load(d, g2 + lane), s2);
          s3 = hn::MulAdd(x, hn::Load(d, g3 + lane), s3);
        }
      }
    }
    T sums[kSumsAtOnce];
    sums_of_four(d, s0, s1, s2, s3, sums);
    for (std::size_t r = 0; r < count; ++r) {
      out[(block.row + first + r) * stride + column] += sums[r];
    }
  }
}

// A layer with one output: dot products along the rows again, four columns at a time.
template <typename T>
void single_row(const WeightGradientArguments<T>& a, const GradientBlock& block) {
  const hn::CappedTag<T, kTileRows> d;
  T* HWY_RESTRICT out = a.weight_gradient + block.row * gradient_stride(a.columns);
  for (std::size_t c = 0; c < block.columns; c += kSumsAtOnce) {
    const std::size_t count = std::min<std::size_t>(kSumsAtOnce, block.columns - c);
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (std::size_t t = 0; t < a.tiles; ++t) {
      const T* g = a.output_gradient + t * a.output_stride + block.row * kTileRows;
      const T* in = a.input + t * a.input_stride + c * kTileRows;
      const T* in1 = count > 1 ? in + kTileRows : in;
      const T* in2 = count > 2 ? in + 2 * kTileRows : in;
      const T* in3 = count > 3 ? in + 3 * kTileRows : in;
      for (std::size_t lane = 0; lane < kTileRows; lane += hn::Lanes(d)) {
        const auto gradient = hn::Load(d, g + lane);
        s0 = hn::MulAdd(gradient, hn::Load(d, in + lane), s0);
        s1 = hn::MulAdd(gradient, hn::Load(d, in1 + lane), s1);
        s2 = hn::MulAdd(gradient, hn::Load(d, in2 + lane), s2);
        s3 = hn::MulAdd(gradient, hn::Load(d, in3 + lane), s3);
      }
    }
    T sums[kSumsAtOnce];
    sums_of_four(d, s0, s1, s2, s3, sums);
    for (std::size_t i = 0; i < count; ++i) out[c + i] += sums[i];
  }
}

template <typename T>
void weight_gradient_impl(const WeightGradientArguments<T>& a) {
  const hn::CappedTag<T, kGradientAlign / 2> d;
  const std::size_t width = 2 * hn::Lanes(d);
  const std::size_t stride = gradient_stride(a.columns);
  const bool dots = a.columns <= kMaxDotColumns;
  const bool single = a.block_count == 1 && a.blocks[0].rows == 1;
  if (!dots && !single) {
    for (std::size_t t = 0; t < a.tiles; ++t) {
      make_panels(a.input + t * a.input_stride, a.columns, width, a.tiles * kTileRows * width,
                  a.scratch + t * kTileRows * width);
    }
    all_products(a);
  }
  for (std::size_t b = 0; b < a.block_count; ++b) {
    const GradientBlock& block = a.blocks[b];
    if (single) {
      single_row(a, block);
    } else if (dots) {
      for (std::size_t c = 0; c < block.columns; ++c) {
        dot_column(a, block, false, c, a.weight_gradient, stride);
      }
    }
    if (a.bias_gradient) dot_column(a, block, true, 0, a.bias_gradient, 1);
  }
}

JEFFREYS_KERNEL(weight_gradient, WeightGradientArguments)

}  // namespace
}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace jeffreys::kernels {
JEFFREYS_EXPORT_KERNEL(weight_gradient, WeightGradientArguments)
}  // namespace jeffreys::kernels
#endif
