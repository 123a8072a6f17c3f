#include "model/affine_transform.h"

#include <algorithm>
#include <cmath>

#include "kernels/scratch.h"
#include "kernels/tile.h"
#include "kernels/weight_gradient.h"

namespace jeffreys {

using kernels::kTileRows;

template <typename T>
AffineTransform<T>::AffineTransform(std::size_t features, const std::string& name,
                                    ParameterLayout& layout)
    : features_(features), means_(features), factor_(place(features, 0)) {
  const auto size = static_cast<std::int64_t>(features);
  shift_ = layout.add(name + ".shift", {size});
  log_diagonal_ = layout.add(name + ".log_diagonal", {size});
  lower_ = layout.add(name + ".lower", {size * (size - 1) / 2});
}

template <typename T>
std::unique_ptr<FlowTransform<T>> AffineTransform<T>::clone() const {
  return std::make_unique<AffineTransform>(*this);
}

template <typename T>
void AffineTransform<T>::pack(const T* parameters) {
  std::copy_n(parameters + shift_, features_, means_.begin());
  log_determinant_ = 0;
  const T* below = parameters + lower_;
  for (std::size_t i = 0; i < features_; ++i) {
    factor_[place(i, i)] = std::exp(parameters[log_diagonal_ + i]);
    log_determinant_ += parameters[log_diagonal_ + i];
    for (std::size_t j = 0; j < i; ++j) factor_[place(i, j)] = *below++;
  }
}

// x - m
template <typename T>
std::size_t AffineTransform<T>::tape_size() const {
  return features_ * kTileRows;
}

template <typename T>
void AffineTransform<T>::forward(const T* x, const T* /*context*/, T* tape, T* y,
                                 T* log_determinant) const {
  for (std::size_t i = 0; i < features_; ++i) {
    for (std::size_t r = 0; r < kTileRows; ++r) {
      tape[i * kTileRows + r] = x[i * kTileRows + r] - means_[i];
    }
  }
  for (std::size_t i = 0; i < features_; ++i) {
    T* out = y + i * kTileRows;
    std::fill_n(out, kTileRows, T(0));
    for (std::size_t j = 0; j <= i; ++j) {
      const T weight = factor_[place(i, j)];
      const T* in = tape + j * kTileRows;
      for (std::size_t r = 0; r < kTileRows; ++r) out[r] += weight * in[r];
    }
  }
  for (std::size_t r = 0; r < kTileRows; ++r) log_determinant[r] += log_determinant_;
}

template <typename T>
void AffineTransform<T>::inverse(const T* y, const T* /*context*/, T* tape, T* x,
                                 T* log_determinant) const {
  for (std::size_t i = 0; i < features_; ++i) {
    T* out = tape + i * kTileRows;
    std::copy_n(y + i * kTileRows, kTileRows, out);
    for (std::size_t j = 0; j < i; ++j) {
      const T weight = factor_[place(i, j)];
      const T* in = tape + j * kTileRows;
      for (std::size_t r = 0; r < kTileRows; ++r) out[r] -= weight * in[r];
    }
    for (std::size_t r = 0; r < kTileRows; ++r) out[r] /= factor_[place(i, i)];
  }
  for (std::size_t i = 0; i < features_; ++i) {
    for (std::size_t r = 0; r < kTileRows; ++r) {
      x[i * kTileRows + r] = tape[i * kTileRows + r] + means_[i];
    }
  }
  for (std::size_t r = 0; r < kTileRows; ++r) log_determinant[r] += log_determinant_;
}

// Gradients of the shift, of L, and the sum of the weights of the log determinant; whole vectors,
// since what follows is added up by aligned ones.
template <typename T>
std::size_t AffineTransform<T>::accumulator_size() const {
  return kernels::gradient_stride(features_ + factor_.size() + 1);
}

template <typename T>
void AffineTransform<T>::backward(const T* tape, const T* output_gradient,
                                  const T* log_determinant_gradient, T* input_gradient,
                                  T* /*context_gradient*/, T* accumulator) const {
  const auto sum_of_products = [](const T* a, const T* b) {
    T sum = 0;
    for (std::size_t r = 0; r < kTileRows; ++r) sum += a[r] * b[r];
    return sum;
  };
  if (accumulator != nullptr) {
    for (std::size_t i = 0; i < features_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        accumulator[features_ + place(i, j)] +=
            sum_of_products(output_gradient + i * kTileRows, tape + j * kTileRows);
      }
    }
    T& weights = accumulator[features_ + factor_.size()];
    for (std::size_t r = 0; r < kTileRows; ++r) weights += log_determinant_gradient[r];
  }
  Scratch::Frame frame;
  T* gradient = frame.take<T>(features_ * kTileRows);
  std::fill_n(gradient, features_ * kTileRows, T(0));
  for (std::size_t i = 0; i < features_; ++i) {
    const T* from = output_gradient + i * kTileRows;
    for (std::size_t j = 0; j <= i; ++j) {
      const T weight = factor_[place(i, j)];
      T* to = gradient + j * kTileRows;
      for (std::size_t r = 0; r < kTileRows; ++r) to[r] += weight * from[r];
    }
  }
  if (accumulator != nullptr) {
    for (std::size_t i = 0; i < features_; ++i) {
      for (std::size_t r = 0; r < kTileRows; ++r) accumulator[i] -= gradient[i * kTileRows + r];
    }
  }
  if (input_gradient != nullptr) std::copy_n(gradient, features_ * kTileRows, input_gradient);
}

template <typename T>
void AffineTransform<T>::add_gradient(const T* accumulator, const T* /*parameters*/,
                                      T* gradient) const {
  const T weights = accumulator[features_ + factor_.size()];
  T* below = gradient + lower_;
  for (std::size_t i = 0; i < features_; ++i) {
    gradient[shift_ + i] += accumulator[i];
    gradient[log_diagonal_ + i] +=
        factor_[place(i, i)] * accumulator[features_ + place(i, i)] + weights;
    for (std::size_t j = 0; j < i; ++j) *below++ += accumulator[features_ + place(i, j)];
  }
}

template <typename T>
std::vector<std::uint8_t> AffineTransform<T>::mask(const ParameterBlock& /*block*/) const {
  return {};
}

template class AffineTransform<float>;
template class AffineTransform<double>;

}  // namespace jeffreys
