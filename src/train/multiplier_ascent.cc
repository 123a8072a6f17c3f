#include "train/multiplier_ascent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace jeffreys {
namespace {

constexpr double kTolerance = 1e-8;

}  // namespace

MultiplierAscent::MultiplierAscent(const TrainOptions& options,
                                   const std::vector<Constraint>& constraints)
    : constraints_(constraints),
      optimizer_(options.multiplier_optimizer),
      fixed_(options.method == Method::weighted),
      learning_rate_(options.learning_rate) {
  for (const Constraint& constraint : constraints) {
    state_.multipliers.push_back(constraint.multiplier);
  }
  state_.second_moments.resize(constraints.size());
}

double MultiplierAscent::ascend(double multiplier, double gradient, double& second_moment,
                                double learning_rate) const {
  if (std::isnan(gradient)) return multiplier;
  double step = gradient;
  if (!std::isfinite(gradient * gradient)) {
    // zeta overflows, and its multipliers are needed most: the step that AdamW takes for a gradient
    // beside which all before vanish, without what would freeze it for thousands of steps.
    step = std::copysign(1 / std::sqrt(1 - beta2_), gradient);
  } else if (optimizer_ != MultiplierOptimizer::sgd) {
    // AdamW with beta1 = 0 and no decay.
    second_moment = beta2_ * second_moment + (1 - beta2_) * gradient * gradient;
    const double correction = 1 - std::pow(beta2_, static_cast<double>(state_.steps));
    step = gradient / (std::sqrt(second_moment / correction) + kTolerance);
  }
  return std::max(0.0, multiplier + learning_rate * step);
}

void MultiplierAscent::update(std::span<const double> levels) {
  if (fixed_) return;
  ++state_.steps;
  for (std::size_t k = 0; k < constraints_.size(); ++k) {
    const Constraint& constraint = constraints_[k];
    double& multiplier = state_.multipliers[k];
    if (constraint.slack == SlackRule::none) continue;
    if (constraint.slack == SlackRule::adaptive && optimizer_ == MultiplierOptimizer::exact) {
      multiplier = settled_multiplier(levels[k]);
      continue;
    }
    const double rate =
        constraint.rate == MultiplierRate::zeta ? learning_rate_.zeta : learning_rate_.multipliers;
    multiplier = ascend(multiplier, multiplier_gradient(constraint, levels[k], multiplier),
                        state_.second_moments[k], rate);
  }
}

void MultiplierAscent::set_state(State state) {
  if (state.multipliers.size() != constraints_.size() ||
      state.second_moments.size() != constraints_.size()) {
    throw std::invalid_argument(fmt::format("multipliers: expected {}, got {}", constraints_.size(),
                                            state.multipliers.size()));
  }
  state_ = std::move(state);
}

}  // namespace jeffreys
