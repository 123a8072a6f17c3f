// The dual problem (eq:kl_lagrangian, P:conditional_empirical) as arithmetic: from log densities to
// what the constraints measure, and from the constraints' weights to those of each row's score in
// the gradient of the Lagrangian. The constraints themselves are in constraint.h.
//
// x: data rows, y: samples of the main model. log p = main model, f = proxy model (already divided
// by the temperature). log_zeta has one entry for each condition: sample i belongs to condition
// i mod their number, and without conditions there is one for all. For a normalised proxy it is 0.
#pragma once

#include "jeffreys/base/matrix.h"
#include "jeffreys/objective/multipliers.h"

namespace jeffreys {

// How the gradient of the reverse term with respect to the main model is estimated.
enum class ReverseEstimator {
  score_function,  // the paper's: weight log p - f + log zeta
  // The same minus the mean weight of the other samples of the same condition (of all other samples
  // where a condition has only one). It has the same expectation and less variance.
  leave_one_out
};

// What the two normalisation constraints bound.
enum class ZetaConstraint {
  // Differs from the paper: -log zeta <= 0 and log zeta - log(1 + slack) <= 0. The force on the
  // proxy is then bounded wherever zeta is. With conditions log zeta is its mean over them.
  log,
  // As the paper writes it: 1 - zeta <= 0 and zeta - 1 - slack <= 0. The force grows with zeta
  // above one, and vanishes with it below. With conditions zeta is its mean over them.
  raw
};

struct DualSettings {
  // The forward and the proxy level are level_scale * (NLL - level_offset): the NLL depends on the
  // units of the data, and with it the balance that the multipliers find.
  double level_scale = 1;
  double level_offset = 0;
  // T of "Training in high dimensions": the reverse level is reverse_scale * KL.
  double reverse_scale = 1;
  double zeta_slack = 0.1;  // epsilon_zeta
  ZetaConstraint zeta_constraint = ZetaConstraint::log;
  // Differs from the paper: rho of an additional term for each condition, rho / 2 times the square
  // of how far its log zeta is outside of the bounds (linear from a distance of 1 on). 0: there is
  // no such term, and the multipliers alone hold zeta.
  double zeta_pull = 0;
  ReverseEstimator reverse_estimator = ReverseEstimator::score_function;

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;
};

// Log densities of one batch.
struct BatchValues {
  VectorView<double> main_data;      // [rows]: log p(x)
  VectorView<double> main_samples;   // [samples]: log p(y)
  VectorView<double> proxy_data;     // [rows]: f(x)
  VectorView<double> proxy_samples;  // [samples]: f(y)
  VectorView<double> log_zeta;       // [conditions] or [1]
};

// The unscaled terms: NLL of the main model, KL(main || proxy), NLL of the proxy.
[[nodiscard]] Terms divergences(const BatchValues& values);

// What the two normalisation constraints see: the mean of log zeta over the conditions, or the
// logarithm of the mean zeta where raw zeta is bounded.
[[nodiscard]] double zeta_level(const VectorView<double>& log_zeta, const DualSettings& settings);

// What zeta_pull adds to the Lagrangian. log_zeta: by condition.
[[nodiscard]] double zeta_pull_cost(const VectorView<double>& log_zeta,
                                    const DualSettings& settings);

struct ScoreWeights;

// eq:full_gradnf: the weights of the scores of the main model's samples; log zeta is kept in the
// weight, as a baseline.
[[nodiscard]] Vector<double> main_sample_weights(const BatchValues& values,
                                                 const ScoreWeights& weights,
                                                 const DualSettings& settings);

// The gradient of the expectation of a statistic over the main model's samples: a sample's value
// less the mean of the others, divided by their number.
[[nodiscard]] Vector<double> statistic_sample_weights(Vector<double> values);

// eq:full_gradebm, for one of `samples` samples; log_zeta is that of its condition. With log zeta
// in the constraints the weight is bounded if zeta comes from the same samples.
[[nodiscard]] double proxy_sample_weight(double log_p, double f, double log_zeta,
                                         const ScoreWeights& weights, const DualSettings& settings,
                                         Eigen::Index samples);

}  // namespace jeffreys
