// A model's parameters are one flat buffer; the layout names its parts. Gradients and optimizer
// moments are buffers of the same layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jeffreys {

struct ParameterBlock {
  std::string name;
  std::vector<std::int64_t> shape;  // row-major; empty for one number
  std::size_t offset = 0;
  std::size_t size = 0;
};

class ParameterLayout {
 public:
  // Appends a block and returns its offset.
  std::size_t add(std::string name, std::vector<std::int64_t> shape);

  [[nodiscard]] const std::vector<ParameterBlock>& blocks() const { return blocks_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // Throws std::invalid_argument if there is no such block.
  [[nodiscard]] const ParameterBlock& find(std::string_view name) const;

 private:
  std::vector<ParameterBlock> blocks_;
  std::size_t size_ = 0;
};

}  // namespace jeffreys
