// The options of training by their keys: see option_rule.h.
#pragma once

#include "jeffreys/objective/dual_options.h"
#include "jeffreys/train/options.h"

namespace jeffreys {

constexpr auto names(Method) {
  return std::array<EnumName<Method>, 6>{{{"dual", Method::dual},
                                          {"fixed-epsilon", Method::fixed_epsilon},
                                          {"weighted", Method::weighted},
                                          {"mle", Method::mle},
                                          {"mle-noise", Method::mle_noise},
                                          {"mle-entropy", Method::mle_entropy}}};
}
constexpr auto names(MultiplierOptimizer) {
  return std::array<EnumName<MultiplierOptimizer>, 3>{{{"adamw", MultiplierOptimizer::adamw},
                                                       {"sgd", MultiplierOptimizer::sgd},
                                                       {"exact", MultiplierOptimizer::exact}}};
}
constexpr auto names(Schedule) {
  return std::array<EnumName<Schedule>, 2>{
      {{"constant", Schedule::constant}, {"cosine", Schedule::cosine}}};
}
constexpr auto names(ZetaEstimator) {
  return std::array<EnumName<ZetaEstimator>, 3>{{{"shared", ZetaEstimator::shared},
                                                 {"pooled", ZetaEstimator::pooled},
                                                 {"separate", ZetaEstimator::separate}}};
}

// Calls visit(key, value&, rule, help) for every option but the seed and the checkpoint's path.
template <typename Options, typename Visit>
void visit_train_options(Options& o, Visit&& visit) {
  visit("method", o.method, kOneOfItsNames,
        "dual, fixed-epsilon, weighted, mle, mle-noise or mle-entropy");
  visit("iterations", o.iterations, kAtLeastOne.not_in_fingerprint(), "gradient steps");
  visit("batch_size", o.batch_size, kNotNegative, "rows of a step; 0: all");
  visit("learning_rate.main", o.learning_rate.main, kNotNegative, "of the main model");
  visit("learning_rate.proxy", o.learning_rate.proxy, kNotNegative, "of the proxy model");
  visit("learning_rate.multipliers", o.learning_rate.multipliers, kNotNegative,
        "of the KL multipliers and of requirements");
  visit("learning_rate.zeta", o.learning_rate.zeta, kNotNegative, "of the multipliers of zeta");
  visit("schedule.kind", o.schedule.kind, kOneOfItsNames,
        "of the models' rates: constant or cosine");
  visit("schedule.warm_up", o.schedule.warm_up, kNotNegative,
        "steps in which the rate grows from 0");
  visit("schedule.final_share", o.schedule.final_share, kShare, "where cosine ends");
  visit("optimizer.beta1", o.optimizer.beta1, kBelowOne, "of AdamW");
  visit("optimizer.beta2", o.optimizer.beta2, kBelowOne, "of AdamW");
  visit("optimizer.weight_decay", o.optimizer.weight_decay, kNotNegative, "of AdamW");
  visit("optimizer.clip_norm", o.optimizer.clip_norm, kNotNegative,
        "largest gradient norm; 0: no limit");
  visit("averaging", o.averaging, kBelowOne, "decay of the average of the weights; 0: none");
  visit("max_skipped", o.max_skipped, kAtLeastOne.not_in_fingerprint(),
        "non-finite steps in a row that end training");
  visit("record_every", o.record_every, kNotNegative.not_in_fingerprint(),
        "steps between records; 0: about 1000 in all");
  visit("validation.every", o.validation.every, kAtLeastOne, "steps between evaluations");
  visit("validation.patience", o.validation.patience, kNotNegative.not_in_fingerprint(),
        "steps without improvement that end training; 0: never");
  visit("validation.relative_patience", o.validation.relative_patience,
        kNotNegative.not_in_fingerprint(),
        "the same in steps that the best took, at least 1000; 0: no");
  visit("validation.zeta_samples", o.validation.zeta_samples, kAtLeastTwo,
        "samples for the NLL of an energy proxy");
  visit("validation.zeta_samples_per_condition", o.validation.zeta_samples_per_condition,
        kAtLeastTwo, "the same for each condition");
  visit("time_limit", o.time_limit, kNotNegative.not_in_fingerprint(), "seconds; 0: none");
  visit("checkpoint.seconds", o.checkpoint.seconds, kNotNegative.not_in_fingerprint(),
        "between two checkpoints");
  visit("multipliers.forward", o.multipliers.forward, kNotNegative,
        "initial; weighted: the weight");
  visit("multipliers.reverse", o.multipliers.reverse, kNotNegative,
        "initial; weighted: the weight");
  visit("multipliers.proxy", o.multipliers.proxy, kNotNegative, "initial; weighted: the weight");
  visit("multipliers.zeta_lower", o.multipliers.zeta_lower, kNotNegative, "initial");
  visit("multipliers.zeta_upper", o.multipliers.zeta_upper, kNotNegative, "initial");
  visit("multipliers.optimizer", o.multiplier_optimizer, kOneOfItsNames,
        "adamw and sgd (two readings of the paper), or exact");
  visit("epsilon", o.epsilon, kAnyNumber,
        "fixed-epsilon: NLL that the proxy must reach, of standardised rows; none: not given");
  visit_dual_settings(o.dual, visit);
  visit("zeta.estimator", o.zeta.estimator, kOneOfItsNames,
        "zeta from samples shared with the reverse KL, pooled with more, or separate (paper)");
  visit("zeta.samples", o.zeta.samples, kAtLeastOne, "M; not used if shared");
  visit("zeta.samples_per_condition", o.zeta.samples_per_condition, kAtLeastOne,
        "the same for each condition; shared: of the reverse KL too");
  visit("zeta.refresh", o.zeta.refresh, kAtLeastOne,
        "steps for which log zeta is kept, if separate");
  visit("warm_start", o.warm_start, kNotNegative, "steps that bring f close to log p first");
  visit("noise", o.noise, kNotNegative, "mle-noise: standard deviation");
  visit("entropy_weight", o.entropy_weight, kNotNegative, "mle-entropy");
}

}  // namespace jeffreys
