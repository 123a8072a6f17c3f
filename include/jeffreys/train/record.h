// What a training run says about itself: one record for each step, one for each evaluation on held
// out rows.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

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

// One constraint of the list, as it was when it weighed a step.
struct ConstraintRecord {
  std::string name = {};
  double level = kNotMeasured;
  double multiplier = kNotMeasured;
  double epsilon = kNotMeasured;  // level <= epsilon - delta^2; of a fixed slack: the bound
  double delta = kNotMeasured;    // more than 0 exactly where the slack is adaptive
  double residual =
      kNotMeasured;  // gradient of the multiplier: how far the constraint is from rest
};

// Before the step's update, except where said. Without a proxy model only `divergences.forward`,
// the main gradient and the times have a meaning, and there are no constraints.
struct StepRecord {
  std::int64_t iteration = 0;                                   // from 1
  Terms divergences{kNotMeasured, kNotMeasured, kNotMeasured};  // NLL, KL(main || proxy), NLL proxy
  double log_zeta = 0;                    // as the constraints see it: zeta_level()
  double log_zeta_lowest = kNotMeasured;  // over the conditions of the batch
  double log_zeta_highest = kNotMeasured;
  double effective_sample_size = 1;  // of the importance weights, as a share
  double pareto_k = kNotMeasured;    // of the importance weights; above 0.7: do not trust zeta
  double balance = kNotMeasured;     // w of the generalised Jeffreys divergence
  double main_gradient_norm = kNotMeasured;
  double proxy_gradient_norm = kNotMeasured;
  bool skipped = false;  // something was not finite: the models were not updated
  StepTimes times = {};
  std::vector<ConstraintRecord> constraints = {};  // in the order of the problem's list

  // The constraint of that name; one whose numbers are all NaN if there is none.
  [[nodiscard]] const ConstraintRecord& constraint(std::string_view name) const;
};

// NLL of held-out rows; NaN where there is no such model.
struct Evaluation {
  std::int64_t iteration = 0;
  double main = kNotMeasured;
  double main_averaged = kNotMeasured;
  double proxy = kNotMeasured;
  double proxy_averaged = kNotMeasured;
};

// Calls visit(name, value&) for each number of a constraint: "level_forward" and the like.
template <typename Record, typename Visit>
void visit_constraint(Record& r, Visit&& visit) {
  const auto named = [&](const char* what, auto& value) { visit((what + r.name).c_str(), value); };
  named("level_", r.level);
  named("lambda_", r.multiplier);
  named("epsilon_", r.epsilon);
  named("delta_", r.delta);
  named("residual_", r.residual);
}

// Calls visit(name, value&) for each number of a record; `skipped` counts as 0 or 1.
template <typename Record, typename Visit>
void visit_step(Record& r, Visit&& visit) {
  visit("iteration", r.iteration);
  visit("nll", r.divergences.forward);
  visit("reverse_kl", r.divergences.reverse);
  visit("proxy_nll", r.divergences.proxy);
  visit("log_zeta", r.log_zeta);
  visit("log_zeta_lowest", r.log_zeta_lowest);
  visit("log_zeta_highest", r.log_zeta_highest);
  visit("effective_sample_size", r.effective_sample_size);
  visit("pareto_k", r.pareto_k);
  visit("balance", r.balance);
  visit("main_gradient_norm", r.main_gradient_norm);
  visit("proxy_gradient_norm", r.proxy_gradient_norm);
  visit("skipped", r.skipped);
  visit("seconds_sampling", r.times.sampling);
  visit("seconds_zeta", r.times.zeta);
  visit("seconds_scores", r.times.scores);
  visit("seconds_update", r.times.update);
  for (auto& constraint : r.constraints) visit_constraint(constraint, visit);
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
