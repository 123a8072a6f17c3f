// The dual problem (eq:kl_lagrangian, P:conditional_empirical) as arithmetic: from log densities
// and multipliers to the levels of the constraints, the Lagrangian, and the weights with which each
// row's score counts in its gradient.
//
// x: data rows, y: samples of the main model. log p = main model, f = proxy model (already divided
// by the temperature). log_zeta has one entry for each row, or one for all; for a normalised proxy
// it is 0. All means are over the rows.
#pragma once

#include "jeffreys/matrix.h"
#include "jeffreys/objective/multipliers.h"

namespace jeffreys {

// How the gradient of the reverse term with respect to the main model is estimated.
enum class ReverseEstimator {
  score_function,  // the paper's: weight log p - f + log zeta
  leave_one_out    // less the mean weight of the other samples: same expectation, less variance
};

struct DualSettings {
  // The forward and the proxy level are level_scale * (NLL - level_offset): the NLL depends on the
  // units of the data, and with it the balance that the multipliers find.
  double level_scale = 1;
  double level_offset = 0;
  // T of "Training in high dimensions": the reverse level is reverse_scale * KL.
  double reverse_scale = 1;
  double zeta_slack = 0.1;  // epsilon_zeta
  ReverseEstimator reverse_estimator = ReverseEstimator::score_function;

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;
};

// Log densities of one batch.
struct BatchValues {
  VectorView<double> main_data;      // log p(x)
  VectorView<double> main_samples;   // log p(y)
  VectorView<double> proxy_data;     // f(x)
  VectorView<double> proxy_samples;  // f(y)
  VectorView<double> log_zeta;       // [rows] or [1]
};

// The unscaled terms: NLL of the main model, KL(main || proxy), NLL of the proxy.
[[nodiscard]] Terms divergences(const BatchValues& values);

// What the constraints compare with their slack.
[[nodiscard]] Terms constraint_levels(const Terms& divergences, const DualSettings& settings);

// log of the mean zeta over the conditions: what the two normalisation constraints see.
[[nodiscard]] double log_mean_zeta(const VectorView<double>& log_zeta);

[[nodiscard]] double lagrangian(const Terms& levels, double zeta, const Slack& slack,
                                const Multipliers& multipliers, const DualSettings& settings);

// The gradient of the Lagrangian with respect to all five multipliers at the closed-form slack
// (eq:gradlagrange).
[[nodiscard]] Multipliers multiplier_gradient(const Terms& levels, double zeta,
                                              const Multipliers& multipliers,
                                              const DualSettings& settings);

// Weights of the scores of a batch of `rows` data rows and as many samples: the gradient of the
// Lagrangian is sum_i data_i grad log p(x_i) + sum_i samples_i grad log p(y_i).
[[nodiscard]] double main_data_weight(const Multipliers& multipliers, const DualSettings& settings,
                                      Eigen::Index rows);
[[nodiscard]] double proxy_data_weight(const Multipliers& multipliers, const DualSettings& settings,
                                       Eigen::Index rows);

// eq:full_gradnf; log zeta is kept in the weight, as a baseline.
[[nodiscard]] Vector<double> main_sample_weights(const BatchValues& values,
                                                 const Multipliers& multipliers,
                                                 const DualSettings& settings);

// eq:full_gradebm, for one sample. For a normalised proxy only the reverse term remains.
[[nodiscard]] double proxy_sample_weight(double log_p, double f, double log_zeta,
                                         const Multipliers& multipliers,
                                         const DualSettings& settings, Eigen::Index rows);
[[nodiscard]] double normalized_proxy_sample_weight(const Multipliers& multipliers,
                                                    const DualSettings& settings,
                                                    Eigen::Index rows);

}  // namespace jeffreys
