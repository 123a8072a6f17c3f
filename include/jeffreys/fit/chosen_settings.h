// The settings that a user chose for a fit. Where several say something about the same key, the
// later of these wins: the defaults for the size of the table, a preset, then settings from files
// and single ones in the order in which they were added.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/fit/fit_options.h"

namespace jeffreys {

// Gives the defaults for a number of training rows, of features, of context features, and a proxy.
using DefaultOptions =
    std::function<FitOptions(std::size_t, std::size_t, std::size_t, const ModelChoice&)>;

class ChosenSettings {
 public:
  // Throws std::invalid_argument for an unknown name. A preset that was chosen here wins over one
  // that a file names later.
  void choose_preset(const std::string& name);

  // A TOML file: tables become prefixes, [learning_rate] main = 1e-3 is learning_rate.main, and
  // `preset` names a preset. Throws InputError with line and column.
  void add_file(const std::filesystem::path& path);

  // A setting by its key. `origin` is what messages call it: "--set", or an argument's name.
  void add(const std::string& key, const std::string& value, const std::string& origin);
  // The same from a text KEY=VALUE. Throws std::invalid_argument if the text has another form.
  void add_text(const std::string& text, const std::string& origin);

  [[nodiscard]] bool has(std::string_view key) const;

  // Throws for a setting that is unknown or has a value of the wrong form: InputError if it came
  // from a file, else std::invalid_argument whose text begins with the origin.
  void apply_to(FitOptions& options) const;

  // The defaults of a fit with these settings: those for the chosen proxy. If the settings name a
  // proxy, the default method is the dual one, because the other methods would not use the proxy.
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
