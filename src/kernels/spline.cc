#include "kernels/spline.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/spline.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"
#include "kernels/dispatch.h"
#include "kernels/math-inl.h"
#include "kernels/spline_bin-inl.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// 1 / (1 + |v / limit|): the soft clip is v times this, its derivative is this squared.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V clip_factor(D d, V v, V inverse_limit) {
  const V one = hn::Set(d, 1);
  return hn::Div(one, hn::MulAdd(hn::Abs(v), inverse_limit, one));
}

inline constexpr double kLog2E = 1.44269504088896341;

// exp(soft clip of v), for N vectors.
template <std::size_t N, class D, class V = hn::Vec<D>>
HWY_INLINE void exponential_of_clipped(D d, V (&v)[N], double limit) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, 1);
  const V inverse_limit = hn::Set(d, static_cast<T>(1 / limit));
  const V log2_e = hn::Set(d, static_cast<T>(kLog2E));
#pragma GCC unroll 4
  for (std::size_t i = 0; i < N; ++i) {
    v[i] = hn::Mul(v[i], hn::Div(log2_e, hn::MulAdd(hn::Abs(v[i]), inverse_limit, one)));
  }
  powers_of_two(d, v);
}

// The soft clip bounds the logits, so the softmax needs no maximum. scale [64] = 10 / sum.
template <typename T>
HWY_INLINE void softmax_terms(const T* HWY_RESTRICT raw, std::size_t bins, T* HWY_RESTRICT terms,
                              T* HWY_RESTRICT scale) {
  const hn::CappedTag<T, kTileRows> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t n = hn::Lanes(d);
  for (std::size_t lane = 0; lane < kTileRows; lane += kStrip * n) {
    V sum[kStrip];
#pragma GCC unroll 4
    for (std::size_t s = 0; s < kStrip; ++s) sum[s] = hn::Zero(d);
    for (std::size_t j = 0; j < bins; ++j) {
      V e[kStrip];
#pragma GCC unroll 4
      for (std::size_t s = 0; s < kStrip; ++s)
        e[s] = hn::Load(d, raw + j * kTileRows + lane + s * n);
      exponential_of_clipped(d, e, -kLogMinSlope / 2);
#pragma GCC unroll 4
      for (std::size_t s = 0; s < kStrip; ++s) {
        hn::Store(e[s], d, terms + j * kTileRows + lane + s * n);
        sum[s] = hn::Add(sum[s], e[s]);
      }
    }
    const V range = hn::Set(d, static_cast<T>(2 * kSplineBound));
#pragma GCC unroll 4
    for (std::size_t s = 0; s < kStrip; ++s) {
      hn::Store(hn::Div(range, sum[s]), d, scale + lane + s * n);
    }
  }
}

// A row's bin, and what the backward pass needs to go back to the raw parameters.
template <class V>
struct Located {
  Bin<V> bin;
  V index;             // of the bin
  V raw0, raw1;        // raw derivatives at its ends (0 at the outer ends: slope 1)
  V scale_w, scale_h;  // 10 / sum of the softmax terms
  hn::Mask<hn::DFromV<V>> inside;
};

