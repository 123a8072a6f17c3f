// Energy models with the weights of a golden file.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "jeffreys/model/energy_model.h"
#include "support/golden.h"

namespace jeffreys::testing {

template <typename T>
std::vector<T> read_layout(const Golden& golden, const ParameterLayout& layout,
                           const std::string& prefix) {
  std::vector<T> flat(layout.size());
  for (const ParameterBlock& block : layout.blocks()) {
    const std::vector<T> values = golden.values<T>(prefix + block.name);
    if (values.size() != block.size) throw std::runtime_error("golden size of " + block.name);
    std::copy(values.begin(), values.end(),
              flat.begin() + static_cast<std::ptrdiff_t>(block.offset));
  }
  return flat;
}

template <typename T>
void load_energy(const Golden& golden, EnergyModel<T>& model) {
  const std::vector<T> weights = read_layout<T>(golden, model.layout(), "param.");
  model.edit_parameters([&](std::span<T> parameters) {
    std::copy(weights.begin(), weights.end(), parameters.begin());
  });
  model.set_state(read_layout<T>(golden, model.state_layout(), "param."));
}

}  // namespace jeffreys::testing
