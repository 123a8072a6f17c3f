#include "jeffreys/objective/multipliers.h"

#include <algorithm>
#include <cmath>

namespace jeffreys {
namespace {

double delta(double multiplier) { return 1.0 / (2.0 * std::max(multiplier, kMinMultiplier)); }

}  // namespace

Slack closed_form_slack(double multiplier) {
  return {.epsilon = multiplier / 2, .delta = delta(multiplier)};
}

double adaptive_term(double level, double multiplier, const Slack& s) {
  return s.epsilon * s.epsilon - s.delta + multiplier * (level - s.epsilon + s.delta * s.delta);
}

double settled_level(double multiplier) {
  const double d = delta(multiplier);
  return multiplier / 2 - d * d;
}

double settled_multiplier(double level) {
  // lambda / 2 - 1 / (4 lambda^2) grows with lambda, from minus to plus infinity: Newton's method
  // on the cubic 2 lambda^3 - 4 level lambda^2 - 1 = 0, from a point right of the root, where the
  // cubic is convex and increasing, so that every step stays right of the root.
  if (std::isnan(level)) return level;
  if (level > 1e8) return 2 * level;  // to rounding; the cubic would overflow
  double x = std::max(2 * level, 0.0) + 1.0;
  if (level < -1) x = 1.0 / std::sqrt(-2 * level);  // close: the linear term is small there
  for (int i = 0; i < 200; ++i) {
    const double value = (2 * x - 4 * level) * x * x - 1;
    const double slope = (6 * x - 8 * level) * x;
    const double next = x - value / slope;
    if (!(std::abs(next - x) > 1e-16 * x)) return next;
    x = next;
  }
  return x;
}

double balance(double forward, double reverse) {
  const double sum = forward + reverse;
  return sum > 0 ? forward / sum : 0.5;
}

}  // namespace jeffreys
