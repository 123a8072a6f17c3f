// A model on disk: the safetensors layout (a JSON header, then raw tensors), with format version,
// architecture and the user's metadata in the header. Any reader of safetensors sees the tensors
// under the names of the parameter layout.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "jeffreys/model/any_model.h"
#include "jeffreys/model/spline_flow.h"
#include "jeffreys/storage/array.h"

namespace jeffreys {

// Files of earlier versions are read too. Those of version 1 lack some fields of architectures,
// which then have their defaults; from version 3 on a checksum is there and is verified. Programs
// refuse versions that they do not know, for they would overlook what is new in them.
inline constexpr int kModelFormatVersion = 3;

using ModelMetadata = std::map<std::string, std::string>;

// The file is replaced atomically: a reader, also after a crash, sees the old model or the new one.
// Metadata keys that begin with "jeffreys." are the format's own: std::invalid_argument.
template <typename T>
void save_model(const UnnormalizedDensity<T>& model, const std::filesystem::path& path,
                const ModelMetadata& metadata = {});

template <typename T>
struct LoadedModel {
  AnyModel<T> model;
  ModelMetadata metadata;
};

// Reads any model; float and double files load as either. Every length, shape and dtype is checked
// before it is used. Throws InputError for anything that save_model did not write.
template <typename T>
LoadedModel<T> load_model(const std::filesystem::path& path);

// Reads a flow; InputError if the file holds another model.
template <typename T>
SplineFlow<T> load_flow(const std::filesystem::path& path);

// Several models in one file, with arrays that belong to them.
template <typename T>
struct ModelArchive {
  std::map<std::string, AnyModel<T>> models;
  ModelMetadata metadata;
  storage::Arrays arrays;
};

template <typename T>
void save_archive(const ModelArchive<T>& archive, const std::filesystem::path& path);

// A file of save_model is an archive of one model, called "main".
template <typename T>
ModelArchive<T> load_archive(const std::filesystem::path& path);

}  // namespace jeffreys
