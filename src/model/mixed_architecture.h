// Architectures of models that hold another model: its architecture is one of their fields.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "jeffreys/model/density_mixture.h"
#include "jeffreys/model/mixed_density.h"
#include "jeffreys/model/model_kind.h"
#include "model/architecture.h"

namespace jeffreys {

template <typename Options>
std::string write_nested_architecture(const Options& options, const char* field,
                                      const std::string& inner) {
  nlohmann::json json = nlohmann::json::parse(write_architecture(options));
  json[field] = nlohmann::json::parse(inner);
  return json.dump();
}

template <typename Options>
struct NestedArchitecture {
  Options options;
  nlohmann::json inner;
};

template <typename Options>
NestedArchitecture<Options> read_nested_architecture(const std::string& text, const char* field) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) throw std::invalid_argument("the architecture is not a JSON object");
  if (!json.contains(field)) {
    throw std::invalid_argument(fmt::format("architecture field '{}' is missing", field));
  }
  nlohmann::json inner = json.at(field);
  json.erase(field);
  return {read_architecture<Options>(json.dump()), std::move(inner)};
}

// A damaged file could nest models without end: a mixture holds none of its kind, and a mixed model
// neither a mixture nor another mixed model, since one-hot codes inside one-hot codes have no use.
inline std::string model_name(const char* field, const nlohmann::json& architecture) {
  if (!architecture.is_object() || !architecture.contains("model") ||
      !architecture.at("model").is_string()) {
    architecture::refuse(field, "the architecture of a model");
  }
  return architecture.at("model").get<std::string>();
}
inline void refuse_mixture(const char* field, const nlohmann::json& architecture) {
  if (model_name(field, architecture) == DensityMixtureOptions::kModelName) {
    throw std::invalid_argument(
        fmt::format("{}: expected a model that is not made of others, got a mixture", field));
  }
}
inline void refuse_mixed(const char* field, const nlohmann::json& architecture) {
  refuse_mixture(field, architecture);
  const std::string name = model_name(field, architecture);
  if (name == MixedDensityOptions::kModelName || name == MixedEnergyOptions::kModelName) {
    throw std::invalid_argument(
        fmt::format("{}: expected a model that is not mixed itself, got '{}'", field, name));
  }
}

template <typename T>
ModelKind<T> inner_kind(const char* field, const nlohmann::json& inner) {
  refuse_mixed(field, inner);
  return find_model_kind<T>(model_name(field, inner));
}

template <typename T>
ModelKind<T> mixed_density_kind();
template <typename T>
ModelKind<T> mixed_energy_kind();
template <typename T>
ModelKind<T> density_mixture_kind();

}  // namespace jeffreys
