// What somebody chose for a fit. Precedence, later wins: the defaults for the size of the table, a
// preset, then settings in the order in which they were added, be it by a file or one by one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/fit/fit_options.h"

namespace jeffreys {

// The defaults for so many training rows, features, context features, and for a proxy.
using DefaultOptions =
    std::function<FitOptions(std::size_t, std::size_t, std::size_t, const ModelChoice&)>;

class ChosenSettings {
 public:
  // Throws std::invalid_argument for an unknown name. The first preset counts: one that is chosen
  // here, and then a file that names another.
  void choose_preset(const std::string& name);

  // A TOML file: tables become prefixes, [learning_rate] main = 1e-3 is learning_rate.main, and
  // `preset` names a preset. Throws InputError with line and column.
  void add_file(const std::filesystem::path& path);

  // A setting by its key. `origin` is what messages call it: "--set", or an argument's name.
  void add(const std::string& key, const std::string& value, const std::string& origin);
  // The same from a text KEY=VALUE; std::invalid_argument where it is none.
  void add_text(const std::string& text, const std::string& origin);

  [[nodiscard]] bool has(std::string_view key) const;

  // Throws InputError for a setting of a file, and std::invalid_argument that begins with the
  // origin for another one, that is unknown or has a value of the wrong form.
  void apply_to(FitOptions& options) const;

  // The defaults of a fit in which these were chosen: those for the chosen proxy, and the dual
  // method where one is named, since somebody who names a proxy wants to use it.
  [[nodiscard]] FitOptions defaults(const DefaultOptions& by_size, std::size_t rows,
                                    std::size_t features, std::size_t context_features) const;

 private:
  struct Given {
    std::string key;
    std::string value;
    std::string origin;  // a file if it has a line
    std::size_t line = 0;
    std::size_t column = 0;
  };

  std::string preset_;
  std::vector<Given> settings_;
};

}  // namespace jeffreys
