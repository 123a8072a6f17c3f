// Samples from an unnormalised density by Langevin dynamics (the paper's label eq:mcmcsampling):
//   x_k = x_{k-1} + s grad log q(x_{k-1}) + sqrt(2 s) z
// The paper's update is not corrected for its step size; with Metropolis::yes each move is accepted
// or rejected so that q stays exactly invariant (MALA).
#pragma once

#include "jeffreys/model/density.h"

namespace jeffreys {

enum class Metropolis { no, yes };

struct LangevinOptions {
  int steps = 2000;
  double step_size = 1e-3;
  Metropolis metropolis = Metropolis::no;

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;
};

template <typename T>
struct LangevinResult {
  Matrix<T> x;                   // [rows, features]: the last state of each chain
  Vector<T> log_unnormalized;    // [rows]: of the last state
  double acceptance_rate = 1.0;  // of all moves; 1 without Metropolis
  Eigen::Index lost = 0;         // chains that left the finite numbers (uncorrected steps too long)
};

// One chain for each row of `start`.
template <typename T>
LangevinResult<T> langevin(const UnnormalizedDensity<T>& density, const MatrixView<T>& start,
                           const MatrixView<T>& context, const LangevinOptions& options,
                           const RandomStream& stream);

// Chains that start from samples of a flow: near the target when the flow was trained beside it.
template <typename T>
LangevinResult<T> langevin_from(const UnnormalizedDensity<T>& density, const Density<T>& start,
                                Eigen::Index rows, const MatrixView<T>& context,
                                const LangevinOptions& options, const RandomStream& stream);

}  // namespace jeffreys
