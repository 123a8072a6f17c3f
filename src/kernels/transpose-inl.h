// Transposes between [column][rows] tiles and row-major panels. Per-target include guard.
#if defined(JEFFREYS_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef JEFFREYS_KERNELS_TRANSPOSE_INL_H_
#undef JEFFREYS_KERNELS_TRANSPOSE_INL_H_
#else
#define JEFFREYS_KERNELS_TRANSPOSE_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {

// out[j][i] = in[i][j] for i < rows, j < columns.
template <typename T>
HWY_NOINLINE void transpose(const T* HWY_RESTRICT in, std::size_t in_stride, std::size_t rows,
                            std::size_t columns, T* HWY_RESTRICT out, std::size_t out_stride) {
  namespace hn = hwy::HWY_NAMESPACE;
  std::size_t whole_rows = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Full128<T> d;
  constexpr std::size_t kN = 16 / sizeof(T);
  whole_rows = rows - rows % kN;
  const std::size_t whole_columns = columns - columns % kN;
  for (std::size_t i = 0; i < whole_rows; i += kN) {
    const T* HWY_RESTRICT from = in + i * in_stride;
    for (std::size_t j = 0; j < whole_columns; j += kN) {
      T* HWY_RESTRICT to = out + j * out_stride + i;
      const auto v0 = hn::LoadU(d, from + j);
      const auto v1 = hn::LoadU(d, from + in_stride + j);
      if constexpr (kN == 4) {
        const auto v2 = hn::LoadU(d, from + 2 * in_stride + j);
        const auto v3 = hn::LoadU(d, from + 3 * in_stride + j);
        const auto t0 = hn::InterleaveLower(d, v0, v2);
        const auto t1 = hn::InterleaveLower(d, v1, v3);
        const auto t2 = hn::InterleaveUpper(d, v0, v2);
        const auto t3 = hn::InterleaveUpper(d, v1, v3);
        hn::StoreU(hn::InterleaveLower(d, t0, t1), d, to);
        hn::StoreU(hn::InterleaveUpper(d, t0, t1), d, to + out_stride);
        hn::StoreU(hn::InterleaveLower(d, t2, t3), d, to + 2 * out_stride);
        hn::StoreU(hn::InterleaveUpper(d, t2, t3), d, to + 3 * out_stride);
      } else {
        hn::StoreU(hn::InterleaveLower(d, v0, v1), d, to);
        hn::StoreU(hn::InterleaveUpper(d, v0, v1), d, to + out_stride);
      }
    }
    for (std::size_t j = whole_columns; j < columns; ++j) {
      for (std::size_t k = 0; k < kN; ++k) out[j * out_stride + i + k] = from[k * in_stride + j];
    }
  }
#endif
  for (std::size_t i = whole_rows; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) out[j * out_stride + i] = in[i * in_stride + j];
  }
}

}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
