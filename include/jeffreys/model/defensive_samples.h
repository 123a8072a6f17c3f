// Samples of a density with wider tails: half of them are the density's own, the other half come
// from wider noise. An energy model may have mass where the main model draws no samples; the wider
// half finds it. No importance weight is more than twice what it would be for plain samples.
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
