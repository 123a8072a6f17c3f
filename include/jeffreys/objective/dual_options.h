// The settings of the dual problem by their keys: see option_rule.h.
#pragma once

#include "jeffreys/base/option_rule.h"
#include "jeffreys/objective/dual.h"

namespace jeffreys {

constexpr auto names(ReverseEstimator) {
  return std::array<EnumName<ReverseEstimator>, 2>{
      {{"score-function", ReverseEstimator::score_function},
       {"leave-one-out", ReverseEstimator::leave_one_out}}};
}
constexpr auto names(ZetaConstraint) {
  return std::array<EnumName<ZetaConstraint>, 2>{
      {{"log", ZetaConstraint::log}, {"raw", ZetaConstraint::raw}}};
}

// Calls visit(key, value&, rule, help) for every setting.
template <typename Settings, typename Visit>
void visit_dual_settings(Settings& s, Visit&& visit) {
  visit("level.scale", s.level_scale, kPositive, "of the forward and the proxy level");
  visit("level.offset", s.level_offset, kAnyNumber, "subtracted from their NLL first");
  visit("reverse.scale", s.reverse_scale, kPositive, "of the reverse KL; paper in 100-D: T");
  visit("reverse.estimator", s.reverse_estimator, kOneOfItsNames,
        "score-function (paper) or leave-one-out");
  visit("zeta.constraint", s.zeta_constraint, kOneOfItsNames,
        "bound log zeta, or raw zeta as the paper writes it");
  visit("zeta.slack", s.zeta_slack, kNotNegative, "zeta may be between 1 and 1 + slack");
  visit("zeta.pull", s.zeta_pull, kNotNegative,
        "strength of a term that pulls each log zeta back to its bounds; paper: 0");
}

}  // namespace jeffreys
