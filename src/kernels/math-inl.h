// Elementary functions on vectors. Per-target include guard, as Highway needs it.
#if defined(JEFFREYS_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef JEFFREYS_KERNELS_MATH_INL_H_
#undef JEFFREYS_KERNELS_MATH_INL_H_
#else
#define JEFFREYS_KERNELS_MATH_INL_H_
#endif

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exponential(D d, V x) {
  return hwy::HWY_NAMESPACE::Exp(d, x);
}

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V logarithm(D d, V x) {
  return hwy::HWY_NAMESPACE::Log(d, x);
}

// 1 / (1 + exp(-x))
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V one = hn::Set(d, 1);
  return hn::Div(one, hn::Add(one, exponential(d, hn::Neg(x))));
}

}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
