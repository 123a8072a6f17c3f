#include "jeffreys/fit/chosen_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/flat_toml.h"
#include "jeffreys/base/assignment.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys {
namespace {

void check_preset(const std::string& name) {
  FitOptions unused;
  apply_preset(name, unused);
}

}  // namespace

void ChosenSettings::choose_preset(const std::string& name) {
  check_preset(name);
  preset_ = name;
}

void ChosenSettings::add_file(const std::filesystem::path& path) {
  const std::string file = path.string();
  const toml::table parsed = parse_toml(read_toml(path), file);
  for (const auto& [key, node] : flat_nodes(parsed)) {
    const std::string value = toml_text(node, key, file);
    if (key != "preset") {
      settings_.push_back({key, value, file, node.source().begin.line, node.source().begin.column});
    } else if (preset_.empty()) {
      try {
        choose_preset(value);
      } catch (const std::invalid_argument& error) {
        throw toml_error(file, error.what(), node);
      }
    }
  }
}

void ChosenSettings::add(const std::string& key, const std::string& value,
                         const std::string& origin) {
  settings_.push_back({key, value, origin});
}

void ChosenSettings::add_text(const std::string& text, const std::string& origin) {
  const auto [key, value] = split_assignment(text, origin, "KEY=VALUE");
  add(key, value, origin);
}

bool ChosenSettings::has(std::string_view key) const {
  return std::any_of(settings_.begin(), settings_.end(),
                     [&](const Given& setting) { return setting.key == key; });
}

void ChosenSettings::apply_to(FitOptions& options) const {
  if (!preset_.empty()) apply_preset(preset_, options);
  for (const Given& setting : settings_) {
    try {
      change_setting(options, setting.key, setting.value);
    } catch (const std::invalid_argument& error) {
      if (setting.line > 0) {
        throw InputError(setting.origin, error.what(), setting.line, setting.column);
      }
      const std::string problem = error.what();
      const bool named = problem.starts_with(setting.origin + ":");
      throw std::invalid_argument(named ? problem : setting.origin + ": " + problem);
    }
  }
}

FitOptions ChosenSettings::defaults(const DefaultOptions& by_size, std::size_t rows,
                                    std::size_t features, std::size_t context_features) const {
  FitOptions chosen;
  apply_to(chosen);
  FitOptions options = by_size(rows, features, context_features, chosen.proxy);
  options.proxy = FitOptions().proxy;  // so that a record shows another one as chosen
  if (has("proxy")) options.train.method = Method::dual;
  return options;
}

}  // namespace jeffreys
