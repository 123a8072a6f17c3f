// The multipliers of the paper's Lagrangian (eq:kl_lagrangian) and what follows from them in closed
// form. Order is always forward, reverse, proxy.
#pragma once

namespace jeffreys {

// One number for each of the three Kullback-Leibler constraints.
struct Terms {
  double forward = 0;
  double reverse = 0;
  double proxy = 0;
};

// lambda: how much each constraint counts at this step. Never negative.
struct Multipliers {
  double forward = 0.01;
  double reverse = 0.01;
  double proxy = 0.01;
  double zeta_lower = 0;  // of the lower bound on zeta: see ZetaConstraint
  double zeta_upper = 0;  // of the upper bound
};

// epsilon and delta of P-DYN: constraint t reads level_t <= epsilon_t - delta_t^2.
struct Slack {
  Terms epsilon;
  Terms delta;
};

// Differs from the paper: delta = 1 / (2 lambda) has no value at lambda = 0, so inside delta a
// multiplier counts as at least this much.
inline constexpr double kMinMultiplier = 1e-3;

// The minimum of the Lagrangian over the slack (eq:closed_form_u): epsilon = lambda / 2,
// delta = 1 / (2 lambda).
[[nodiscard]] Slack closed_form_slack(const Multipliers& multipliers);

// The level at which a multiplier rests: epsilon - delta^2 = lambda / 2 - 1 / (4 lambda^2).
[[nodiscard]] double settled_level(double multiplier);

// The inverse of settled_level: the multiplier at which a constraint of this level rests. For every
// level there is exactly one, and it is positive.
[[nodiscard]] double settled_multiplier(double level);

// w of the generalised Jeffreys divergence (eq:general_jeffreys): forward / (forward + reverse).
[[nodiscard]] double balance(const Multipliers& multipliers);

// level - settled_level(multiplier): the gradient of the Lagrangian with respect to the three
// multipliers, and how far each is from rest.
[[nodiscard]] Terms multiplier_residual(const Terms& levels, const Multipliers& multipliers);

}  // namespace jeffreys
