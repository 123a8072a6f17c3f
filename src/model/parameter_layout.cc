#include "jeffreys/model/parameter_layout.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace jeffreys {

std::size_t ParameterLayout::add(std::string name, std::vector<std::int64_t> shape) {
  std::size_t size = 1;
  for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
  const std::size_t offset = size_;
  blocks_.push_back({std::move(name), std::move(shape), offset, size});
  size_ += size;
  return offset;
}

const ParameterBlock& ParameterLayout::find(std::string_view name) const {
  const auto block = std::find_if(blocks_.begin(), blocks_.end(),
                                  [&](const ParameterBlock& b) { return b.name == name; });
  if (block == blocks_.end()) {
    throw std::invalid_argument("ParameterLayout: no parameter block named '" + std::string(name) +
                                "'");
  }
  return *block;
}

}  // namespace jeffreys
