// What a training run says about itself: one record for each step, one for each evaluation on held
// out rows.
#pragma once

#include <cstdint>
#include <limits>

#include "jeffreys/objective/multipliers.h"

namespace jeffreys {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// Seconds.
struct StepTimes {
  double sampling = 0;
  double zeta = 0;
  double scores = 0;
  double update = 0;
};

// Before the step's update, except where said. Without a proxy model only `divergences.forward`,
// the main gradient and the times have a meaning; the others are NaN or as they were.
struct StepRecord {
  std::int64_t iteration = 0;                                   // from 1
  Terms divergences{kNotMeasured, kNotMeasured, kNotMeasured};  // NLL, KL(main || proxy), NLL proxy
  Terms levels{kNotMeasured, kNotMeasured, kNotMeasured};       // as the constraints see them
  double log_zeta = 0;                    // as the constraints see it: zeta_level()
  double log_zeta_lowest = kNotMeasured;  // over the conditions of the batch
  double log_zeta_highest = kNotMeasured;
  double effective_sample_size = 1;  // of the importance weights, as a share
  double pareto_k = kNotMeasured;    // of the importance weights; above 0.7: do not trust zeta
  Multipliers multipliers{};         // that weighed this step
  Slack slack{};
  Terms residual{kNotMeasured, kNotMeasured, kNotMeasured};  // of the multiplier equation
  double balance = kNotMeasured;  // w of the generalised Jeffreys divergence
  double main_gradient_norm = kNotMeasured;
  double proxy_gradient_norm = kNotMeasured;
  bool skipped = false;  // something was not finite: the models were not updated
  StepTimes times = {};
};

// NLL of held-out rows; NaN where there is no such model.
struct Evaluation {
  std::int64_t iteration = 0;
  double main = kNotMeasured;
  double main_averaged = kNotMeasured;
  double proxy = kNotMeasured;
  double proxy_averaged = kNotMeasured;
};

// Calls visit(name, value&) for each number of a record; `skipped` counts as 0 or 1. Files hold the
// numbers in this order: new ones are added at the end.
template <typename Record, typename Visit>
void visit_step(Record& r, Visit&& visit) {
  visit("iteration", r.iteration);
  visit("nll", r.divergences.forward);
  visit("reverse_kl", r.divergences.reverse);
  visit("proxy_nll", r.divergences.proxy);
  visit("level_forward", r.levels.forward);
  visit("level_reverse", r.levels.reverse);
  visit("level_proxy", r.levels.proxy);
  visit("log_zeta", r.log_zeta);
  visit("effective_sample_size", r.effective_sample_size);
  visit("pareto_k", r.pareto_k);
  visit("lambda_forward", r.multipliers.forward);
  visit("lambda_reverse", r.multipliers.reverse);
  visit("lambda_proxy", r.multipliers.proxy);
  visit("lambda_zeta_lower", r.multipliers.zeta_lower);
  visit("lambda_zeta_upper", r.multipliers.zeta_upper);
  visit("epsilon_forward", r.slack.epsilon.forward);
  visit("epsilon_reverse", r.slack.epsilon.reverse);
  visit("epsilon_proxy", r.slack.epsilon.proxy);
  visit("delta_forward", r.slack.delta.forward);
  visit("delta_reverse", r.slack.delta.reverse);
  visit("delta_proxy", r.slack.delta.proxy);
  visit("residual_forward", r.residual.forward);
  visit("residual_reverse", r.residual.reverse);
  visit("residual_proxy", r.residual.proxy);
  visit("balance", r.balance);
  visit("main_gradient_norm", r.main_gradient_norm);
  visit("proxy_gradient_norm", r.proxy_gradient_norm);
  visit("skipped", r.skipped);
  visit("seconds_sampling", r.times.sampling);
  visit("seconds_zeta", r.times.zeta);
  visit("seconds_scores", r.times.scores);
  visit("seconds_update", r.times.update);
  visit("log_zeta_lowest", r.log_zeta_lowest);
  visit("log_zeta_highest", r.log_zeta_highest);
}

template <typename Record, typename Visit>
void visit_evaluation(Record& r, Visit&& visit) {
  visit("iteration", r.iteration);
  visit("main", r.main);
  visit("main_averaged", r.main_averaged);
  visit("proxy", r.proxy);
  visit("proxy_averaged", r.proxy_averaged);
}

}  // namespace jeffreys
