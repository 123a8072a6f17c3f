// What follows in closed form from a multiplier of the paper's Lagrangian (eq:kl_lagrangian).
#pragma once

namespace jeffreys {

// One number for each of the three Kullback-Leibler terms. Order is always forward, reverse, proxy.
struct Terms {
  double forward = 0;
  double reverse = 0;
  double proxy = 0;
};

// lambda: how much each of the paper's constraints counts at the start. Never negative.
struct Multipliers {
  double forward = 0.01;
  double reverse = 0.01;
  double proxy = 0.01;
  double zeta_lower = 0;  // of the lower bound on zeta: see ZetaConstraint
  double zeta_upper = 0;  // of the upper bound
};

// epsilon and delta of P-DYN: a constraint reads level <= epsilon - delta^2.
struct Slack {
  double epsilon = 0;
  double delta = 0;
};

// Differs from the paper: delta = 1 / (2 lambda) has no value at lambda = 0, so inside delta a
// multiplier counts as at least this much.
inline constexpr double kMinMultiplier = 1e-3;

// The minimum of the Lagrangian over the slack (eq:closed_form_u): epsilon = lambda / 2,
// delta = 1 / (2 lambda).
[[nodiscard]] Slack closed_form_slack(double multiplier);

// What a constraint with adaptive slack adds to the Lagrangian:
// epsilon^2 - delta + lambda (level - epsilon + delta^2).
[[nodiscard]] double adaptive_term(double level, double multiplier, const Slack& slack);

// The level at which a multiplier rests: epsilon - delta^2 = lambda / 2 - 1 / (4 lambda^2).
[[nodiscard]] double settled_level(double multiplier);

// The inverse of settled_level: the multiplier at which a constraint of this level rests. For every
// level there is exactly one, and it is positive.
[[nodiscard]] double settled_multiplier(double level);

// w of the generalised Jeffreys divergence (eq:general_jeffreys): forward / (forward + reverse).
[[nodiscard]] double balance(double forward, double reverse);

}  // namespace jeffreys
