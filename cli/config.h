// Settings from a TOML file and from --set, as keys and values in order.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "jeffreys/tabular/fit_options.h"

namespace jeffreys::cli {

struct GivenSetting {
  std::string key;
  std::string value;
  std::string origin;  // for messages: the file, or "--set"
  std::size_t line = 0;
  std::size_t column = 0;
};

// Tables become prefixes: [learning_rate] main = 1e-3 is learning_rate.main. Throws InputError with
// line and column.
std::vector<GivenSetting> read_config(const std::filesystem::path& path);

// KEY=VALUE
GivenSetting parse_set(const std::string& text);

// Throws InputError for a setting of a file and UsageError for one of the command line that is
// unknown or has a value of the wrong form.
void apply(const std::vector<GivenSetting>& given, FitOptions& options);

}  // namespace jeffreys::cli
