#include "kernels/layer_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layer_norm.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"
#include "kernels/dispatch.h"
#include "kernels/math-inl.h"
#include "kernels/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Mean and inverse standard deviation of each row. Two passes: one over squares alone would lose
// the variance of rows whose mean is large.
template <typename T>
HWY_INLINE void moments(const NormSiluArguments<T>& a) {
  const hn::CappedTag<T, kTileRows> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t n = hn::Lanes(d);
  const V scale = hn::Set(d, static_cast<T>(1.0 / static_cast<double>(a.width)));
  for (std::size_t lane = 0; lane < kTileRows; lane += kStrip * n) {
    V mean[kStrip], sum[kStrip];
#pragma GCC unroll 4
    for (std::size_t s = 0; s < kStrip; ++s) mean[s] = sum[s] = hn::Zero(d);
    const T* HWY_RESTRICT input = a.input + lane;
    for (std::size_t w = 0; w < a.width; ++w) {
#pragma GCC unroll 4
      for (std::size_t s = 0; s < kStrip; ++s) {
        mean[s] = hn::Add(mean[s], hn::Load(d, input + w * kTileRows + s * n));
      }
    }
#pragma GCC unroll 4
    for (std::size_t s = 0; s < kStrip; ++s) mean[s] = hn::Mul(mean[s], scale);
    for (std::size_t w = 0; w < a.width; ++w) {
#pragma GCC unroll 4
      for (std::size_t s = 0; s < kStrip; ++s) {
        const V x = hn::Sub(hn::Load(d, input + w * kTileRows + s * n), mean[s]);
        sum[s] = hn::MulAdd(x, x, sum[s]);
      }
    }
#pragma GCC unroll 4
    for (std::size_t s = 0; s < kStrip; ++s) {
      const V variance = hn::MulAdd(sum[s], scale, hn::Set(d, static_cast<T>(kLayerNormEps)));
      hn::Store(mean[s], d, a.mean + lane + s * n);
      hn::Store(hn::Div(hn::Set(d, 1), hn::Sqrt(variance)), d, a.inverse_std + lane + s * n);
    }
  }
}

template <typename T>
void norm_silu_impl(const NormSiluArguments<T>& arguments) {
  const NormSiluArguments<T> a = arguments;
  const hn::CappedTag<T, kTileRows> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t n = hn::Lanes(d);
  moments(a);
  const V one = hn::Set(d, 1);
  for (std::size_t w = 0; w < a.width; ++w) {
    const V weight = hn::Set(d, a.weight[w]);
    const V bias = hn::Set(d, a.bias[w]);
    for (std::size_t lane = 0; lane < kTileRows; lane += kStrip * n) {
      V pre[kStrip], sigmoid[kStrip];
#pragma GCC unroll 4
      for (std::size_t s = 0; s < kStrip; ++s) {
        const std::size_t row = lane + s * n;
        const V centred =
            hn::Sub(hn::Load(d, a.input + w * kTileRows + row), hn::Load(d, a.mean + row));
        pre[s] = hn::MulAdd(hn::Mul(centred, hn::Load(d, a.inverse_std + row)), weight, bias);
      }
      sigmoids(d, pre, sigmoid);
#pragma GCC unroll 4
      for (std::size_t s = 0; s < kStrip; ++s) {
        const std::size_t at = w * kTileRows + lane + s * n;
        const V y = hn::Mul(pre[s], sigmoid[s]);
        hn::Store(y, d, a.output + at);
        if (a.slope) {
          hn::Store(hn::MulAdd(y, hn::Sub(one, sigmoid[s]), sigmoid[s]), d, a.slope + at);
        }
      }
    }
  }
}

