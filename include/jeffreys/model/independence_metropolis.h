// Samples from an unnormalised density by independence Metropolis: every proposal is a fresh sample
// of a density that is easy to draw from, accepted so that the target stays exactly invariant.
// Works where the proposal covers the target, as a flow trained beside an energy model does. Every
// fourth proposal comes from wider noise, so that a chain also finds what the flow does not cover.
#pragma once

#include "jeffreys/model/density.h"

namespace jeffreys {

template <typename T>
struct MetropolisResult {
  Matrix<T> x;                 // [rows, features]: the last state of each chain
  Vector<T> log_unnormalized;  // [rows]: of the last state
  double acceptance_rate = 0;  // of the proposals from the density itself
};

// One chain of `proposals` proposals for each row, started from a proposal. context: as for
// Density::sample.
template <typename T>
MetropolisResult<T> independence_metropolis(const UnnormalizedDensity<T>& target,
                                            const Density<T>& proposal, Eigen::Index rows,
                                            const MatrixView<T>& context, int proposals,
                                            const RandomStream& stream);

}  // namespace jeffreys
