// The arithmetic of one rational-quadratic bin, shared by splines with a table for each row and by
// splines with one table for all rows. Per-target include guard, as Highway needs it.
#if defined(JEFFREYS_KERNELS_SPLINE_BIN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef JEFFREYS_KERNELS_SPLINE_BIN_INL_H_
#undef JEFFREYS_KERNELS_SPLINE_BIN_INL_H_
#else
#define JEFFREYS_KERNELS_SPLINE_BIN_INL_H_
#endif

#include "hwy/highway.h"
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
  V s;            // height / width
  V inverse_width;
  V t, t1, u;     // t, 1 - t, t (1 - t)
  V denominator;  // s + (d0 + d1 - 2 s) u
  V inverse_denominator;
  V ratio;        // (y - y0) / height
  V numerator;    // 2 s u + d0 (1 - t)^2 + d1 t^2, so that dy/dx = s^2 numerator / denominator^2
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

// Position t of a value y: the stable root of the bin's quadratic equation.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V bin_inverse(D d, const Bin<V>& bin, V inverse_width, V y) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V s = hn::Mul(bin.height, inverse_width);
  const V e = hn::Sub(y, bin.y0);
  const V curvature = hn::Sub(hn::Add(bin.d0, bin.d1), hn::Add(s, s));
  const V bend = hn::Mul(e, curvature);
  const V a = hn::MulAdd(bin.height, hn::Sub(s, bin.d0), bend);
  const V b = hn::MulSub(bin.height, bin.d0, bend);
  const V c = hn::Neg(hn::Mul(s, e));
  const V discriminant = hn::Sub(hn::Mul(b, b), hn::Mul(hn::Set(d, 4), hn::Mul(a, c)));
  const V root = hn::Sqrt(hn::Max(discriminant, hn::Zero(d)));
  const V t = hn::Div(hn::Add(c, c), hn::Neg(hn::Add(b, root)));
  return t;
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
  const V flat = hn::NegMulAdd(two, p.u, one);        // 1 - 2 u = d denominator / ds
  const V tilt = hn::Sub(p.t1, p.t);                  // 1 - 2 t = du / dt
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
  g.d1 = hn::Sub(hn::MulSub(gl_numerator, t_squared, hn::Mul(gy_denominator, hn::Mul(p.u, p.ratio))),
                 both);
  // d numerator / dt = 2 (s (1 - 2t) - d0 (1 - t) + d1 t)
  const V numerator_t = hn::Mul(
      two, hn::MulAdd(p.s, tilt, hn::MulSub(bin.d1, p.t, hn::Mul(bin.d0, p.t1))));
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