// First pass of the backward: through SiLU, the sums over rows for weight and bias, and for each
// row the two sums over features that the normalisation needs. Leaves d objective / d normal in
// output_gradient.
template <typename T>
HWY_INLINE void through_silu(const NormSiluBackwardArguments<T>& a, T* HWY_RESTRICT sum,
                             T* HWY_RESTRICT sum_normal) {
  const hn::CappedTag<T, kTileRows> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t n = hn::Lanes(d);
  for (std::size_t w = 0; w < a.width; w += 2) {
    const bool pair = w + 1 < a.width;
    const std::size_t second = pair ? kTileRows : 0;
    const V weight0 = hn::Set(d, a.weight[w]);
    const V weight1 = pair ? hn::Set(d, a.weight[w + 1]) : hn::Zero(d);
    V bias0 = hn::Zero(d), bias1 = bias0, scale0 = bias0, scale1 = bias0;
    for (std::size_t lane = 0; lane < kTileRows; lane += n) {
      const std::size_t at = w * kTileRows + lane;
      const V mean = hn::Load(d, a.mean + lane);
      const V inverse = hn::Load(d, a.inverse_std + lane);
      const V normal0 = hn::Mul(hn::Sub(hn::Load(d, a.input + at), mean), inverse);
      const V normal1 = hn::Mul(hn::Sub(hn::Load(d, a.input + at + second), mean), inverse);
      const V g0 = hn::Mul(hn::Load(d, a.output_gradient + at), hn::Load(d, a.slope + at));
      const V g1 =
          hn::Mul(hn::Load(d, a.output_gradient + at + second), hn::Load(d, a.slope + at + second));
      bias0 = hn::Add(bias0, g0);
      bias1 = hn::Add(bias1, g1);
      scale0 = hn::MulAdd(g0, normal0, scale0);
      scale1 = hn::MulAdd(g1, normal1, scale1);
      const V h0 = hn::Mul(g0, weight0);
      const V h1 = hn::Mul(g1, weight1);
      if (pair) hn::Store(h1, d, a.output_gradient + at + second);
      hn::Store(h0, d, a.output_gradient + at);
      hn::Store(hn::Add(hn::Load(d, sum + lane), hn::Add(h0, h1)), d, sum + lane);
      const V both = hn::MulAdd(h0, normal0, hn::Mul(h1, normal1));
      hn::Store(hn::Add(hn::Load(d, sum_normal + lane), both), d, sum_normal + lane);
    }
    if (a.weight_gradient) {
      T sums[kSumsAtOnce];
      sums_of_four(d, bias0, scale0, bias1, scale1, sums);
      a.bias_gradient[w] += sums[0];
      a.weight_gradient[w] += sums[1];
      if (pair) {
        a.bias_gradient[w + 1] += sums[2];
        a.weight_gradient[w + 1] += sums[3];
      }
    }
  }
}

template <typename T>
void norm_silu_backward_impl(const NormSiluBackwardArguments<T>& arguments) {
  const NormSiluBackwardArguments<T> a = arguments;
  const hn::CappedTag<T, kTileRows> d;
  using V = hn::Vec<decltype(d)>;
  HWY_ALIGN T sum[kTileRows] = {};
  HWY_ALIGN T sum_normal[kTileRows] = {};
  through_silu(a, sum, sum_normal);
  // The input's gradient is inverse (h - mean of h - normal * mean of (h normal)).
  const V scale = hn::Set(d, static_cast<T>(1.0 / static_cast<double>(a.width)));
  for (std::size_t lane = 0; lane < kTileRows; lane += hn::Lanes(d)) {
    const V inverse = hn::Load(d, a.inverse_std + lane);
    const V squared = hn::Mul(hn::Mul(inverse, inverse), scale);
    hn::Store(hn::Mul(scale, hn::Load(d, sum + lane)), d, sum + lane);
    hn::Store(hn::Mul(squared, hn::Load(d, sum_normal + lane)), d, sum_normal + lane);
  }
  for (std::size_t w = 0; w < a.width; ++w) {
    for (std::size_t lane = 0; lane < kTileRows; lane += hn::Lanes(d)) {
      const std::size_t at = w * kTileRows + lane;
      const V centred = hn::Sub(hn::Load(d, a.input + at), hn::Load(d, a.mean + lane));
      const V rest = hn::Sub(hn::Load(d, a.output_gradient + at), hn::Load(d, sum + lane));
      V g = hn::Mul(rest, hn::Load(d, a.inverse_std + lane));
      g = hn::NegMulAdd(centred, hn::Load(d, sum_normal + lane), g);
      if (a.accumulate) g = hn::Add(g, hn::Load(d, a.input_gradient + at));
      hn::Store(g, d, a.input_gradient + at);
    }
  }
}

JEFFREYS_KERNEL(norm_silu, NormSiluArguments)
JEFFREYS_KERNEL(norm_silu_backward, NormSiluBackwardArguments)

}  // namespace
}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace jeffreys::kernels {
JEFFREYS_EXPORT_KERNEL(norm_silu, NormSiluArguments)
JEFFREYS_EXPORT_KERNEL(norm_silu_backward, NormSiluBackwardArguments)
}  // namespace jeffreys::kernels
#endif
