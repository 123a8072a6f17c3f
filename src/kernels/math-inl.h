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

// Vectors of a tile's rows that go through a chain of operations together, so that none waits for
// itself.
inline constexpr std::size_t kStrip = 4;

// x = 2^x for |x| <= 126, to about one unit in the last place of a float. N vectors at a time, step
// by step: a single one would wait for each step of its chain.
template <std::size_t N, class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE void powers_of_two(D d, V (&x)[N]) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    const V ln2 = hn::Set(d, 0.693147180559945309);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < N; ++i) {
      // Highway's exponential of a NaN is 0
      x[i] = hn::MulAdd(x[i], hn::Zero(d), hn::Exp(d, hn::Mul(x[i], ln2)));
    }
  } else {
    const hn::RebindToSigned<D> di;
    const V shift = hn::Set(d, 12582912.0F);  // 1.5 * 2^23 leaves the integer in the low bits
    V shifted[N], p[N];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < N; ++i) shifted[i] = hn::Add(x[i], shift);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < N; ++i) {
      x[i] = hn::Sub(x[i], hn::Sub(shifted[i], shift));
      p[i] = hn::Set(d, 0.000153458124F);
    }
    constexpr float kCoefficients[] = {0.00133999309F, 0.00961848907F, 0.0555032864F,
                                       0.240226462F,   0.693147182F,   1.0F};
#pragma GCC unroll 6
    for (const float coefficient : kCoefficients) {
#pragma GCC unroll 4
      for (std::size_t i = 0; i < N; ++i) p[i] = hn::MulAdd(p[i], x[i], hn::Set(d, coefficient));
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < N; ++i) {
      const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted[i]));
      x[i] = hn::BitCast(d, hn::Add(hn::BitCast(di, p[i]), exponent));
    }
  }
}

// sigmoid = 1 / (1 + exp(-x)); for a NaN, any number: SiLU multiplies it by x.
template <std::size_t N, class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE void sigmoids(D d, const V (&x)[N], V (&sigmoid)[N]) {
  namespace hn = hwy::HWY_NAMESPACE;
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, 1);
  const V most = hn::Set(d, sizeof(T) == 8 ? 1000 : 126);
  const V least = hn::Set(d, sizeof(T) == 8 ? -1000 : -126);
  const V factor = hn::Set(d, static_cast<T>(-1.44269504088896341));
#pragma GCC unroll 4
  for (std::size_t i = 0; i < N; ++i) {
    sigmoid[i] = hn::Max(hn::Min(hn::Mul(x[i], factor), most), least);
  }
  powers_of_two(d, sigmoid);
#pragma GCC unroll 4
  for (std::size_t i = 0; i < N; ++i) sigmoid[i] = hn::Div(one, hn::Add(one, sigmoid[i]));
}

}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
