// From the options of a model to the architecture in its file and back. Options have a visitor,
// visit_architecture, that names the fields once for both directions.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace jeffreys {

template <typename Options>
std::string write_architecture(const Options& options) {
  nlohmann::json json{{"model", Options::kModelName}};
  Options::visit_architecture(
      options, [&](const char* name, const auto& value, auto...) { json[name] = value; });
  return json.dump();
}

namespace architecture {

[[noreturn]] inline void refuse(const char* name, const char* expected) {
  throw std::invalid_argument(fmt::format("architecture field '{}': expected {}", name, expected));
}

inline void read(const char* name, const nlohmann::json& json, bool& value) {
  if (!json.is_boolean()) refuse(name, "true or false");
  value = json.get<bool>();
}

inline void read(const char* name, const nlohmann::json& json, double& value) {
  if (!json.is_number()) refuse(name, "a number");
  value = json.get<double>();
}

template <typename Integer>
  requires std::is_integral_v<Integer>
void read(const char* name, const nlohmann::json& json, Integer& value) {
  if (!json.is_number_integer() || (json.is_number_unsigned() && json.get<std::uint64_t>() >> 62)) {
    refuse(name, "integers");
  }
  value = json.get<Integer>();
}

template <typename Item>
void read(const char* name, const nlohmann::json& json, std::vector<Item>& value) {
  if (!json.is_array()) refuse(name, "a list");
  value.clear();
  for (const nlohmann::json& item : json) read(name, item, value.emplace_back());
}

}  // namespace architecture

// Throws std::invalid_argument naming the field.
template <typename Options>
Options read_architecture(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) throw std::invalid_argument("the architecture is not a JSON object");
  Options options;
  std::size_t known = json.contains("model") ? 1 : 0;
  Options::visit_architecture(options, [&](const char* name, auto& value, auto... optional) {
    const auto found = json.find(name);
    if (found != json.end()) {
      architecture::read(name, *found, value);
      ++known;
    } else if (sizeof...(optional) == 0) {
      throw std::invalid_argument(fmt::format("architecture field '{}' is missing", name));
    }
  });
  if (known != json.size()) {
    throw std::invalid_argument(
        "the architecture has fields that this program does not know: it was written by a newer "
        "one");
  }
  options.validate();
  return options;
}

}  // namespace jeffreys
