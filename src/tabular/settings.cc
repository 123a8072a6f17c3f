// The names of the settings: one list serves files, command lines, help and run records.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "jeffreys/tabular/fit_options.h"
#include "tabular/model_choice.h"

namespace jeffreys {
namespace {

template <typename E>
struct Name {
  std::string_view name;
  E value;
};

constexpr auto names(Method) {
  return std::array<Name<Method>, 5>{{{"dual", Method::dual},
                                      {"weighted", Method::weighted},
                                      {"mle", Method::mle},
                                      {"mle-noise", Method::mle_noise},
                                      {"mle-entropy", Method::mle_entropy}}};
}
constexpr auto names(FeatureOrder) {
  return std::array<Name<FeatureOrder>, 2>{
      {{"alternating", FeatureOrder::alternating}, {"random", FeatureOrder::random}}};
}
constexpr auto names(FlowStart) {
  return std::array<Name<FlowStart>, 3>{{{"random", FlowStart::random},
                                         {"unconditional", FlowStart::unconditional},
                                         {"independent", FlowStart::independent}}};
}
constexpr auto names(MultiplierOptimizer) {
  return std::array<Name<MultiplierOptimizer>, 3>{{{"adamw", MultiplierOptimizer::adamw},
                                                   {"sgd", MultiplierOptimizer::sgd},
                                                   {"exact", MultiplierOptimizer::exact}}};
}
constexpr auto names(Schedule) {
  return std::array<Name<Schedule>, 2>{
      {{"constant", Schedule::constant}, {"cosine", Schedule::cosine}}};
}
constexpr auto names(ReverseEstimator) {
  return std::array<Name<ReverseEstimator>, 2>{
      {{"score-function", ReverseEstimator::score_function},
       {"leave-one-out", ReverseEstimator::leave_one_out}}};
}
constexpr auto names(ZetaConstraint) {
  return std::array<Name<ZetaConstraint>, 2>{
      {{"log", ZetaConstraint::log}, {"raw", ZetaConstraint::raw}}};
}
constexpr auto names(ZetaEstimator) {
  return std::array<Name<ZetaEstimator>, 3>{{{"shared", ZetaEstimator::shared},
                                             {"pooled", ZetaEstimator::pooled},
                                             {"separate", ZetaEstimator::separate}}};
}
constexpr auto names(Ties) {
  return std::array<Name<Ties>, 2>{{{"dequantize", Ties::dequantize}, {"keep", Ties::keep}}};
}
constexpr auto names(Missing) {
  return std::array<Name<Missing>, 2>{{{"drop", Missing::drop}, {"error", Missing::error}}};
}
constexpr auto names(Standardize) {
  return std::array<Name<Standardize>, 2>{
      {{"training", Standardize::training}, {"all", Standardize::all}}};
}

template <typename V>
std::string write(const V& value) {
  if constexpr (std::is_enum_v<V>) {
    for (const auto& entry : names(V{})) {
      if (entry.value == value) return std::string(entry.name);
    }
    return "?";
  } else if constexpr (std::is_same_v<V, ModelChoice>) {
    return value.name;
  } else if constexpr (std::is_same_v<V, std::vector<Eigen::Index>>) {
    return fmt::format("{}", fmt::join(value, ","));
  } else {
    return fmt::format("{}", value);
  }
}

[[noreturn]] void refuse(std::string_view expected, std::string_view text) {
  throw std::invalid_argument(fmt::format("expected {}, got '{}'", expected, text));
}

template <typename Number>
Number read_number(std::string_view text, std::string_view expected) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(expected, text);
  return value;
}

template <typename V>
void read(const std::string& text, V& value) {
  if constexpr (std::is_enum_v<V>) {
    std::vector<std::string_view> known;
    for (const auto& entry : names(V{})) {
      if (entry.name == text) {
        value = entry.value;
        return;
      }
      known.push_back(entry.name);
    }
    refuse(fmt::format("{}", fmt::join(known, " or ")), text);
  } else if constexpr (std::is_same_v<V, ModelChoice>) {
    value = {find_model_choice({text}).name};
  } else if constexpr (std::is_same_v<V, std::vector<Eigen::Index>>) {
    value.clear();
    std::string_view rest = text;
    while (true) {
      const std::size_t comma = rest.find(',');
      value.push_back(read_number<Eigen::Index>(rest.substr(0, comma), "whole numbers like 64,64"));
      if (comma == std::string_view::npos) return;
      rest.remove_prefix(comma + 1);
    }
  } else if constexpr (std::is_same_v<V, bool>) {
    if (text != "true" && text != "false") refuse("true or false", text);
    value = text == "true";
  } else if constexpr (std::is_floating_point_v<V>) {
    value = read_number<V>(text, "a number");
    if (!std::isfinite(value)) refuse("a finite number", text);
  } else {
    value = read_number<V>(
        text, std::is_unsigned_v<V> ? "a whole number that is not negative" : "a whole number");
  }
}

// Calls visit(key, value&, help) for every setting.
template <typename Options, typename Visit>
void visit_data_and_models(Options& o, Visit&& visit) {
  visit("seed", o.seed, "of all random numbers: the same seed gives the same bits");
  visit("method", o.train.method, "dual, weighted, mle, mle-noise or mle-entropy");
  visit("main", o.main, "main model: flow, or mixture");
  visit("proxy", o.proxy, "proxy model: flow, energy or mixture; all but energy also sample");
  visit("validation.fraction", o.validation_fraction,
        "share of rows held out; negative: 10 to 20 % by their number; 0: none");
  visit("ties", o.schema.ties, "columns whose values repeat: dequantize, or keep (paper)");
  visit("missing", o.schema.missing, "rows with missing cells: drop, or error");
  visit("standardize", o.schema.standardize, "on training rows, or on all (paper)");
  visit("flow.transforms", o.flow.transforms, "of the main model and of a flow proxy");
  visit("flow.bins", o.flow.bins, "of each spline");
  visit("flow.hidden", o.flow.hidden, "widths of the hidden layers");
  visit("flow.order", o.flow.order, "of the features: alternating or random");
  visit("flow.start", o.flow.start, "of its weights: random (paper), unconditional or independent");
  visit("flow.affine", o.flow.affine, "an affine transform before the splines, for correlations");
  visit("flow.student_t", o.flow.student_t,
        "degrees of freedom of a heavy-tailed base; 0: normal (paper)");
  visit("energy.hidden", o.energy.hidden, "width of an energy proxy");
  visit("energy.blocks", o.energy.blocks, "residual blocks of an energy proxy");
  visit("energy.film_layers", o.energy.film_layers, "layers of its FiLM parts, with conditions");
  visit("energy.bounded", o.energy.bounded,
        "spectral norms and LayerNorm in them, with conditions; paper: false");
  visit("energy.confined", o.energy.confined,
        "its density falls like a normal one far from the data; paper: false");
  visit("energy.temperature", o.energy.temperature, "T: large dimensions need a small one");
  visit("mixture.components", o.mixture.components, "Gaussians of a mixture");
}

template <typename Options, typename Visit>
void visit_training(Options& o, Visit&& visit) {
  visit("iterations", o.train.iterations, "gradient steps");
  visit("batch_size", o.train.batch_size, "rows of a step; 0: all");
  visit("learning_rate.main", o.train.learning_rate.main, "of the main model");
  visit("learning_rate.proxy", o.train.learning_rate.proxy, "of the proxy model");
  visit("learning_rate.multipliers", o.train.learning_rate.multipliers, "of the KL multipliers");
  visit("learning_rate.zeta", o.train.learning_rate.zeta, "of the multipliers of zeta");
  visit("schedule.kind", o.train.schedule.kind, "of the models' rates: constant or cosine");
  visit("schedule.warm_up", o.train.schedule.warm_up, "steps in which the rate grows from 0");
  visit("schedule.final_share", o.train.schedule.final_share, "where cosine ends");
  visit("optimizer.beta1", o.train.optimizer.beta1, "of AdamW");
  visit("optimizer.beta2", o.train.optimizer.beta2, "of AdamW");
  visit("optimizer.weight_decay", o.train.optimizer.weight_decay, "of AdamW");
  visit("optimizer.clip_norm", o.train.optimizer.clip_norm, "largest gradient norm; 0: no limit");
  visit("averaging", o.train.averaging, "decay of the average of the weights; 0: none");
  visit("max_skipped", o.train.max_skipped, "non-finite steps in a row that end training");
  visit("record_every", o.train.record_every, "steps between records; 0: about 1000 in all");
  visit("validation.every", o.train.validation.every, "steps between evaluations");
  visit("validation.patience", o.train.validation.patience,
        "steps without improvement that end training; 0: never");
  visit("validation.relative_patience", o.train.validation.relative_patience,
        "the same in steps that the best took, at least 1000; 0: no");
  visit("validation.zeta_samples", o.train.validation.zeta_samples,
        "samples for the NLL of an energy proxy");
  visit("validation.zeta_samples_per_condition", o.train.validation.zeta_samples_per_condition,
        "the same for each condition");
  visit("time_limit", o.train.time_limit, "seconds; 0: none");
  visit("checkpoint.seconds", o.train.checkpoint.seconds, "between two checkpoints");
}

template <typename Options, typename Visit>
void visit_objective(Options& o, Visit&& visit) {
  visit("multipliers.forward", o.train.multipliers.forward, "initial; weighted: the weight");
  visit("multipliers.reverse", o.train.multipliers.reverse, "initial; weighted: the weight");
  visit("multipliers.proxy", o.train.multipliers.proxy, "initial; weighted: the weight");
  visit("multipliers.zeta_lower", o.train.multipliers.zeta_lower, "initial");
  visit("multipliers.zeta_upper", o.train.multipliers.zeta_upper, "initial");
  visit("multipliers.optimizer", o.train.multiplier_optimizer,
        "adamw and sgd (two readings of the paper), or exact");
  visit("level.scale", o.train.dual.level_scale, "of the forward and the proxy level");
  visit("level.offset", o.train.dual.level_offset, "subtracted from their NLL first");
  visit("reverse.scale", o.train.dual.reverse_scale, "of the reverse KL; paper in 100-D: T");
  visit("reverse.estimator", o.train.dual.reverse_estimator,
        "score-function (paper) or leave-one-out");
  visit("zeta.constraint", o.train.dual.zeta_constraint,
        "bound log zeta, or raw zeta as the paper writes it");
  visit("zeta.estimator", o.train.zeta.estimator,
        "zeta from samples shared with the reverse KL, pooled with more, or separate (paper)");
  visit("zeta.slack", o.train.dual.zeta_slack, "zeta may be between 1 and 1 + slack");
  visit("zeta.pull", o.train.dual.zeta_pull,
        "strength of a term that pulls each log zeta back to its bounds; paper: 0");
  visit("zeta.samples", o.train.zeta.samples, "M; not used if shared");
  visit("zeta.samples_per_condition", o.train.zeta.samples_per_condition,
        "the same for each condition; shared: of the reverse KL too");
  visit("zeta.refresh", o.train.zeta.refresh, "steps for which log zeta is kept, if separate");
  visit("warm_start", o.train.warm_start, "steps that bring f close to log p first");
  visit("noise", o.train.noise, "mle-noise: standard deviation");
  visit("entropy_weight", o.train.entropy_weight, "mle-entropy");
}

template <typename Options, typename Visit>
void visit_settings(Options& o, Visit&& visit) {
  visit_data_and_models(o, visit);
  visit_training(o, visit);
  visit_objective(o, visit);
}

// Keys that share their beginning or their end with an unknown one.
std::string hint(const std::string& key) {
  std::vector<std::string> close;
  const std::string last = key.substr(key.rfind('.') + 1);
  for (const Setting& setting : list_settings(FitOptions())) {
    if (last.size() > 2 && setting.key.find(last) != std::string::npos)
      close.push_back(setting.key);
  }
  return close.empty() ? "`jeffreys fit --settings` lists all"
                       : fmt::format("did you mean {}?", fmt::join(close, " or "));
}

}  // namespace

std::vector<Setting> list_settings(const FitOptions& options) {
  std::vector<Setting> all;
  visit_settings(options, [&](const char* key, const auto& value, const char* help) {
    all.push_back({key, write(value), help});
  });
  return all;
}

void change_setting(FitOptions& options, const std::string& key, const std::string& value) {
  bool found = false;
  visit_settings(options, [&](const char* name, auto& target, const char*) {
    if (key != name) return;
    found = true;
    try {
      read(value, target);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("{}: {}", key, error.what()));
    }
  });
  if (!found) throw std::invalid_argument(fmt::format("unknown setting '{}': {}", key, hint(key)));
}

}  // namespace jeffreys
