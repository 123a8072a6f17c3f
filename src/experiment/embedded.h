// The files of experiments/, compiled in: the program finds them wherever it is installed.
#pragma once

#include <span>
#include <string_view>

namespace jeffreys::experiment {

struct EmbeddedFile {
  std::string_view name;  // without .toml
  std::string_view text;
};

// In the order of the paper.
[[nodiscard]] std::span<const EmbeddedFile> embedded_experiments();

}  // namespace jeffreys::experiment
