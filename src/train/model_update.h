// Gradient, optimizer moments and weight average of one model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jeffreys/model/density.h"
#include "jeffreys/train/options.h"

namespace jeffreys {

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
  [[nodiscard]] std::span<const T> average() const { return average_; }

  // What a checkpoint has to hold, besides the model: visit(name, vector<T>&).
  template <typename Self, typename Visit>
  static void visit_buffers(Self& self, Visit&& visit) {
    visit("first_moment", self.first_moment_);
    visit("second_moment", self.second_moment_);
    visit("average", self.average_);
  }
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 private:
  void add_to_average(std::span<const T> parameters);

  UnnormalizedDensity<T>& model_;
  OptimizerOptions options_;
  double averaging_;
  std::int64_t steps_ = 0;
  std::vector<T> gradient_;
  std::vector<T> first_moment_;  // empty if beta1 is 0
  std::vector<T> second_moment_;
  std::vector<T> average_;
};

extern template class ModelUpdate<float>;
extern template class ModelUpdate<double>;

}  // namespace jeffreys
