// Gradient and AdamW moments of one model of a WGAN.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jeffreys/model/density.h"
#include "jeffreys/torch/wgan.h"

namespace jeffreys {

template <typename T>
struct Moments {
  std::vector<T> first;  // empty if beta1 is 0
  std::vector<T> second;
  std::int64_t steps = 0;
};

template <typename T>
class ModelOptimizer {
 public:
  ModelOptimizer(UnnormalizedDensity<T>& model, const WganOptions& options, double learning_rate);

  // The gradient buffer, set to zero.
  std::span<T> clear_gradient();
  [[nodiscard]] std::span<const T> gradient() const { return gradient_; }
  // Before clipping.
  [[nodiscard]] double gradient_norm() const;

  // Clips to the limit and moves the model. norm: gradient_norm().
  void apply(double norm);

  [[nodiscard]] const Moments<T>& moments() const { return moments_; }
  void set_moments(Moments<T> moments) { moments_ = std::move(moments); }

 private:
  UnnormalizedDensity<T>& model_;
  WganOptions options_;
  double learning_rate_;
  std::vector<T> gradient_;
  Moments<T> moments_;
};

extern template class ModelOptimizer<float>;
extern template class ModelOptimizer<double>;

}  // namespace jeffreys
