#include "kernels/adamw.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adamw.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"
#include "kernels/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
struct AdamWFactors {
  T keep, gradient, beta1, one_minus_beta1, beta2, one_minus_beta2, rate, inverse_sqrt_bias,
      tolerance;
};

template <typename T, class D>
HWY_INLINE void adamw_lanes(D d, const AdamWArguments<T>& a, const AdamWFactors<T>& f,
                            std::size_t i) {
  using V = hn::Vec<D>;
  const V g = hn::Mul(hn::Set(d, f.gradient), hn::LoadU(d, a.gradient + i));
  V m = g;
  if (a.first_moment) {
    m = hn::MulAdd(hn::Set(d, f.beta1), hn::LoadU(d, a.first_moment + i),
                   hn::Mul(hn::Set(d, f.one_minus_beta1), g));
    hn::StoreU(m, d, a.first_moment + i);
  }
  const V v = hn::MulAdd(hn::Set(d, f.beta2), hn::LoadU(d, a.second_moment + i),
                         hn::Mul(hn::Set(d, f.one_minus_beta2), hn::Mul(g, g)));
  hn::StoreU(v, d, a.second_moment + i);
  const V scale = hn::MulAdd(hn::Sqrt(v), hn::Set(d, f.inverse_sqrt_bias), hn::Set(d, f.tolerance));
  const V kept = hn::Mul(hn::LoadU(d, a.parameters + i), hn::Set(d, f.keep));
  const V move = hn::Div(hn::Mul(hn::Set(d, f.rate), m), scale);
  hn::StoreU(hn::Sub(kept, move), d, a.parameters + i);
}

template <typename T>
void adamw_impl(const AdamWArguments<T>& a) {
  const double t = static_cast<double>(a.step);
  const AdamWFactors<T> f{
      .keep = static_cast<T>(1.0 - a.learning_rate * a.weight_decay),
      .gradient = static_cast<T>(a.gradient_factor),
      .beta1 = static_cast<T>(a.beta1),
      .one_minus_beta1 = static_cast<T>(1.0 - a.beta1),
      .beta2 = static_cast<T>(a.beta2),
      .one_minus_beta2 = static_cast<T>(1.0 - a.beta2),
      .rate = static_cast<T>(a.learning_rate / (1.0 - std::pow(a.beta1, t))),
      .inverse_sqrt_bias = static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(a.beta2, t))),
      .tolerance = static_cast<T>(a.tolerance),
  };
  const hn::ScalableTag<T> d;
  const std::size_t n = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + n <= a.size; i += n) adamw_lanes(d, a, f, i);
  const hn::CappedTag<T, 1> one;
  for (; i < a.size; ++i) adamw_lanes(one, a, f, i);
}

JEFFREYS_KERNEL(adamw, AdamWArguments)

}  // namespace
}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace jeffreys::kernels {
JEFFREYS_EXPORT_KERNEL(adamw, AdamWArguments)
}  // namespace jeffreys::kernels
#endif