// Finds the bin that holds `value` among the horizontal knots, or the vertical ones when inverting.
template <typename T, bool kInverse, class D, class V = hn::Vec<D>>
HWY_INLINE Located<V> locate(D d, std::size_t bins, const T* HWY_RESTRICT raw, V value,
                             const T* HWY_RESTRICT scale, const T* HWY_RESTRICT terms) {
  const T* HWY_RESTRICT terms_w = terms;
  const T* HWY_RESTRICT terms_h = terms + bins * kTileRows;
  Located<V> at;
  at.scale_w = hn::Load(d, scale);
  at.scale_h = hn::Load(d, scale + kTileRows);
  const T* HWY_RESTRICT raw_d = raw + 2 * bins * kTileRows;

  const V start = hn::Set(d, static_cast<T>(-kSplineBound));
  const V scale_knots = kInverse ? at.scale_h : at.scale_w;
  V cumulative_w = hn::Load(d, terms_w);
  V cumulative_h = hn::Load(d, terms_h);
  V derivative = bins > 1 ? hn::Load(d, raw_d) : hn::Zero(d);
  V before_w = hn::Zero(d);
  V before_h = hn::Zero(d);
  at.bin.width = cumulative_w;
  at.bin.height = cumulative_h;
  at.raw0 = hn::Zero(d);
  at.raw1 = derivative;
  at.index = hn::Zero(d);
  const auto knot = [&]() HWY_ATTR {
    return hn::MulAdd(scale_knots, kInverse ? cumulative_h : cumulative_w, start);
  };
  for (std::size_t j = 1; j < bins; ++j) {
    const V w = hn::Load(d, terms_w + j * kTileRows);
    const V h = hn::Load(d, terms_h + j * kTileRows);
    const V next = j + 1 < bins ? hn::Load(d, raw_d + j * kTileRows) : hn::Zero(d);
    const auto above = hn::Gt(value, knot());
    before_w = hn::IfThenElse(above, cumulative_w, before_w);
    before_h = hn::IfThenElse(above, cumulative_h, before_h);
    at.bin.width = hn::IfThenElse(above, w, at.bin.width);
    at.bin.height = hn::IfThenElse(above, h, at.bin.height);
    at.raw0 = hn::IfThenElse(above, derivative, at.raw0);
    at.raw1 = hn::IfThenElse(above, next, at.raw1);
    at.index = hn::IfThenElse(above, hn::Set(d, static_cast<T>(j)), at.index);
    cumulative_w = hn::Add(cumulative_w, w);
    cumulative_h = hn::Add(cumulative_h, h);
    derivative = next;
  }
  at.inside = hn::And(hn::Gt(value, start), hn::Not(hn::Gt(value, knot())));
  at.bin.x0 = hn::MulAdd(at.scale_w, before_w, start);
  at.bin.y0 = hn::MulAdd(at.scale_h, before_h, start);
  at.bin.width = hn::Mul(at.bin.width, at.scale_w);
  at.bin.height = hn::Mul(at.bin.height, at.scale_h);
  V slopes[2] = {at.raw0, at.raw1};
  exponential_of_clipped(d, slopes, -kLogMinSlope);
  at.bin.d0 = slopes[0];
  at.bin.d1 = slopes[1];
  return at;
}

template <typename T, bool kInverse>
HWY_INLINE void spline_direction(const SplineArguments<T>& arguments) {
  const SplineArguments<T> a = arguments;
  const hn::CappedTag<T, kTileRows> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t n = hn::Lanes(d);
  HWY_ALIGN T jacobian[kTileRows];
  HWY_ALIGN T scale[2 * kTileRows];
  softmax_terms(a.raw, a.bins, a.scratch, scale);
  softmax_terms(a.raw + a.bins * kTileRows, a.bins, a.scratch + a.bins * kTileRows,
                scale + kTileRows);
  for (std::size_t lane = 0; lane < kTileRows; lane += n) {
    const V value = hn::Load(d, a.input + lane);
    const auto at =
        locate<T, kInverse>(d, a.bins, a.raw + lane, value, scale + lane, a.scratch + lane);
    move_through_bin<kInverse>(d, at.bin, at.inside, value, a.output + lane, jacobian + lane);
  }
  add_logarithms(jacobian, a.log_determinant);
}

template <typename T>
void spline_forward_impl(const SplineArguments<T>& a) {
  spline_direction<T, false>(a);
}

template <typename T>
void spline_inverse_impl(const SplineArguments<T>& a) {
  spline_direction<T, true>(a);
}

// From the gradient of a bin's lower corner and size to that of the raw softmax logits:
// corner = -5 + scale * (terms before the bin), size = scale * (term of the bin).
template <typename T, class D, class V = hn::Vec<D>>
HWY_INLINE void softmax_backward(D d, std::size_t bins, const T* HWY_RESTRICT raw,
                                 const T* HWY_RESTRICT terms, V scale, V index, V corner,
                                 V corner_gradient, V size, V size_gradient,
                                 T* HWY_RESTRICT raw_gradient) {
  const V inverse_limit = hn::Set(d, static_cast<T>(-2.0 / kLogMinSlope));
  const V tenth = hn::Set(d, static_cast<T>(1 / (2 * kSplineBound)));
  const V before = hn::Mul(hn::Sub(corner, hn::Set(d, static_cast<T>(-kSplineBound))), tenth);
  const V mean = hn::MulAdd(corner_gradient, before, hn::Mul(size_gradient, hn::Mul(size, tenth)));
  for (std::size_t j = 0; j < bins; ++j) {
    const V position = hn::Set(d, static_cast<T>(j));
    V g = hn::IfThenElseZero(hn::Gt(index, position), corner_gradient);
    g = hn::IfThenElse(hn::Eq(index, position), size_gradient, g);
    const V v = hn::Load(d, raw + j * kTileRows);
    const V clip = clip_factor(d, v, inverse_limit);
    const V term = hn::Mul(hn::Load(d, terms + j * kTileRows), scale);
    g = hn::Mul(hn::Mul(hn::Sub(g, mean), term), hn::Mul(clip, clip));
    hn::Store(g, d, raw_gradient + j * kTileRows);
  }
}

