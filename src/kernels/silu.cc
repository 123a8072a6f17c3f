#include "kernels/silu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/silu.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"
#include "kernels/dispatch.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Kernels copy their arguments: what no store can change stays in registers.
template <typename T>
void silu_impl(const SiluArguments<T>& arguments) {
  const SiluArguments<T> a = arguments;
  const hn::CappedTag<T, kTileRows> d;
  using V = hn::Vec<decltype(d)>;
  const V one = hn::Set(d, 1);
  const V alpha = hn::Set(d, a.alpha);
  const std::size_t n = hn::Lanes(d);
  for (std::size_t first = 0; first < a.size; first += kStrip * n) {
    V pre[kStrip], sigmoid[kStrip];
#pragma GCC unroll 4
    for (std::size_t s = 0; s < kStrip; ++s) {
      const std::size_t i = first + s * n;
      pre[s] = hn::Load(d, a.input + i);
      if (a.gamma) pre[s] = hn::Mul(pre[s], hn::Load(d, a.gamma + i));
      if (a.beta) pre[s] = hn::Add(pre[s], hn::Load(d, a.beta + i));
      if (a.residual) pre[s] = hn::MulAdd(alpha, hn::Load(d, a.residual + i), pre[s]);
    }
    sigmoids(d, pre, sigmoid);
#pragma GCC unroll 4
    for (std::size_t s = 0; s < kStrip; ++s) {
      const std::size_t i = first + s * n;
      const V y = hn::Mul(pre[s], sigmoid[s]);
      hn::Store(y, d, a.output + i);
      if (a.slope) {
        hn::Store(hn::MulAdd(y, hn::Sub(one, sigmoid[s]), sigmoid[s]), d, a.slope + i);
      }
    }
  }
}

template <typename T>
void silu_backward_impl(const SiluBackwardArguments<T>& arguments) {
  const SiluBackwardArguments<T> a = arguments;
  const hn::CappedTag<T, kTileRows> d;
  using V = hn::Vec<decltype(d)>;
  const V alpha = hn::Set(d, a.alpha);
  V alpha_sum = hn::Zero(d);
  for (std::size_t i = 0; i < a.size; i += hn::Lanes(d)) {
    const V g = hn::Mul(hn::Load(d, a.output_gradient + i), hn::Load(d, a.slope + i));
    if (a.gamma_gradient) {
      hn::Store(hn::Mul(g, hn::Load(d, a.input + i)), d, a.gamma_gradient + i);
    }
    if (a.beta_gradient) hn::Store(g, d, a.beta_gradient + i);
    if (a.residual) alpha_sum = hn::MulAdd(g, hn::Load(d, a.residual + i), alpha_sum);
    if (a.residual_gradient) hn::Store(hn::Mul(alpha, g), d, a.residual_gradient + i);
    hn::Store(a.gamma ? hn::Mul(g, hn::Load(d, a.gamma + i)) : g, d, a.input_gradient + i);
  }
  if (a.alpha_gradient) *a.alpha_gradient += hn::GetLane(hn::SumOfLanes(d, alpha_sum));
}

JEFFREYS_KERNEL(silu, SiluArguments)
JEFFREYS_KERNEL(silu_backward, SiluBackwardArguments)

}  // namespace
}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace jeffreys::kernels {
JEFFREYS_EXPORT_KERNEL(silu, SiluArguments)
JEFFREYS_EXPORT_KERNEL(silu_backward, SiluBackwardArguments)
}  // namespace jeffreys::kernels
#endif
