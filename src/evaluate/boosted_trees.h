// Gradient boosted trees for two classes: XGBoost's histogram method, behind what the two-sample
// test needs of it.
#pragma once

#include <string>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// x [rows, features]: bin numbers below kMostBins, or NaN for a missing value. XGBoost computes in
// float, which holds bin numbers exactly.
inline constexpr int kMostBins = 255;

// Learns labels (0 or 1) of training rows and returns the probability of label 1 for each row of
// test. One thread, no random choices, nothing printed. Throws std::runtime_error with XGBoost's
// message.
[[nodiscard]] std::vector<float> boosted_tree_probabilities(const Matrix<float>& training,
                                                            const std::vector<float>& labels,
                                                            const Matrix<float>& test);

// The library with its version and the settings of the trees.
[[nodiscard]] std::string boosted_trees_definition();

}  // namespace jeffreys
