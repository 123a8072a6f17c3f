#include "model/flow_base.h"

#include <cmath>
#include <numbers>

#include "kernels/tile.h"

namespace jeffreys {

using kernels::kTileRows;

template <typename T>
FlowBase<T>::FlowBase(std::size_t features, double degrees_of_freedom)
    : features_(features), freedom_(degrees_of_freedom) {
  if (freedom_ != 0) student_ = NormalToStudent::shared(freedom_);
  const double nu = freedom_;
  log_constant_ = nu == 0 ? -0.5 * std::log(2 * std::numbers::pi)
                          : std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2) -
                                0.5 * std::log(nu * std::numbers::pi);
}

template <typename T>
void FlowBase<T>::add_density(const T* z, T* log_prob) const {
  const T constant = static_cast<T>(log_constant_ * static_cast<double>(features_));
  for (std::size_t r = 0; r < kTileRows; ++r) log_prob[r] += constant;
  const T nu = static_cast<T>(freedom_);
  for (std::size_t f = 0; f < features_; ++f) {
    const T* row = z + f * kTileRows;
    if (freedom_ == 0) {
      for (std::size_t r = 0; r < kTileRows; ++r) log_prob[r] -= T(0.5) * row[r] * row[r];
    } else {
      // Beyond a size whose square would overflow the 1 does not count.
      const T scale = std::sqrt(nu);
      for (std::size_t r = 0; r < kTileRows; ++r) {
        const T q = std::abs(row[r]) / scale;
        log_prob[r] -= (nu + 1) * (q < T(1e4) ? T(0.5) * std::log1p(q * q) : std::log(q));
      }
    }
  }
}

template <typename T>
void FlowBase<T>::gradient(const T* z, const T* weights, T* out) const {
  const T nu = static_cast<T>(freedom_);
  const std::size_t size = features_ * kTileRows;
  if (freedom_ == 0) {
    for (std::size_t i = 0; i < size; ++i) out[i] = -z[i] * weights[i % kTileRows];
  } else {
    for (std::size_t i = 0; i < size; ++i) {
      const T slope = std::abs(z[i]) < 1 ? z[i] / (nu + z[i] * z[i]) : 1 / (z[i] + nu / z[i]);
      out[i] = -(nu + 1) * slope * weights[i % kTileRows];
    }
  }
}

template <typename T>
void FlowBase<T>::from_normal(T* z) const {
  if (!student_) return;
  for (std::size_t i = 0; i < features_ * kTileRows; ++i) {
    z[i] = static_cast<T>((*student_)(static_cast<double>(z[i])));
  }
}

template class FlowBase<float>;
template class FlowBase<double>;

}  // namespace jeffreys
