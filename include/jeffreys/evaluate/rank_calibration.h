// Simulation-based calibration (Talts et al. 2018): for each parameter alone, whether its true
// values are spread over the ranks among posterior samples as they should be. A posterior that is
// the prior, whatever the outcomes, passes too: calibrated does not mean informative.
#pragma once

#include <string>
#include <vector>

#include "jeffreys/evaluate/posterior_ranks.h"
#include "jeffreys/evaluate/uniformity.h"

namespace jeffreys {

// What a diagnostic found.
enum class Calibration {
  no_sign,          // of miscalibration, with as many simulations as there were
  over_confident,   // regions of the posterior hold the truth less often than they claim
  under_confident,  // and more often
  biased,           // the posterior leans to one side of the truth
  uneven,           // miscalibrated, but none of the above
};

// "no sign of miscalibration", "over-confident", ...
[[nodiscard]] std::string to_string(Calibration calibration);

struct RankCalibration {
  struct Parameter {
    std::string name = {};
    UniformityTest test = {};
    double p_value = 1;  // of the test, after Holm's correction over all parameters
    Calibration calibration = Calibration::no_sign;
  };
  std::vector<Parameter> parameters = {};
  double p_value = 1;        // the smallest of the corrected ones
  std::string verdict = {};  // one sentence
};

// names: one for each parameter. A parameter is miscalibrated if its corrected p-value is below
// `significance`. It is called biased if its ranks lean to one side by more standard errors than
// they avoid or seek the middle. Throws std::invalid_argument for another number of names or a
// significance that is not between 0 and 1.
[[nodiscard]] RankCalibration rank_calibration(const PosteriorRanks& ranks,
                                               const std::vector<std::string>& names,
                                               double significance = 0.01);

}  // namespace jeffreys
