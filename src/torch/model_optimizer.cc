#include "torch/model_optimizer.h"

#include <algorithm>
#include <cmath>

#include "kernels/adamw.h"
#include "kernels/reductions.h"

namespace jeffreys {

template <typename T>
ModelOptimizer<T>::ModelOptimizer(UnnormalizedDensity<T>& model, const WganOptions& options,
                                  double learning_rate)
    : model_(model),
      options_(options),
      learning_rate_(learning_rate),
      gradient_(model.layout().size()) {
  moments_.first.resize(options.beta1 > 0 ? gradient_.size() : 0);
  moments_.second.resize(gradient_.size());
}

template <typename T>
std::span<T> ModelOptimizer<T>::clear_gradient() {
  std::fill(gradient_.begin(), gradient_.end(), T{0});
  return gradient_;
}

template <typename T>
double ModelOptimizer<T>::gradient_norm() const {
  return std::sqrt(kernels::squared_norm(gradient_.data(), gradient_.size()));
}

template <typename T>
void ModelOptimizer<T>::apply(double norm) {
  ++moments_.steps;
  const double factor =
      options_.clip_norm > 0 ? kernels::clip_factor(norm * norm, options_.clip_norm) : 1.0;
  model_.edit_parameters([&](std::span<T> parameters) {
    kernels::adamw(kernels::AdamWArguments<T>{
        .size = parameters.size(),
        .parameters = parameters.data(),
        .gradient = gradient_.data(),
        .first_moment = moments_.first.empty() ? nullptr : moments_.first.data(),
        .second_moment = moments_.second.data(),
        .learning_rate = learning_rate_,
        .beta1 = options_.beta1,
        .beta2 = options_.beta2,
        .weight_decay = options_.weight_decay,
        .step = static_cast<std::size_t>(moments_.steps),
        .gradient_factor = factor});
  });
}

template class ModelOptimizer<float>;
template class ModelOptimizer<double>;

}  // namespace jeffreys
