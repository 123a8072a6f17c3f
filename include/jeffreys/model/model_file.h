// A model on disk: the safetensors layout (a JSON header, then raw tensors), with format version,
// architecture and the user's metadata in the header. Any reader of safetensors sees the tensors
// under the names of the parameter layout.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <variant>

#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/spline_flow.h"

namespace jeffreys {

inline constexpr int kModelFormatVersion = 1;

using ModelMetadata = std::map<std::string, std::string>;

// The file is replaced atomically: a reader, also after a crash, sees the old model or the new one.
// Metadata keys that begin with "jeffreys." are the format's own: std::invalid_argument.
template <typename T>
void save_model(const SplineFlow<T>& model, const std::filesystem::path& path,
                const ModelMetadata& metadata = {});
template <typename T>
void save_model(const ResidualEnergy<T>& model, const std::filesystem::path& path,
                const ModelMetadata& metadata = {});
template <typename T>
void save_model(const FilmEnergy<T>& model, const std::filesystem::path& path,
                const ModelMetadata& metadata = {});

template <typename T>
struct LoadedModel {
  std::variant<SplineFlow<T>, ResidualEnergy<T>, FilmEnergy<T>> model;
  ModelMetadata metadata;
};

// Reads any model; float and double files load as either. Every length, shape and dtype is checked
// before it is used. Throws InputError for anything that save_model did not write.
template <typename T>
LoadedModel<T> load_model(const std::filesystem::path& path);

// Reads a flow; InputError if the file holds another architecture.
template <typename T>
SplineFlow<T> load_flow(const std::filesystem::path& path);

}  // namespace jeffreys
