// Everything that can be set about a fit by its key: see option_rule.h.
#pragma once

#include "jeffreys/base/option_rule.h"
#include "jeffreys/fit/fit_options.h"
#include "jeffreys/train/train_options.h"

namespace jeffreys {

constexpr auto names(FeatureOrder) {
  return std::array<EnumName<FeatureOrder>, 2>{
      {{"alternating", FeatureOrder::alternating}, {"random", FeatureOrder::random}}};
}
constexpr auto names(FlowStart) {
  return std::array<EnumName<FlowStart>, 3>{{{"random", FlowStart::random},
                                             {"unconditional", FlowStart::unconditional},
                                             {"independent", FlowStart::independent}}};
}
constexpr auto names(Ties) {
  return std::array<EnumName<Ties>, 2>{{{"dequantize", Ties::dequantize}, {"keep", Ties::keep}}};
}
constexpr auto names(Missing) {
  return std::array<EnumName<Missing>, 3>{
      {{"drop", Missing::drop}, {"error", Missing::error}, {"keep", Missing::keep}}};
}
constexpr auto names(Standardize) {
  return std::array<EnumName<Standardize>, 2>{
      {{"training", Standardize::training}, {"all", Standardize::all}}};
}

// Negative: chosen by the number of rows.
inline constexpr OptionRule kShareOrAutomatic{
    .expected = "a number below 1", .most = 1, .below_most = true};

// Calls visit(key, value&, rule, help) for every setting, in the order in which they are listed.
template <typename Options, typename Visit>
void visit_fit_options(Options& o, Visit&& visit) {
  visit("seed", o.seed, kNotNegative, "of all random numbers: the same seed gives the same bits");
  visit("main", o.main, kOneOfItsNames, "main model: flow, or mixture");
  visit("proxy", o.proxy, kOneOfItsNames,
        "proxy model: flow, energy or mixture; all but energy also sample");
  visit("members", o.members, kNotNegative,
        "fits that each leave out other rows and make one density; 0: by the number of rows");
  visit("simple", o.simple, kOneOfItsNames,
        "whether a Gaussian and a mixture of Gaussians may be part of it");
  visit("distill", o.distill, kOneOfItsNames,
        "whether one flow learns what several fits say, and stands in their place");
  visit("validation.fraction", o.validation_fraction, kShareOrAutomatic,
        "share of rows held out; negative: 10 to 20 % by their number; 0: none");
  visit("calibration.fraction", o.calibration_fraction, kShareOrAutomatic,
        "share of rows kept for p-values alone; negative: by their number; 0: none");
  visit("ties", o.schema.ties, kOneOfItsNames,
        "columns whose values repeat: dequantize, or keep (paper)");
  visit("missing", o.schema.missing, kOneOfItsNames,
        "rows with missing cells: keep (they count with what they have), drop, or error");
  visit("standardize", o.schema.standardize, kOneOfItsNames, "on training rows, or on all (paper)");
  visit("flow.transforms", o.flow.transforms, kAtLeastOne, "of the main model and of a flow proxy");
  visit("flow.bins", o.flow.bins, kAtLeastOne, "of each spline");
  visit("flow.hidden", o.flow.hidden, kOneOfItsNames, "widths of the hidden layers");
  visit("flow.order", o.flow.order, kOneOfItsNames, "of the features: alternating or random");
  visit("flow.start", o.flow.start, kOneOfItsNames,
        "of its weights: random (paper), unconditional or independent");
  visit("flow.affine", o.flow.affine, kOneOfItsNames,
        "an affine transform before the splines, for correlations");
  visit("flow.student_t", o.flow.student_t, kNotNegative,
        "degrees of freedom of a heavy-tailed base; 0: normal (paper)");
  visit("energy.hidden", o.energy.hidden, kAtLeastOne, "width of an energy proxy");
  visit("energy.blocks", o.energy.blocks, kNotNegative, "residual blocks of an energy proxy");
  visit("energy.film_layers", o.energy.film_layers, kAtLeastOne,
        "layers of its FiLM parts, with conditions");
  visit("energy.bounded", o.energy.bounded, kOneOfItsNames,
        "spectral norms and LayerNorm in them, with conditions; paper: false");
  visit("energy.confined", o.energy.confined, kOneOfItsNames,
        "its density falls like a normal one far from the data; paper: false");
  visit("energy.temperature", o.energy.temperature, kPositive,
        "T: large dimensions need a small one");
  visit("mixture.components", o.mixture.components, kAtLeastOne, "Gaussians of a mixture");
  visit_train_options(o.train, visit);
}

}  // namespace jeffreys
