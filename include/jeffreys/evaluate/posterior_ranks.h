// The ranks of true parameters among samples of their posteriors: all that the diagnostics of a
// posterior need (rank_calibration.h, expected_coverage.h), from one pass over its samples.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// What a posterior says about one simulation's outcomes.
struct PosteriorDraws {
  Matrix<double> samples = {};          // [samples, parameters]
  Vector<double> sample_log_prob = {};  // [samples], of these; any constant may be missing
  double parameter_log_prob = 0;  // of the simulation's true parameter, with the same constant;
                                  // minus infinity where the posterior excludes it
};

// Each rank is a count of samples, 0 ... samples. Under the exact posterior each has every value
// with the same probability. Ties are broken at random, the same way for the same seed.
struct PosteriorRanks {
  int samples = 0;  // of each posterior
  // [simulations, parameters]: samples with a smaller value (Talts et al. 2018).
  Matrix<int> parameter = {};
  // [simulations]: samples with a higher density (Hermans et al. 2021).
  std::vector<int> density = {};
  // [simulations]: samples nearer to a random reference point (TARP, Lemos et al. 2023).
  std::vector<int> distance = {};
  std::uint64_t seed = 0;
};

// parameters [simulations, parameters] are the true ones: draws of the prior. `draw` is called once
// for each simulation, in order, and gives the posterior for its outcomes, always with as many
// samples. Reference points are uniform in the box around all true parameters, and distances are
// Euclidean in units of their standard deviations. Throws std::invalid_argument for fewer than 10
// simulations, a parameter that is not finite or is the same in all simulations, and draws of
// another shape or with NaN, naming the simulation.
[[nodiscard]] PosteriorRanks rank_posteriors(
    const MatrixView<double>& parameters,
    const std::function<PosteriorDraws(Eigen::Index simulation)>& draw, std::uint64_t seed = 0);

}  // namespace jeffreys
