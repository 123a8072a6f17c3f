// The normaliser zeta of an energy model by importance sampling from the main model
// (eq:partition_is, alg:logzeta_estimation), and how far the estimate can be trusted.
#pragma once

#include <span>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// From log weights f(y_i) - log p(y_i), y_i drawn from p.
struct ImportanceEstimate {
  double log_zeta = 0;               // log of the mean weight
  double effective_sample_size = 1;  // (sum w)^2 / sum w^2, as a share of the number of weights
  double pareto_k = 0;               // shape of the weights' tail; above 0.7: do not trust them
};

// An empty span gives log_zeta = -infinity; a NaN among the weights gives NaN.
[[nodiscard]] ImportanceEstimate importance_estimate(std::span<const double> log_weights);

// Shape k of a generalised Pareto distribution fitted to the largest weights (Zhang & Stephens
// 2009, with the weakly informative prior of Vehtari et al. 2024). Fewer than 25 weights give
// infinity: too few to tell.
[[nodiscard]] double pareto_k(std::span<const double> log_weights);

// log zeta of each of `conditions` conditions from log weights [samples, conditions]: sample m of
// condition i is at m * conditions + i.
[[nodiscard]] Vector<double> log_zeta_by_condition(std::span<const double> log_weights,
                                                   Eigen::Index conditions);

// The same without most of the bias of few samples, which lowers log zeta and so flatters a proxy.
// It is the jackknife: n log zeta - (n - 1) times the mean of log zeta without one of the samples.
// An estimate from one sample is not corrected.
[[nodiscard]] Vector<double> jackknife_log_zeta(std::span<const double> log_weights,
                                                Eigen::Index conditions);

// How uneven the weights are inside the conditions; log_zeta is the mean over the conditions. The
// plain effective sample size of n samples cannot fall below 1 / n, however far off the proxy is,
// because the mean weight comes from the same few samples. Here that lowest value counts as 0: in
// the place of the squared mean weight stands the mean product of two different weights. With one
// sample the effective sample size is NaN. Pareto k is always NaN, since it needs many samples.
[[nodiscard]] ImportanceEstimate importance_within_conditions(std::span<const double> log_weights,
                                                              Eigen::Index conditions);

}  // namespace jeffreys
