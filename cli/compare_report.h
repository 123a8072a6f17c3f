// A comparison of methods for people and for programs.
#pragma once

#include <filesystem>
#include <string>

#include "cli/command.h"
#include "jeffreys/fit/compare.h"

namespace jeffreys::cli {

// Plain lines, without a newline at the end.
[[nodiscard]] std::string comparison_text(const Comparison& comparison);
[[nodiscard]] Json comparison_json(const Comparison& comparison);

// comparison.svg, index.html and comparison.md in the folder.
void write_comparison(const Comparison& comparison, const std::filesystem::path& folder);

}  // namespace jeffreys::cli
