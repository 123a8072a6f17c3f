// Posterior predictive check: whether outcomes that are simulated from posterior samples look like
// the observed ones. If not, the posterior is wrong there or no parameter explains the observation.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

struct PredictiveCheck {
  struct Outcome {
    std::string name = {};
    double observed = 0;
    // Quantiles of the simulated values.
    double lower = 0;  // 0.05
    double median = 0;
    double upper = 0;  // 0.95
    // Probability of a value at least as far out on either side: 2 (1 + draws beyond) / (draws +
    // 1), at most 1; draws that equal the observed value are beyond.
    double tail_probability = 1;
    double p_value = 1;  // the same after Holm's correction over all outcomes
  };
  std::vector<Outcome> outcomes = {};
  Eigen::Index draws = 0;          // that were used
  Eigen::Index draws_missing = 0;  // left out: with outcomes that are not finite
  // All outcomes together: the Mahalanobis distance of the observed ones from the mean of them and
  // all draws, and the share of draws that are at least as far, with the same + 1.
  double distance = 0;
  double distance_p_value = 1;
  bool consistent = true;    // no p-value is below the significance
  std::string verdict = {};  // one sentence
};

// observed [outcomes], simulated [draws, outcomes], one row for each posterior sample. The check
// sees the observation twice, in the posterior and here, so that its p-values are rather too large:
// it finds gross errors. With few draws no p-value can be small, and the verdict says so. Throws
// std::invalid_argument for shapes that do not fit, an observed value that is not finite, or fewer
// than 20 draws with finite outcomes.
[[nodiscard]] PredictiveCheck predictive_check(const VectorView<double>& observed,
                                               const MatrixView<double>& simulated,
                                               const std::vector<std::string>& names,
                                               double significance = 0.01);

}  // namespace jeffreys
