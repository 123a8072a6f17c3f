#include "train/model_update.h"

#include <algorithm>
#include <cmath>

#include "kernels/adamw.h"
#include "kernels/reductions.h"

namespace jeffreys {

template <typename T>
ModelUpdate<T>::ModelUpdate(UnnormalizedDensity<T>& model, const OptimizerOptions& options,
                            double averaging)
    : model_(model),
      options_(options),
      averaging_(averaging),
      gradient_(model.layout().size()),
      first_moment_(options.beta1 > 0 ? gradient_.size() : 0),
      second_moment_(gradient_.size()) {
  if (averaging > 0) average_.assign(model.parameters().begin(), model.parameters().end());
}

template <typename T>
std::span<T> ModelUpdate<T>::clear_gradient() {
  std::fill(gradient_.begin(), gradient_.end(), T{0});
  return gradient_;
}

template <typename T>
double ModelUpdate<T>::gradient_norm() const {
  return std::sqrt(kernels::squared_norm(gradient_.data(), gradient_.size()));
}

template <typename T>
void ModelUpdate<T>::apply(double learning_rate, double norm) {
  ++steps_;
  const double factor =
      options_.clip_norm > 0 ? kernels::clip_factor(norm * norm, options_.clip_norm) : 1.0;
  model_.edit_parameters([&](std::span<T> parameters) {
    kernels::adamw(kernels::AdamWArguments<T>{
        .size = parameters.size(),
        .parameters = parameters.data(),
        .gradient = gradient_.data(),
        .first_moment = first_moment_.empty() ? nullptr : first_moment_.data(),
        .second_moment = second_moment_.data(),
        .learning_rate = learning_rate,
        .beta1 = options_.beta1,
        .beta2 = options_.beta2,
        .weight_decay = options_.weight_decay,
        .step = static_cast<std::size_t>(steps_),
        .gradient_factor = factor});
  });
  if (!average_.empty()) add_to_average(model_.parameters());
}

template <typename T>
void ModelUpdate<T>::add_to_average(std::span<const T> parameters) {
  // Early on, the average is over as many steps as there were: the start would weigh too long.
  const auto steps = static_cast<double>(steps_);
  const double decay = std::min(averaging_, (1 + steps) / (10 + steps));
  const auto share = static_cast<T>(1 - decay);
  for (std::size_t i = 0; i < average_.size(); ++i) {
    average_[i] += share * (parameters[i] - average_[i]);
  }
}

template class ModelUpdate<float>;
template class ModelUpdate<double>;

}  // namespace jeffreys
