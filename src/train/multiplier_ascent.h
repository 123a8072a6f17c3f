// Gradient ascent of the multipliers with projection at 0 (the last lines of
// alg:dual_optimization).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jeffreys/objective/constraint.h"
#include "jeffreys/train/options.h"

namespace jeffreys {

class MultiplierAscent {
 public:
  // What changes: one number for each constraint of the list.
  struct State {
    std::vector<double> multipliers;
    std::vector<double> second_moments;
    std::int64_t steps = 0;
  };

  // The constraints outlive it.
  MultiplierAscent(const TrainOptions& options, const std::vector<Constraint>& constraints);

  [[nodiscard]] std::span<const double> multipliers() const { return state_.multipliers; }

  // levels: one for each constraint.
  void update(std::span<const double> levels);

  // For checkpoints. A state of another list of constraints is refused by std::invalid_argument.
  [[nodiscard]] const State& state() const { return state_; }
  void set_state(State state);

 private:
  [[nodiscard]] double ascend(double multiplier, double gradient, double& second_moment,
                              double learning_rate) const;

  const std::vector<Constraint>& constraints_;
  MultiplierOptimizer optimizer_;
  bool fixed_;
  LearningRate learning_rate_;
  double beta2_ = 0.9;
  State state_;
};

}  // namespace jeffreys
