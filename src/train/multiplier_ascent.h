// Gradient ascent of the multipliers with projection at 0 (the last lines of
// alg:dual_optimization).
#pragma once

#include <array>
#include <cstdint>

#include "jeffreys/objective/dual.h"
#include "jeffreys/train/options.h"

namespace jeffreys {

class MultiplierAscent {
 public:
  // normalized_proxy: there is no zeta, its two multipliers stay as they are.
  MultiplierAscent(const TrainOptions& options, bool normalized_proxy);

  [[nodiscard]] const Multipliers& multipliers() const { return multipliers_; }

  // zeta_level: see zeta_level().
  void update(const Terms& levels, double zeta_level);

  // For checkpoints: multipliers and second moments as ten numbers.
  using State = std::array<double, 10>;
  [[nodiscard]] State state() const;
  void set_state(const State& state, std::int64_t steps);
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  [[nodiscard]] double ascend(double multiplier, double gradient, double& second_moment,
                              double learning_rate) const;

  MultiplierOptimizer optimizer_;
  bool fixed_;
  bool normalized_proxy_;
  LearningRate learning_rate_;
  DualSettings settings_;
  double beta2_ = 0.9;
  Multipliers multipliers_;
  Multipliers second_moments_{0, 0, 0, 0, 0};
  std::int64_t steps_ = 0;
};

}  // namespace jeffreys
