// The names of the settings: one list serves files, command lines, help and run records.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "fit/model_choice.h"
#include "jeffreys/fit/fit_options.h"
#include "jeffreys/fit/fit_settings.h"

namespace jeffreys {
namespace {

template <typename V>
std::string write(const V& value) {
  if constexpr (std::is_enum_v<V>) {
    for (const auto& entry : names(V{})) {
      if (entry.value == value) return std::string(entry.name);
    }
    return "?";
  } else if constexpr (std::is_same_v<V, ModelChoice>) {
    return value.name;
  } else if constexpr (std::is_same_v<V, std::optional<double>>) {
    return value ? fmt::format("{}", *value) : "none";
  } else if constexpr (std::is_same_v<V, std::vector<Eigen::Index>>) {
    return fmt::format("{}", fmt::join(value, ","));
  } else {
    return fmt::format("{}", value);
  }
}

[[noreturn]] void refuse(std::string_view expected, std::string_view text) {
  throw std::invalid_argument(fmt::format("expected {}, got '{}'", expected, text));
}

template <typename Number>
Number read_number(std::string_view text, std::string_view expected) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(expected, text);
  return value;
}

template <typename V>
void read(const std::string& text, V& value) {
  if constexpr (std::is_enum_v<V>) {
    std::vector<std::string_view> known;
    for (const auto& entry : names(V{})) {
      if (entry.name == text) {
        value = entry.value;
        return;
      }
      known.push_back(entry.name);
    }
    refuse(fmt::format("{}", fmt::join(known, " or ")), text);
  } else if constexpr (std::is_same_v<V, ModelChoice>) {
    value = {find_model_choice({text}).name};
  } else if constexpr (std::is_same_v<V, std::optional<double>>) {
    value.reset();
    if (text != "none") read(text, value.emplace());
  } else if constexpr (std::is_same_v<V, std::vector<Eigen::Index>>) {
    value.clear();
    std::string_view rest = text;
    while (true) {
      const std::size_t comma = rest.find(',');
      value.push_back(read_number<Eigen::Index>(rest.substr(0, comma), "whole numbers like 64,64"));
      if (comma == std::string_view::npos) return;
      rest.remove_prefix(comma + 1);
    }
  } else if constexpr (std::is_same_v<V, bool>) {
    if (text != "true" && text != "false") refuse("true or false", text);
    value = text == "true";
  } else if constexpr (std::is_floating_point_v<V>) {
    value = read_number<V>(text, "a number");
    if (!std::isfinite(value)) refuse("a finite number", text);
  } else {
    value = read_number<V>(
        text, std::is_unsigned_v<V> ? "a whole number that is not negative" : "a whole number");
  }
}

// Keys that share their beginning or their end with an unknown one.
std::string hint(const std::string& key) {
  std::vector<std::string> close;
  const std::string last = key.substr(key.rfind('.') + 1);
  for (const Setting& setting : list_settings(FitOptions())) {
    if (last.size() > 2 && setting.key.find(last) != std::string::npos)
      close.push_back(setting.key);
  }
  return close.empty() ? "`jeffreys fit --settings` lists all"
                       : fmt::format("did you mean {}?", fmt::join(close, " or "));
}

}  // namespace

std::vector<Setting> list_settings(const FitOptions& options) {
  std::vector<Setting> all;
  visit_fit_options(options,
                    [&](const char* key, const auto& value, const OptionRule&, const char* help) {
                      all.push_back({key, write(value), help});
                    });
  return all;
}

void FitOptions::validate() const {
  visit_fit_options(*this, [](const char* key, const auto& value, const OptionRule& rule,
                              const char*) { check_option(key, value, rule); });
}

void change_setting(FitOptions& options, const std::string& key, const std::string& value) {
  bool found = false;
  visit_fit_options(options, [&](const char* name, auto& target, const OptionRule&, const char*) {
    if (key != name) return;
    found = true;
    try {
      read(value, target);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("{}: {}", key, error.what()));
    }
  });
  if (found) return;
  constexpr std::size_t kShown = 100;
  const std::string shown = key.size() > kShown ? key.substr(0, kShown) + "..." : key;
  throw std::invalid_argument(fmt::format("unknown setting '{}': {}", shown, hint(shown)));
}

}  // namespace jeffreys
