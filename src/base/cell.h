#pragma once

#include <string>
#include <string_view>

namespace jeffreys {

enum class CellKind { number, missing, text };

// Becomes infinite for "inf" and for decimals beyond the range of double. `number` is set for
// numbers only.
CellKind read_cell(std::string_view cell, double& number);

// Numbers first, by value; then other text.
struct LabelLess {
  bool operator()(const std::string& a, const std::string& b) const;
};

bool is_utf8(const std::string& text);

}  // namespace jeffreys
