// Which weights of an autoregressive network act, from the definition by sets of visible inputs.
#pragma once

#include <torch/types.h>

#include <span>
#include <vector>

namespace jeffreys::twin {

// order[feature] = position: a feature sees those before it, and the whole context. One mask
// [outputs, inputs] of zeros and ones for each layer; the last has outputs_per_feature rows for
// each feature.
std::vector<torch::Tensor> autoregressive_masks(std::span<const std::int64_t> order,
                                                std::int64_t context_features,
                                                std::span<const std::int64_t> hidden,
                                                std::int64_t outputs_per_feature);

}  // namespace jeffreys::twin
