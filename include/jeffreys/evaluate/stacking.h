// How much each of several densities should count in their mixture, by rows that none of them has
// seen.
#pragma once

#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// The weights, which sum to 1, under which the rows are likeliest: the maximum of
//   mean_i log sum_k w_k exp(log_prob(i, k)),
// which has no other maxima, by expectation maximisation. log_prob [rows, densities]; what is NaN
// there counts as impossible, and a row that is impossible for all does not count. Equal weights if
// there are no rows. row_weights: how much each row counts, in any unit; none: all the same. Throws
// std::invalid_argument if there are no densities.
[[nodiscard]] std::vector<double> stacking_weights(
    const MatrixView<double>& log_prob, const VectorView<double>& row_weights = Vector<double>());

// log sum_k w_k exp(log_prob(i, k)) for every row; minus infinity where all are impossible.
[[nodiscard]] Vector<double> mixed_log_prob(const MatrixView<double>& log_prob,
                                            const std::vector<double>& weights);

}  // namespace jeffreys
