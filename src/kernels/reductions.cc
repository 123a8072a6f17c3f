#include "kernels/reductions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reductions.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"
#include "kernels/dispatch.h"
#include "kernels/math-inl.h"

#ifndef JEFFREYS_KERNELS_REDUCTIONS_ARGUMENTS_
#define JEFFREYS_KERNELS_REDUCTIONS_ARGUMENTS_
namespace jeffreys::kernels {
template <typename T>
struct ReduceArguments {
  const T* values;
  std::size_t size;
  double* result;
};
template <typename T>
struct ShiftedExpArguments {
  const T* values;
  std::size_t size;
  T shift;
  double* result;
};
template <typename T>
struct AddArguments {
  T* target;
  const T* values;
  std::size_t size;
};
}  // namespace jeffreys::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Pieces of this many values are summed in T, the pieces' sums in double: a million floats keep
// their precision, and the inner loop stays wide.
inline constexpr std::size_t kPiece = 1024;

template <typename T>
void squared_sum_impl(const ReduceArguments<T>& a) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t n = hn::Lanes(d);
  double total = 0;
  for (std::size_t first = 0; first < a.size; first += kPiece) {
    const std::size_t end = std::min(a.size, first + kPiece);
    V sum = hn::Zero(d);
    std::size_t i = first;
    for (; i + n <= end; i += n) {
      const V x = hn::LoadU(d, a.values + i);
      sum = hn::MulAdd(x, x, sum);
    }
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
    for (; i < end; ++i)
      total += static_cast<double>(a.values[i]) * static_cast<double>(a.values[i]);
  }
  *a.result = total;
}

template <typename T>
void shifted_exp_sum_impl(const ShiftedExpArguments<T>& a) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t n = hn::Lanes(d);
  const V shift = hn::Set(d, a.shift);
  double total = 0;
  for (std::size_t first = 0; first < a.size; first += kPiece) {
    const std::size_t end = std::min(a.size, first + kPiece);
    V sum = hn::Zero(d);
    std::size_t i = first;
    for (; i + n <= end; i += n) {
      sum = hn::Add(sum, exponential(d, hn::Sub(hn::LoadU(d, a.values + i), shift)));
    }
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
    for (; i < end; ++i) total += std::exp(static_cast<double>(a.values[i] - a.shift));
  }
  *a.result = total;
}

template <typename T>
void add_impl(const AddArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const std::size_t n = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + n <= a.size; i += n) {
    hn::StoreU(hn::Add(hn::LoadU(d, a.target + i), hn::LoadU(d, a.values + i)), d, a.target + i);
  }
  for (; i < a.size; ++i) a.target[i] += a.values[i];
}

JEFFREYS_KERNEL(squared_sum, ReduceArguments)
JEFFREYS_KERNEL(shifted_exp_sum, ShiftedExpArguments)
JEFFREYS_KERNEL(add, AddArguments)

}  // namespace
}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace jeffreys::kernels {
namespace {

JEFFREYS_EXPORT_KERNEL(squared_sum, ReduceArguments)
JEFFREYS_EXPORT_KERNEL(shifted_exp_sum, ShiftedExpArguments)
JEFFREYS_EXPORT_KERNEL(add, AddArguments)

template <typename T>
double log_sum_exp_of(const T* values, std::size_t size) {
  T largest = -std::numeric_limits<T>::infinity();
  for (std::size_t i = 0; i < size; ++i) {
    if (std::isnan(values[i])) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, values[i]);
  }
  if (std::isinf(largest)) return static_cast<double>(largest);
  double sum = 0;
  shifted_exp_sum(ShiftedExpArguments<T>{values, size, largest, &sum});
  return static_cast<double>(largest) + std::log(sum);
}

template <typename T>
double squared_norm_of(const T* values, std::size_t size) {
  double sum = 0;
  squared_sum(ReduceArguments<T>{values, size, &sum});
  return sum;
}

}  // namespace

double log_sum_exp(const float* values, std::size_t size) { return log_sum_exp_of(values, size); }
double log_sum_exp(const double* values, std::size_t size) { return log_sum_exp_of(values, size); }
double squared_norm(const float* values, std::size_t size) { return squared_norm_of(values, size); }
double squared_norm(const double* values, std::size_t size) {
  return squared_norm_of(values, size);
}

double clip_factor(double squared_norm, double limit) {
  const double factor = limit / (std::sqrt(squared_norm) + 1e-6);
  return factor > 1.0 ? 1.0 : factor;  // NaN stays NaN
}

void add(float* target, const float* values, std::size_t size) {
  add(AddArguments<float>{target, values, size});
}
void add(double* target, const double* values, std::size_t size) {
  add(AddArguments<double>{target, values, size});
}

}  // namespace jeffreys::kernels
#endif
