#include "kernels/shared_spline.h"

#include "kernels/spline.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/shared_spline.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"
#include "kernels/dispatch.h"
#include "kernels/math-inl.h"
#include "kernels/reduce-inl.h"
#include "kernels/spline_bin-inl.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct SharedLocated {
  Bin<V> bin;
  V index;
  hn::Mask<hn::DFromV<V>> inside;
};

template <typename T, bool kInverse, class D, class V = hn::Vec<D>>
HWY_INLINE SharedLocated<V> locate_shared(D d, const SplineTable<T>& table, V value) {
  const std::size_t bins = table.bins;
  const T* HWY_RESTRICT numbers = table.bin_numbers.data();
  const T* HWY_RESTRICT knots = numbers + (kInverse ? 2 * bins : 0);
  SharedLocated<V> at;
  V* fields[kBinNumbers] = {&at.bin.x0,     &at.bin.width, &at.bin.y0,
                            &at.bin.height, &at.bin.d0,    &at.bin.d1};
#pragma GCC unroll 6
  for (std::size_t q = 0; q < kBinNumbers; ++q) *fields[q] = hn::Set(d, numbers[q * bins]);
  at.index = hn::Zero(d);
  for (std::size_t j = 1; j < bins; ++j) {
    const auto above = hn::Gt(value, hn::Set(d, knots[j]));
#pragma GCC unroll 6
    for (std::size_t q = 0; q < kBinNumbers; ++q) {
      *fields[q] = hn::IfThenElse(above, hn::Set(d, numbers[q * bins + j]), *fields[q]);
    }
    at.index = hn::IfThenElse(above, hn::Set(d, static_cast<T>(j)), at.index);
  }
  const V last = hn::Set(d, kInverse ? table.last_y : table.last_x);
  at.inside = hn::And(hn::Gt(value, hn::Set(d, static_cast<T>(-kSplineBound))),
                      hn::Not(hn::Gt(value, last)));
  return at;
}

template <typename T, bool kInverse>
HWY_INLINE void shared_direction(const SharedSplineArguments<T>& a) {
  const hn::CappedTag<T, kTileRows> d;
  using V = hn::Vec<decltype(d)>;
  HWY_ALIGN T jacobian[kTileRows];
  for (std::size_t lane = 0; lane < kTileRows; lane += hn::Lanes(d)) {
    const V value = hn::Load(d, a.input + lane);
    const auto at = locate_shared<T, kInverse>(d, *a.table, value);
    move_through_bin<kInverse>(d, at.bin, at.inside, value, a.output + lane, jacobian + lane);
  }
  add_logarithms(jacobian, a.log_determinant);
}

template <typename T>
void shared_spline_forward_impl(const SharedSplineArguments<T>& a) {
  shared_direction<T, false>(a);
}

template <typename T>
void shared_spline_inverse_impl(const SharedSplineArguments<T>& a) {
  shared_direction<T, true>(a);
}

template <typename T>
void shared_spline_backward_impl(const SharedSplineBackwardArguments<T>& a) {
  const hn::CappedTag<T, kTileRows> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t n = hn::Lanes(d);
  const std::size_t bins = a.table->bins;
  HWY_ALIGN T gradients[kBinNumbers + 2][kTileRows];  // two rows of zeros fill the last four
  HWY_ALIGN T index[kTileRows];
  for (std::size_t lane = 0; lane < kTileRows; lane += n) {
    const V x = hn::Load(d, a.input + lane);
    const V gy = hn::Load(d, a.output_gradient + lane);
    const V gl = hn::Load(d, a.log_determinant_gradient + lane);
    const auto at = locate_shared<T, false>(d, *a.table, x);
    const auto g = bin_gradient(d, at.bin, bin_at(d, at.bin, x), gy, gl);
    hn::Store(hn::IfThenElse(at.inside, g.x, gy), d, a.input_gradient + lane);
    hn::Store(at.index, d, index + lane);
    const V fields[kBinNumbers] = {g.x0, g.width, g.y0, g.height, g.d0, g.d1};
#pragma GCC unroll 6
    for (std::size_t q = 0; q < kBinNumbers; ++q) {
      hn::Store(hn::IfThenElseZero(at.inside, fields[q]), d, gradients[q] + lane);
    }
    hn::Store(hn::Zero(d), d, gradients[kBinNumbers] + lane);
    hn::Store(hn::Zero(d), d, gradients[kBinNumbers + 1] + lane);
  }
  for (std::size_t j = 0; j < bins; ++j) {
    const V position = hn::Set(d, static_cast<T>(j));
    for (std::size_t q = 0; q < kBinNumbers; q += kSumsAtOnce) {
      V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
      for (std::size_t lane = 0; lane < kTileRows; lane += n) {
        const auto here = hn::Eq(hn::Load(d, index + lane), position);
        s0 = hn::Add(s0, hn::IfThenElseZero(here, hn::Load(d, gradients[q] + lane)));
        s1 = hn::Add(s1, hn::IfThenElseZero(here, hn::Load(d, gradients[q + 1] + lane)));
        s2 = hn::Add(s2, hn::IfThenElseZero(here, hn::Load(d, gradients[q + 2] + lane)));
        s3 = hn::Add(s3, hn::IfThenElseZero(here, hn::Load(d, gradients[q + 3] + lane)));
      }
      T sums[kSumsAtOnce];
      sums_of_four(d, s0, s1, s2, s3, sums);
      for (std::size_t i = 0; i < kSumsAtOnce && q + i < kBinNumbers; ++i) {
        a.bin_gradient[(q + i) * bins + j] += sums[i];
      }
    }
  }
}

JEFFREYS_KERNEL(shared_spline_forward, SharedSplineArguments)
JEFFREYS_KERNEL(shared_spline_inverse, SharedSplineArguments)
JEFFREYS_KERNEL(shared_spline_backward, SharedSplineBackwardArguments)

}  // namespace
}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace jeffreys::kernels {
JEFFREYS_EXPORT_KERNEL(shared_spline_forward, SharedSplineArguments)
JEFFREYS_EXPORT_KERNEL(shared_spline_inverse, SharedSplineArguments)
JEFFREYS_EXPORT_KERNEL(shared_spline_backward, SharedSplineBackwardArguments)
}  // namespace jeffreys::kernels
#endif
