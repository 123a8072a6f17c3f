#include "jeffreys/train/model_update.h"

#include <algorithm>
#include <cmath>

#include "kernels/adamw.h"
#include "kernels/reductions.h"

namespace jeffreys {

template <typename T>
ModelUpdate<T>::ModelUpdate(UnnormalizedDensity<T>& model, const OptimizerOptions& options,
                            double averaging)
    : model_(model), options_(options), averaging_(averaging), gradient_(model.layout().size()) {
  state_.first_moment.resize(options.beta1 > 0 ? gradient_.size() : 0);
  state_.second_moment.resize(gradient_.size());
  if (averaging > 0) state_.average.assign(model.parameters().begin(), model.parameters().end());
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
  ++state_.steps;
  const double factor =
      options_.clip_norm > 0 ? kernels::clip_factor(norm * norm, options_.clip_norm) : 1.0;
  model_.edit_parameters([&](std::span<T> parameters) {
    kernels::adamw(kernels::AdamWArguments<T>{
        .size = parameters.size(),
        .parameters = parameters.data(),
        .gradient = gradient_.data(),
        .first_moment = state_.first_moment.empty() ? nullptr : state_.first_moment.data(),
        .second_moment = state_.second_moment.data(),
        .learning_rate = learning_rate,
        .beta1 = options_.beta1,
        .beta2 = options_.beta2,
        .weight_decay = options_.weight_decay,
        .step = static_cast<std::size_t>(state_.steps),
        .gradient_factor = factor});
  });
  if (!state_.average.empty()) add_to_average(model_.parameters());
}

template <typename T>
void ModelUpdate<T>::add_to_average(std::span<const T> parameters) {
  // Early on, the average is over as many steps as there were: the start would weigh too long.
  const auto steps = static_cast<double>(state_.steps);
  const double decay = std::min(averaging_, (1 + steps) / (10 + steps));
  const auto share = static_cast<T>(1 - decay);
  std::vector<T>& average = state_.average;
  for (std::size_t i = 0; i < average.size(); ++i) {
    average[i] += share * (parameters[i] - average[i]);
  }
}

template class ModelUpdate<float>;
template class ModelUpdate<double>;

}  // namespace jeffreys
