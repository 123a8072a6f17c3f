// The most probable parameters of an observation (maximum a posteriori).
#pragma once

#include "jeffreys/sbi/posterior.h"

namespace jeffreys {

struct PosteriorMode {
  Vector<double> parameters = {};
  double log_prob = 0;
};

// Searches from the most probable of `samples` draws, by steps from the best point so far that go
// where the draws lie around their mean, and are half as long when none of them is better. With
// several modes of nearly the same density it may be any of them. In the units of the parameters:
// other units have another mode. observed [1, outcomes]. The same arguments give the same result.
// Throws as Posterior::sample does, and std::invalid_argument for fewer than 10 samples.
[[nodiscard]] PosteriorMode find_mode(const Posterior& posterior,
                                      const MatrixView<double>& observed,
                                      Eigen::Index samples = 5000,
                                      const PosteriorSampling& sampling = {});

}  // namespace jeffreys
