// Horizontal sums, four vectors at a time. Per-target include guard, as Highway needs it.
#if defined(JEFFREYS_KERNELS_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef JEFFREYS_KERNELS_REDUCE_INL_H_
#undef JEFFREYS_KERNELS_REDUCE_INL_H_
#else
#define JEFFREYS_KERNELS_REDUCE_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {

inline constexpr std::size_t kSumsAtOnce = 4;

// sums[i] = sum of the lanes of v_i.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>, typename T = hwy::HWY_NAMESPACE::TFromD<D>>
HWY_INLINE void sums_of_four(D d, V v0, V v1, V v2, V v3, T* HWY_RESTRICT sums) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET != HWY_SCALAR
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  if constexpr (sizeof(T) == 4 && kLanes >= 4) {
    const V a = hn::Add(hn::InterleaveLower(d, v0, v2), hn::InterleaveUpper(d, v0, v2));
    const V b = hn::Add(hn::InterleaveLower(d, v1, v3), hn::InterleaveUpper(d, v1, v3));
    const V c = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
    HWY_ALIGN T blocks[kLanes];
    hn::Store(c, d, blocks);
    for (std::size_t i = 0; i < 4; ++i) {
      T sum = blocks[i];
      for (std::size_t block = 4; block < kLanes; block += 4) sum += blocks[block + i];
      sums[i] = sum;
    }
    return;
  }
#endif
  sums[0] = hn::GetLane(hn::SumOfLanes(d, v0));
  sums[1] = hn::GetLane(hn::SumOfLanes(d, v1));
  sums[2] = hn::GetLane(hn::SumOfLanes(d, v2));
  sums[3] = hn::GetLane(hn::SumOfLanes(d, v3));
}

}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
