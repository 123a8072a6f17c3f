#include "train/multiplier_ascent.h"

#include <algorithm>
#include <cmath>

namespace jeffreys {
namespace {

constexpr double kTolerance = 1e-8;

}  // namespace

MultiplierAscent::MultiplierAscent(const TrainOptions& options, bool normalized_proxy)
    : optimizer_(options.multiplier_optimizer),
      fixed_(options.method != Method::dual),
      normalized_proxy_(normalized_proxy),
      learning_rate_(options.learning_rate),
      settings_(options.dual),
      multipliers_(options.multipliers) {}

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
    const double correction = 1 - std::pow(beta2_, static_cast<double>(steps_));
    step = gradient / (std::sqrt(second_moment / correction) + kTolerance);
  }
  return std::max(0.0, multiplier + learning_rate * step);
}

void MultiplierAscent::update(const Terms& levels, double zeta_level) {
  if (fixed_) return;
  ++steps_;
  const Multipliers gradient = multiplier_gradient(levels, zeta_level, multipliers_, settings_);
  Multipliers& m = multipliers_;
  Multipliers& v = second_moments_;
  if (optimizer_ == MultiplierOptimizer::exact) {
    m.forward = settled_multiplier(levels.forward);
    m.reverse = settled_multiplier(levels.reverse);
    m.proxy = settled_multiplier(levels.proxy);
  } else {
    const double rate = learning_rate_.multipliers;
    m.forward = ascend(m.forward, gradient.forward, v.forward, rate);
    m.reverse = ascend(m.reverse, gradient.reverse, v.reverse, rate);
    m.proxy = ascend(m.proxy, gradient.proxy, v.proxy, rate);
  }
  if (normalized_proxy_) return;
  m.zeta_lower = ascend(m.zeta_lower, gradient.zeta_lower, v.zeta_lower, learning_rate_.zeta);
  m.zeta_upper = ascend(m.zeta_upper, gradient.zeta_upper, v.zeta_upper, learning_rate_.zeta);
}

MultiplierAscent::State MultiplierAscent::state() const {
  const Multipliers& m = multipliers_;
  const Multipliers& v = second_moments_;
  return {m.forward, m.reverse, m.proxy, m.zeta_lower, m.zeta_upper,
          v.forward, v.reverse, v.proxy, v.zeta_lower, v.zeta_upper};
}

void MultiplierAscent::set_state(const State& s, std::int64_t steps) {
  multipliers_ = {s[0], s[1], s[2], s[3], s[4]};
  second_moments_ = {s[5], s[6], s[7], s[8], s[9]};
  steps_ = steps;
}

}  // namespace jeffreys
