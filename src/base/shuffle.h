// A random order that is the same on every machine, for batches and folds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/random.h"

namespace jeffreys {

// Brings the elements into an order that depends on the key and on their number alone (Fisher and
// Yates).
template <typename Element>
void shuffle(std::vector<Element>& elements, const kernels::RandomKey& key) {
  std::vector<double> uniforms(elements.size());
  kernels::fill_uniforms(
      kernels::RandomArguments<double>{key, 0, uniforms.size(), 1, uniforms.data()});
  for (std::size_t i = elements.size(); i > 1; --i) {
    const auto other = static_cast<std::size_t>(uniforms[i - 1] * static_cast<double>(i));
    std::swap(elements[i - 1], elements[std::min(other, i - 1)]);
  }
}

}  // namespace jeffreys