template <typename T>
void spline_backward_impl(const SplineBackwardArguments<T>& arguments) {
  const SplineBackwardArguments<T> a = arguments;
  const hn::CappedTag<T, kTileRows> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t n = hn::Lanes(d);
  const V inverse_limit = hn::Set(d, static_cast<T>(-1.0 / kLogMinSlope));
  HWY_ALIGN T scale[2 * kTileRows];
  softmax_terms(a.raw, a.bins, a.scratch, scale);
  softmax_terms(a.raw + a.bins * kTileRows, a.bins, a.scratch + a.bins * kTileRows,
                scale + kTileRows);
  for (std::size_t lane = 0; lane < kTileRows; lane += n) {
    const V x = hn::Load(d, a.input + lane);
    const V gy = hn::Load(d, a.output_gradient + lane);
    const V gl = hn::Load(d, a.log_determinant_gradient + lane);
    const T* raw = a.raw + lane;
    T* raw_gradient = a.raw_gradient + lane;
    const auto at = locate<T, false>(d, a.bins, raw, x, scale + lane, a.scratch + lane);
    const auto g = bin_gradient(d, at.bin, bin_at(d, at.bin, x), gy, gl);
    hn::Store(hn::IfThenElse(at.inside, g.x, gy), d, a.input_gradient + lane);

    const auto keep = [&](V v) HWY_ATTR { return hn::IfThenElseZero(at.inside, v); };
    const T* terms_h = a.scratch + a.bins * kTileRows + lane;
    softmax_backward<T>(d, a.bins, raw, a.scratch + lane, at.scale_w, at.index, at.bin.x0,
                        keep(g.x0), at.bin.width, keep(g.width), raw_gradient);
    softmax_backward<T>(d, a.bins, raw + a.bins * kTileRows, terms_h, at.scale_h, at.index,
                        at.bin.y0, keep(g.y0), at.bin.height, keep(g.height),
                        raw_gradient + a.bins * kTileRows);
    // slope = exp(raw clip), and d (raw clip) / d raw = clip^2
    const V clip0 = clip_factor(d, at.raw0, inverse_limit);
    const V clip1 = clip_factor(d, at.raw1, inverse_limit);
    const V g0 = keep(hn::Mul(hn::Mul(g.d0, at.bin.d0), hn::Mul(clip0, clip0)));
    const V g1 = keep(hn::Mul(hn::Mul(g.d1, at.bin.d1), hn::Mul(clip1, clip1)));
    for (std::size_t j = 0; j + 1 < a.bins; ++j) {
      const V here = hn::IfThenElseZero(hn::Eq(at.index, hn::Set(d, static_cast<T>(j))), g1);
      const auto left_end = hn::Eq(at.index, hn::Set(d, static_cast<T>(j + 1)));
      hn::Store(hn::IfThenElse(left_end, g0, here), d, raw_gradient + (2 * a.bins + j) * kTileRows);
    }
  }
}

JEFFREYS_KERNEL(spline_forward, SplineArguments)
JEFFREYS_KERNEL(spline_inverse, SplineArguments)
JEFFREYS_KERNEL(spline_backward, SplineBackwardArguments)

}  // namespace
}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace jeffreys::kernels {
JEFFREYS_EXPORT_KERNEL(spline_forward, SplineArguments)
JEFFREYS_EXPORT_KERNEL(spline_inverse, SplineArguments)
JEFFREYS_EXPORT_KERNEL(spline_backward, SplineBackwardArguments)
}  // namespace jeffreys::kernels
#endif
