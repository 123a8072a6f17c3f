#include "torch/twin_mask.h"

namespace jeffreys::twin {

using torch::Tensor;

// Features that see the same inputs are a class. A hidden unit belongs to a class that sees
// anything, in turn; a unit may feed units whose class sees all that its own does.
std::vector<Tensor> autoregressive_masks(std::span<const std::int64_t> order,
                                         std::int64_t context_features,
                                         std::span<const std::int64_t> hidden,
                                         std::int64_t outputs_per_feature) {
  const Tensor position = torch::tensor(at::ArrayRef<std::int64_t>(order.data(), order.size()));
  const Tensor earlier = position.unsqueeze(1).gt(position.unsqueeze(0)).to(torch::kDouble);
  const Tensor context = torch::ones({position.size(0), context_features}, torch::kDouble);
  const auto [classes, class_of_feature, counts] =
      at::unique_dim(torch::cat({earlier, context}, 1), 0, true, true);
  const Tensor includes =
      classes.mm(classes.t()).eq(classes.sum(1).unsqueeze(0)).to(torch::kDouble);
  std::vector<Tensor> masks;
  Tensor sees = classes;  // [classes, units of the layer before]
  for (const std::int64_t units : hidden) {
    const Tensor reachable = sees.sum(1).nonzero().squeeze(1);
    const Tensor unit_class =
        reachable.index_select(0, torch::arange(units).remainder(reachable.size(0)));
    masks.push_back(sees.index_select(0, unit_class));
    sees = includes.index_select(1, unit_class);
  }
  masks.push_back(sees.index_select(0, class_of_feature.repeat_interleave(outputs_per_feature)));
  return masks;
}

}  // namespace jeffreys::twin
