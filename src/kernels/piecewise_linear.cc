#include "kernels/piecewise_linear.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/piecewise_linear.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"
#include "kernels/dispatch.h"
#include "kernels/math-inl.h"
#include "kernels/reduce-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Lanes across outputs here: the rows of a tile lie in different pieces.
template <typename T>
using OutputTag = hn::CappedTag<T, 16>;

template <typename T>
HWY_INLINE void count_knots_below(const PiecewiseForwardArguments<T>& a) {
  const hn::CappedTag<T, kTileRows> d;
  using V = hn::Vec<decltype(d)>;
  const V one = hn::Set(d, 1);
  for (std::size_t lane = 0; lane < kTileRows; lane += hn::Lanes(d)) {
    const V u = hn::Load(d, a.input + lane);
    V count = hn::Zero(d);
    for (std::size_t k = 0; k < a.knot_count; ++k) {
      count = hn::Add(count, hn::IfThenElseZero(hn::Gt(u, hn::Set(d, a.knots[k])), one));
    }
    hn::Store(count, d, a.piece + lane);
  }
}

template <typename T>
void piecewise_forward_impl(const PiecewiseForwardArguments<T>& a) {
  const OutputTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t stride = piece_stride(a.outputs);
  count_knots_below(a);
  for (std::size_t r = 0; r < kTileRows; ++r) {
    const T* HWY_RESTRICT slope = a.table + static_cast<std::size_t>(a.piece[r]) * 2 * stride;
    const T* HWY_RESTRICT offset = slope + stride;
    T* HWY_RESTRICT out = a.scratch + r * stride;
    const V u = hn::Set(d, a.input[r]);
    for (std::size_t o = 0; o < stride; o += hn::Lanes(d)) {
      V y = hn::MulAdd(hn::Load(d, slope + o), u, hn::Load(d, offset + o));
      if (a.relu) y = rectify(d, y);
      hn::Store(y, d, out + o);
    }
  }
  transpose(a.scratch, stride, kTileRows, a.outputs, a.output, kTileRows);
}

template <typename T>
void piecewise_backward_impl(const PiecewiseBackwardArguments<T>& a) {
  const OutputTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t stride = piece_stride(a.outputs);
  transpose(a.output_gradient, kTileRows, a.outputs, kTileRows, a.scratch, stride);
  for (std::size_t r = 0; r < kTileRows; ++r) {
    std::fill(a.scratch + r * stride + a.outputs, a.scratch + (r + 1) * stride, T(0));
  }
  for (std::size_t first = 0; first < kTileRows; first += kSumsAtOnce) {
    V du[kSumsAtOnce];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kSumsAtOnce; ++i) {
      const std::size_t r = first + i;
      const std::size_t at = static_cast<std::size_t>(a.piece[r]) * 2 * stride;
      const T* HWY_RESTRICT slope = a.table + at;
      const T* HWY_RESTRICT gradient = a.scratch + r * stride;
      du[i] = hn::Zero(d);
      const V u = hn::Set(d, a.input[r]);
      if (a.sums) {
        T* HWY_RESTRICT sum_u = a.sums + at;
        T* HWY_RESTRICT sum = sum_u + stride;
        for (std::size_t o = 0; o < stride; o += hn::Lanes(d)) {
          const V g = hn::Load(d, gradient + o);
          du[i] = hn::MulAdd(g, hn::Load(d, slope + o), du[i]);
          hn::Store(hn::MulAdd(g, u, hn::Load(d, sum_u + o)), d, sum_u + o);
          hn::Store(hn::Add(g, hn::Load(d, sum + o)), d, sum + o);
        }
      } else {
        for (std::size_t o = 0; o < stride; o += hn::Lanes(d)) {
          du[i] = hn::MulAdd(hn::Load(d, gradient + o), hn::Load(d, slope + o), du[i]);
        }
      }
    }
    sums_of_four(d, du[0], du[1], du[2], du[3], a.input_gradient + first);
  }
}

JEFFREYS_KERNEL(piecewise_forward, PiecewiseForwardArguments)
JEFFREYS_KERNEL(piecewise_backward, PiecewiseBackwardArguments)

}  // namespace
}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace jeffreys::kernels {
JEFFREYS_EXPORT_KERNEL(piecewise_forward, PiecewiseForwardArguments)
JEFFREYS_EXPORT_KERNEL(piecewise_backward, PiecewiseBackwardArguments)
}  // namespace jeffreys::kernels
#endif
