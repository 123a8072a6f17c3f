// Maximum likelihood and its regularised forms (appendix "MLE methods") as weights of scores:
// minimise -mean log p(x_i + n_i) - entropy_weight H(p).
#pragma once

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// Each data row's score counts -1 / rows.
[[nodiscard]] double likelihood_data_weight(Eigen::Index rows);

// The entropy term by the score function: weight entropy_weight * log p(y) / samples.
// Differs from the paper: there mean log p(y) itself is differentiated, whose expected gradient is
// zero; the gradient of -H is E[log p(y) grad log p(y)].
[[nodiscard]] Vector<double> entropy_sample_weights(const VectorView<double>& log_p,
                                                    double entropy_weight);

}  // namespace jeffreys
