// Forward, reverse and Jeffreys divergence between a model and a density that is known exactly, by
// Monte Carlo with standard errors. Everything comes from log densities, one for each row, so any
// model, source or baseline will do.
//
// Forward is KL(exact || model) and uses rows drawn from the exact density, reverse is
// KL(model || exact) and uses rows drawn from the model, Jeffreys is their sum.
#pragma once

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// In nats. Where the other density is zero the divergence is infinite, and `outside` says how bad
// it is: a forward divergence with 0.01 outside misses 1 % of the data, a reverse one puts 1 % of
// the model's mass where nothing can be.
struct DivergenceEstimate {
  double value = 0;
  double standard_error = 0;  // NaN if the value is infinite: then nothing is left to estimate
  double outside = 0;         // mass of the first density where the second one is zero
};

struct Jeffreys {
  DivergenceEstimate forward;
  DivergenceEstimate reverse;
  DivergenceEstimate jeffreys;  // outside: the larger of the two
};

// Log densities under both of rows drawn from the exact density (data) and of rows drawn from the
// model (sample). A NaN in one row gives NaN. Throws std::invalid_argument for no rows, and for a
// row that has density zero under the very density it was drawn from: most likely the arguments are
// in the wrong order.
[[nodiscard]] Jeffreys jeffreys_divergence(const VectorView<double>& data_log_p_exact,
                                           const VectorView<double>& data_log_p_model,
                                           const VectorView<double>& sample_log_p_exact,
                                           const VectorView<double>& sample_log_p_model);

// The normaliser of an unnormalised density f with a 95 % interval (eq:partition_is). The interval
// is the normal one on the scale of log zeta, so that it stays positive; it is too narrow where the
// effective sample size is below about 1 %, since the weights that matter were then never drawn.
struct ZetaEstimate {
  double log_zeta = 0;
  double zeta = 1;
  double lower = 1;
  double upper = 1;
  double effective_sample_size = 1;  // (sum w)^2 / sum w^2, as a share of the number of weights
};

// From log weights f(y) - log p(y) of rows y drawn from p; at least one.
[[nodiscard]] ZetaEstimate estimate_zeta(const VectorView<double>& log_weights);

// The divergence of an energy model, whose log density is f - log zeta. It cannot be sampled
// directly, so its expectations are taken over rows of the main model with self-normalised
// importance weights. Standard errors are those of the delta method and include that of zeta.
struct ProxyDivergence {
  Jeffreys divergence;
  ZetaEstimate zeta;
};

// data_* for rows drawn from the exact density, sample_* for rows drawn from the main model;
// *_log_unnormalized is f.
[[nodiscard]] ProxyDivergence proxy_divergence(const VectorView<double>& data_log_p_exact,
                                               const VectorView<double>& data_log_unnormalized,
                                               const VectorView<double>& sample_log_p_exact,
                                               const VectorView<double>& sample_log_p_main,
                                               const VectorView<double>& sample_log_unnormalized);

}  // namespace jeffreys
