// Elementary functions on vectors. Per-target include guard, as Highway needs it.
#if defined(JEFFREYS_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef JEFFREYS_KERNELS_MATH_INL_H_
#undef JEFFREYS_KERNELS_MATH_INL_H_
#else
#define JEFFREYS_KERNELS_MATH_INL_H_
#endif

#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {

// exp(x) for |x| <= 87 (double: 705), to about one unit in the last place. In float, a polynomial
// made for that precision: half the work of Highway's, which also covers what lies beyond. The
// constant 1.5 * 2^23 rounds x / ln 2 to an integer and leaves it in the low bits, ready for the
// exponent.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V bounded_exponential(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::MulAdd(x, hn::Zero(d), hn::Exp(d, x));  // Highway's exponential of a NaN is 0
  } else {
    const hn::RebindToSigned<D> di;
    const V shift = hn::Set(d, 12582912.0F);
    const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504F), shift);
    const V n = hn::Sub(shifted, shift);
    V r = hn::NegMulAdd(n, hn::Set(d, 0.693145752F), x);  // ln 2 in two parts
    r = hn::NegMulAdd(n, hn::Set(d, 1.42860677e-6F), r);
    V p = hn::Set(d, 0.00138145976F);
    p = hn::MulAdd(p, r, hn::Set(d, 0.00836871658F));
    p = hn::MulAdd(p, r, hn::Set(d, 0.041668389F));
    p = hn::MulAdd(p, r, hn::Set(d, 0.166665211F));
    p = hn::MulAdd(p, r, hn::Set(d, 0.49999994F));
    const V y = hn::Add(hn::MulAdd(hn::Mul(p, r), r, r), hn::Set(d, 1.0F));
    const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
    return hn::BitCast(d, hn::Add(hn::BitCast(di, y), exponent));
  }
}

// x, but not below `least` nor above `most`; a NaN stays a NaN (Min and Max differ between targets
// there).
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V clamp(D, V x, V least, V most) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V raised = hn::IfThenElse(hn::Lt(x, least), least, x);
  return hn::IfThenElse(hn::Gt(raised, most), most, raised);
}

// exp(x) for any x: cut off where the result would leave the normal numbers of the type.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V exponential(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  using T = hn::TFromD<D>;
  constexpr bool kDouble = sizeof(T) == 8;
  const V most = hn::Set(d, static_cast<T>(kDouble ? 705.0 : 88.37));
  const V least = hn::Set(d, static_cast<T>(kDouble ? -705.0 : -87.33));
  return bounded_exponential(d, clamp(d, x, least, most));
}

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V logarithm(D d, V x) {
  return hwy::HWY_NAMESPACE::Log(d, x);
}

// max(x, 0), where a NaN stays a NaN.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V rectify(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
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
