// Samples of a density with wider tails: half of them are the density's own, half come from noise
// that is wider. An energy model may have mass where its main model has no samples; these find it,
// and with them as proposals no importance weight is more than twice that of the plain samples.
#pragma once

#include "jeffreys/model/density.h"

namespace jeffreys {

template <typename T>
struct DefensiveSamples {
  Matrix<T> x;                 // [rows, features]: first the density's own, then the wider half
  Vector<double> log_prob;     // [rows]: under the density itself
  Vector<double> log_mixture;  // [rows]: under the even mixture that they are drawn from
};

// `each` samples, an even number, for each row of the context, or in all without context. Sample m
// of condition i is row m * conditions + i.
template <typename T>
[[nodiscard]] DefensiveSamples<T> defensive_samples(const Density<T>& density, Eigen::Index each,
                                                    const MatrixView<T>& context,
                                                    const RandomStream& stream);

}  // namespace jeffreys
