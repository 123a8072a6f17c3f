// What `evaluate --synthetic` says about a synthetic table.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/command.h"
#include "jeffreys/fit/synthetic_check.h"

namespace jeffreys::cli {

// Lines of copied rows are those of the files.
[[nodiscard]] std::vector<std::string> synthetic_lines(const SyntheticCheck& check,
                                                       const Table& synthetic,
                                                       const Table& training);
[[nodiscard]] Json synthetic_json(const SyntheticCheck& check, const Table& synthetic,
                                  const Table& training);

// Column shapes, pairs, and distances to the closest training row.
void draw_synthetic(const SyntheticCheck& check, const std::filesystem::path& path);

}  // namespace jeffreys::cli
