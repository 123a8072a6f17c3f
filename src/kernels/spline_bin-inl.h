// The arithmetic of one rational-quadratic bin, shared by splines with a table for each row and by
// splines with one table for all rows. Per-target include guard, as Highway needs it.
#if defined(JEFFREYS_KERNELS_SPLINE_BIN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef JEFFREYS_KERNELS_SPLINE_BIN_INL_H_
#undef JEFFREYS_KERNELS_SPLINE_BIN_INL_H_
#else
#define JEFFREYS_KERNELS_SPLINE_BIN_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/tile.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {

// The bin that a row falls into: lower corner (x0, y0), width, height, slopes at both ends.
template <class V>
struct Bin {
  V x0, width, y0, height, d0, d1;
};

// What value, Jacobian and their gradients have in common at position t in [0, 1] of the bin.
template <class V>
struct BinPoint {
  V s;  // height / width
  V inverse_width;
  V t, t1, u;     // t, 1 - t, t (1 - t)
  V denominator;  // s + (d0 + d1 - 2 s) u
  V inverse_denominator;
  V ratio;      // (y - y0) / height
  V numerator;  // 2 s u + d0 (1 - t)^2 + d1 t^2, so that dy/dx = s^2 numerator / denominator^2
};

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE BinPoint<V> bin_point(D d, const Bin<V>& bin, V inverse_width, V t) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V one = hn::Set(d, 1);
  BinPoint<V> p;
  p.inverse_width = inverse_width;
  p.s = hn::Mul(bin.height, inverse_width);
  p.t = t;
  p.t1 = hn::Sub(one, t);
  p.u = hn::Mul(p.t, p.t1);
  const V curvature = hn::Sub(hn::Add(bin.d0, bin.d1), hn::Add(p.s, p.s));
  p.denominator = hn::MulAdd(curvature, p.u, p.s);
  p.inverse_denominator = hn::Div(one, p.denominator);
  const V above = hn::MulAdd(bin.d0, p.u, hn::Mul(p.s, hn::Mul(t, t)));
  p.ratio = hn::Mul(above, p.inverse_denominator);
  p.numerator = hn::MulAdd(hn::Add(p.s, p.s), p.u,
                           hn::MulAdd(bin.d0, hn::Mul(p.t1, p.t1), hn::Mul(bin.d1, hn::Mul(t, t))));
  return p;
}

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V bin_jacobian(D, const BinPoint<V>& p) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V scaled = hn::Mul(p.s, p.inverse_denominator);
  return hn::Mul(hn::Mul(scaled, scaled), p.numerator);
}

// Rounding may leave a position just outside of its bin, where the Jacobian could be negative.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V clamp_position(D d, V t) {
  namespace hn = hwy::HWY_NAMESPACE;
  return clamp(d, t, hn::Zero(d), hn::Set(d, 1));
}

// The bin's point at x.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE BinPoint<V> bin_at(D d, const Bin<V>& bin, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V inverse_width = hn::Div(hn::Set(d, 1), bin.width);
  const V t = hn::Mul(hn::Sub(x, bin.x0), inverse_width);
  return bin_point(d, bin, inverse_width, clamp_position(d, t));
}

// The bin's point whose value is y. With r = (y - y0) / height and q = d0 (1 - r) - d1 r, the bin's
// quadratic equation has the discriminant q^2 + 4 s^2 r (1 - r), a sum of squares, and its root is
//   t = 2 s r / (q + 2 s r + sqrt(discriminant));
// where q is negative, 1 - t is the same with r and 1 - r exchanged. Unlike the textbook formula
// nothing cancels, also where a bin's slopes differ by orders of magnitude.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE BinPoint<V> bin_with_value(D d, const Bin<V>& bin, V y) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V one = hn::Set(d, 1);
  const V inverse_width = hn::Div(one, bin.width);
  const V s2 = hn::Mul(hn::Set(d, 2), hn::Mul(bin.height, inverse_width));
  const V r = clamp_position(d, hn::Div(hn::Sub(y, bin.y0), bin.height));
  const V r1 = hn::Sub(one, r);
  const V q = hn::MulSub(bin.d0, r1, hn::Mul(bin.d1, r));
  const V root = hn::Sqrt(hn::MulAdd(q, q, hn::Mul(hn::Mul(s2, s2), hn::Mul(r, r1))));
  const auto mirrored = hn::Lt(q, hn::Zero(d));
  const V part = hn::Mul(s2, hn::IfThenElse(mirrored, r1, r));
  const V near = hn::Div(part, hn::Add(hn::Add(hn::Abs(q), part), root));
  const V t = hn::IfThenElse(mirrored, hn::Sub(one, near), near);
  return bin_point(d, bin, inverse_width, clamp_position(d, t));
}

