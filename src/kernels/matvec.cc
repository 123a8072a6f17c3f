#include "kernels/matvec.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matvec.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"
#include "kernels/dispatch.h"
#include "kernels/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Four rows at a time; a row beyond the last repeats the last one and its sum is dropped.
template <typename T>
void matvec_impl(const MatVecArguments<T>& a) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t n = hn::Lanes(d);
  for (std::size_t row = 0; row < a.rows; row += kSumsAtOnce) {
    const std::size_t count = std::min(kSumsAtOnce, a.rows - row);
    const T* m[kSumsAtOnce];
    for (std::size_t i = 0; i < kSumsAtOnce; ++i) {
      m[i] = a.matrix + (row + std::min(i, count - 1)) * a.columns;
    }
    V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    std::size_t c = 0;
    for (; c + n <= a.columns; c += n) {
      const V x = hn::LoadU(d, a.vector + c);
      s0 = hn::MulAdd(x, hn::LoadU(d, m[0] + c), s0);
      s1 = hn::MulAdd(x, hn::LoadU(d, m[1] + c), s1);
      s2 = hn::MulAdd(x, hn::LoadU(d, m[2] + c), s2);
      s3 = hn::MulAdd(x, hn::LoadU(d, m[3] + c), s3);
    }
    T sums[kSumsAtOnce];
    sums_of_four(d, s0, s1, s2, s3, sums);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t rest = c; rest < a.columns; ++rest) sums[i] += m[i][rest] * a.vector[rest];
      a.result[row + i] = sums[i];
    }
  }
}

template <typename T>
void matvec_transposed_impl(const MatVecArguments<T>& a) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t n = hn::Lanes(d);
  std::fill(a.result, a.result + a.columns, T(0));
  for (std::size_t row = 0; row < a.rows; ++row) {
    const T* m = a.matrix + row * a.columns;
    const V x = hn::Set(d, a.vector[row]);
    std::size_t c = 0;
    for (; c + n <= a.columns; c += n) {
      hn::StoreU(hn::MulAdd(x, hn::LoadU(d, m + c), hn::LoadU(d, a.result + c)), d, a.result + c);
    }
    for (; c < a.columns; ++c) a.result[c] += a.vector[row] * m[c];
  }
}

JEFFREYS_KERNEL(matvec, MatVecArguments)
JEFFREYS_KERNEL(matvec_transposed, MatVecArguments)

}  // namespace
}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace jeffreys::kernels {
JEFFREYS_EXPORT_KERNEL(matvec, MatVecArguments)
JEFFREYS_EXPORT_KERNEL(matvec_transposed, MatVecArguments)
}  // namespace jeffreys::kernels
#endif
