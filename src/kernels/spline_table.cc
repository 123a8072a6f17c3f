#include <cmath>

#include "kernels/shared_spline.h"
#include "kernels/spline.h"

namespace jeffreys::kernels {
namespace {

// Soft clip v / (1 + |v / limit|) and its derivative.
template <typename T>
T soft_clip(T v, T limit) {
  return v / (1 + std::abs(v / limit));
}

template <typename T>
T soft_clip_slope(T v, T limit) {
  const T factor = 1 / (1 + std::abs(v / limit));
  return factor * factor;
}

template <typename T>
constexpr T kLogitLimit = static_cast<T>(kLogMinSlope / 2);
template <typename T>
constexpr T kSlopeLimit = static_cast<T>(kLogMinSlope);

// Bin corners and sizes from raw logits; returns the upper end of the last bin.
template <typename T>
T corners_and_sizes(std::size_t bins, const T* raw, T* corner, T* size) {
  T sum = 0;
  for (std::size_t j = 0; j < bins; ++j) {
    size[j] = std::exp(soft_clip(raw[j], kLogitLimit<T>));
    sum += size[j];
  }
  const T scale = static_cast<T>(2 * kSplineBound) / sum;
  T cumulative = 0;
  for (std::size_t j = 0; j < bins; ++j) {
    corner[j] = static_cast<T>(-kSplineBound) + scale * cumulative;
    cumulative += size[j];
    size[j] *= scale;
  }
  return static_cast<T>(-kSplineBound) + scale * cumulative;
}

template <typename T>
void add_logit_gradient(std::size_t bins, const T* raw, const T* size, const T* corner_gradient,
                        const T* size_gradient, T* raw_gradient) {
  // A term enters its own size, the corners of all later bins, and, through the normalisation, all.
  T later = 0;
  T mean = 0;
  std::vector<T> g(bins);
  for (std::size_t j = bins; j-- > 0;) {
    g[j] = size_gradient[j] + later;
    later += corner_gradient[j];
    mean += g[j] * size[j] / static_cast<T>(2 * kSplineBound);
  }
  for (std::size_t j = 0; j < bins; ++j) {
    raw_gradient[j] += (g[j] - mean) * size[j] * soft_clip_slope(raw[j], kLogitLimit<T>);
  }
}

}  // namespace

template <typename T>
void SplineTable<T>::build(std::size_t bin_count, const T* raw) {
  bins = bin_count;
  bin_numbers.resize(kBinNumbers * bins);
  T* numbers = bin_numbers.data();
  last_x = corners_and_sizes(bins, raw, numbers, numbers + bins);
  last_y = corners_and_sizes(bins, raw + bins, numbers + 2 * bins, numbers + 3 * bins);
  T* d0 = numbers + 4 * bins;
  T* d1 = numbers + 5 * bins;
  for (std::size_t j = 0; j < bins; ++j) {
    d1[j] = j + 1 < bins ? std::exp(soft_clip(raw[2 * bins + j], kSlopeLimit<T>)) : T(1);
    d0[j] = j == 0 ? T(1) : d1[j - 1];
  }
}

template <typename T>
void SplineTable<T>::add_raw_gradient(const T* raw, const T* bin_gradient, T* raw_gradient) const {
  const T* numbers = bin_numbers.data();
  add_logit_gradient(bins, raw, numbers + bins, bin_gradient, bin_gradient + bins, raw_gradient);
  add_logit_gradient(bins, raw + bins, numbers + 3 * bins, bin_gradient + 2 * bins,
                     bin_gradient + 3 * bins, raw_gradient + bins);
  for (std::size_t j = 0; j + 1 < bins; ++j) {
    const T slope = numbers[5 * bins + j];
    const T g = bin_gradient[5 * bins + j] + bin_gradient[4 * bins + j + 1];
    raw_gradient[2 * bins + j] += g * slope * soft_clip_slope(raw[2 * bins + j], kSlopeLimit<T>);
  }
}

template struct SplineTable<float>;
template struct SplineTable<double>;

}  // namespace jeffreys::kernels
