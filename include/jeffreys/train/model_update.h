// Gradient, optimizer moments and weight average of one model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jeffreys/model/density.h"
#include "jeffreys/train/options.h"

namespace jeffreys {

// What an update changes, besides the model.
template <typename T>
struct UpdateState {
  std::int64_t steps = 0;
  std::vector<T> first_moment = {};  // empty if beta1 is 0
  std::vector<T> second_moment = {};
  std::vector<T> average = {};  // of the weights; empty without averaging
};

// Calls visit(name, buffer) for each buffer of an UpdateState.
template <typename State, typename Visit>
void visit_buffers(State& state, Visit&& visit) {
  visit("first_moment", state.first_moment);
  visit("second_moment", state.second_moment);
  visit("average", state.average);
}

template <typename T>
class ModelUpdate {
 public:
  // averaging: decay of the exponential average of the weights; 0: none is kept.
  ModelUpdate(UnnormalizedDensity<T>& model, const OptimizerOptions& options, double averaging);

  // The gradient buffer, set to zero.
  std::span<T> clear_gradient();
  [[nodiscard]] std::span<const T> gradient() const { return gradient_; }
  // Before clipping.
  [[nodiscard]] double gradient_norm() const;

  // Clips to the limit, takes an AdamW step, and averages. norm: gradient_norm().
  void apply(double learning_rate, double norm);

  // The averaged weights; empty without averaging.
  [[nodiscard]] std::span<const T> average() const { return state_.average; }

  // With a state of the same sizes.
  [[nodiscard]] const UpdateState<T>& state() const { return state_; }
  void set_state(UpdateState<T> state) { state_ = std::move(state); }

 private:
  void add_to_average(std::span<const T> parameters);

  UnnormalizedDensity<T>& model_;
  OptimizerOptions options_;
  double averaging_;
  std::vector<T> gradient_;
  UpdateState<T> state_;
};

extern template class ModelUpdate<float>;
extern template class ModelUpdate<double>;

}  // namespace jeffreys
