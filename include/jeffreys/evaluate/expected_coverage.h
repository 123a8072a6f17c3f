// Expected coverage: how often regions of the posterior that claim a probability (credibility) hold
// the true parameter, for all parameters together.
//
// highest_density_coverage: the regions of highest density (Hermans et al. 2021). It cannot tell a
// posterior that is too narrow from one in the wrong place: both are over-confident.
// reference_point_coverage: balls around random points (TARP, Lemos et al. 2023). It needs samples
// alone, no densities, and finds errors that leave the highest-density coverage right. A posterior
// that is the prior passes both.
#pragma once

#include <string>
#include <vector>

#include "jeffreys/evaluate/posterior_ranks.h"
#include "jeffreys/evaluate/rank_calibration.h"

namespace jeffreys {

struct ExpectedCoverage {
  struct Level {
    double credibility = 0;
    double coverage = 0;
    double standard_error = 0;  // binomial, by Agresti and Coull: not 0 at a coverage of 0 or 1
  };
  // The whole curve: coverage[i] is the share of simulations whose region of probability
  // credibility[i] holds the truth. Credibilities go from 0 to 1 in equal steps.
  std::vector<double> credibility = {};
  std::vector<double> coverage = {};
  // The whole curve of a calibrated posterior lies within credibility -+ band with probability
  // 1 - significance (Kolmogorov-Smirnov): a simultaneous band, not a pointwise one.
  double band = 0;
  std::vector<Level> levels = {};  // 0.5, 0.68, 0.9, 0.95
  double distance = 0;             // the largest one between coverage and credibility
  double p_value = 1;              // of that distance
  Calibration calibration = Calibration::no_sign;
  std::string verdict = {};  // one sentence
};

// Throw std::invalid_argument for a significance that is not between 0 and 1, or too few ranks.
[[nodiscard]] ExpectedCoverage highest_density_coverage(const PosteriorRanks& ranks,
                                                        double significance = 0.01);
[[nodiscard]] ExpectedCoverage reference_point_coverage(const PosteriorRanks& ranks,
                                                        double significance = 0.01);

}  // namespace jeffreys