// Moves a value through its bin, or back: output = the value moved, jacobian = dy/dx. Outside of
// the bins the spline is the identity.
template <bool kInverse, class D, class V = hwy::HWY_NAMESPACE::Vec<D>, class M, typename T>
HWY_INLINE void move_through_bin(D d, const Bin<V>& bin, M inside, V value, T* HWY_RESTRICT output,
                                 T* HWY_RESTRICT jacobian) {
  namespace hn = hwy::HWY_NAMESPACE;
  const BinPoint<V> p = kInverse ? bin_with_value(d, bin, value) : bin_at(d, bin, value);
  const V moved =
      kInverse ? hn::MulAdd(p.t, bin.width, bin.x0) : hn::MulAdd(p.ratio, bin.height, bin.y0);
  hn::Store(hn::IfThenElse(inside, moved, value), d, output);
  hn::Store(hn::IfThenElse(inside, bin_jacobian(d, p), hn::Set(d, 1)), d, jacobian);
}

// log_determinant += log of the tile's Jacobians. In a loop of its own, where rows need not wait
// for each other's splines.
template <typename T>
HWY_INLINE void add_logarithms(const T* HWY_RESTRICT jacobian, T* HWY_RESTRICT log_determinant) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<T, kTileRows> d;
  for (std::size_t lane = 0; lane < kTileRows; lane += hn::Lanes(d)) {
    const auto value = logarithm(d, hn::Load(d, jacobian + lane));
    hn::Store(hn::Add(hn::Load(d, log_determinant + lane), value), d, log_determinant + lane);
  }
}

// Gradient of gy * y + gl * log dy/dx with respect to the six numbers of the bin, and to x.
template <class V>
struct BinGradient {
  V x0, width, y0, height, d0, d1, x;
};

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE BinGradient<V> bin_gradient(D d, const Bin<V>& bin, const BinPoint<V>& p, V gy, V gl) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V one = hn::Set(d, 1);
  const V two = hn::Set(d, 2);
  const V inverse_numerator = hn::Div(one, p.numerator);
  const V t_squared = hn::Mul(p.t, p.t);
  const V flat = hn::NegMulAdd(two, p.u, one);  // 1 - 2 u = d denominator / ds
  const V tilt = hn::Sub(p.t1, p.t);            // 1 - 2 t = du / dt
  const V curvature = hn::Sub(hn::Add(bin.d0, bin.d1), hn::Add(p.s, p.s));
  const V gy_height = hn::Mul(gy, bin.height);
  const V gy_denominator = hn::Mul(gy_height, p.inverse_denominator);
  const V gl_denominator = hn::Mul(hn::Add(gl, gl), p.inverse_denominator);
  const V gl_numerator = hn::Mul(gl, inverse_numerator);

  // d ratio / ds = (t^2 - ratio (1 - 2u)) / denominator; d log J / ds = 2/s + 2u/num - 2(1-2u)/den
  V gs = hn::Mul(gy_denominator, hn::NegMulAdd(p.ratio, flat, t_squared));
  gs = hn::Add(gs, hn::Div(hn::Add(gl, gl), p.s));
  gs = hn::MulAdd(gl_numerator, hn::Add(p.u, p.u), gs);
  gs = hn::NegMulAdd(gl_denominator, flat, gs);

  BinGradient<V> g;
  const V both = hn::Mul(gl_denominator, p.u);
  g.d0 = hn::Sub(hn::MulAdd(gy_denominator, hn::Mul(p.u, hn::Sub(one, p.ratio)),
                            hn::Mul(gl_numerator, hn::Mul(p.t1, p.t1))),
                 both);
  g.d1 = hn::Sub(
      hn::MulSub(gl_numerator, t_squared, hn::Mul(gy_denominator, hn::Mul(p.u, p.ratio))), both);
  // d numerator / dt = 2 (s (1 - 2t) - d0 (1 - t) + d1 t)
  const V numerator_t =
      hn::Mul(two, hn::MulAdd(p.s, tilt, hn::MulSub(bin.d1, p.t, hn::Mul(bin.d0, p.t1))));
  V gt = hn::Mul(gl_numerator, numerator_t);
  gt = hn::NegMulAdd(gl_denominator, hn::Mul(curvature, tilt), gt);
  gt = hn::MulAdd(gy, hn::Mul(bin_jacobian(d, p), bin.width), gt);

  g.x = hn::Mul(gt, p.inverse_width);
  g.x0 = hn::Neg(g.x);
  const V gs_width = hn::Mul(gs, p.inverse_width);
  g.height = hn::MulAdd(gy, p.ratio, gs_width);
  g.width = hn::Neg(hn::MulAdd(g.x, p.t, hn::Mul(gs_width, p.s)));
  g.y0 = gy;
  return g;
}

}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
