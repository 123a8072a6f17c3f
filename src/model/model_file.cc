#include "jeffreys/model/model_file.h"

#include <fmt/format.h>

#include <stdexcept>

#include "jeffreys/base/input_error.h"
#include "jeffreys/model/model_kind.h"
#include "jeffreys/storage/safetensors.h"
#include "model/model_reader.h"

namespace jeffreys {
namespace {

using storage::Array;
using storage::TensorFile;

template <typename T>
void put(TensorFile& file, const std::string& prefix, const ParameterLayout& layout,
         std::span<const T> values) {
  for (const ParameterBlock& block : layout.blocks()) {
    file.tensors[prefix + block.name] =
        Array::from<T>(block.shape, values.subspan(block.offset, block.size));
  }
}

void check_metadata(const ModelMetadata& metadata) {
  for (const auto& [key, value] : metadata) {
    if (key.starts_with(kReserved)) {
      throw std::invalid_argument(fmt::format(
          "metadata: keys that begin with '{}' are the format's own, got '{}'", kReserved, key));
    }
  }
}

TensorFile header(const Json& architecture, const ModelMetadata& metadata) {
  check_metadata(metadata);
  TensorFile file;
  file.metadata = metadata;
  file.metadata[kVersionKey] = std::to_string(kModelFormatVersion);
  file.metadata[kArchitectureKey] = architecture.dump();
  return file;
}

template <typename T>
void put(TensorFile& file, const std::string& prefix, const UnnormalizedDensity<T>& model) {
  put<T>(file, prefix, model.layout(), model.parameters());
  put<T>(file, prefix, model.state_layout(), model.state());
}

template <typename T>
AnyModel<T> read_any(ModelReader& reader) {
  const ModelKind<T> kind = find_model_kind<T>(reader.model());
  reader.expect_parameters(kind.least_parameters(reader.architecture()));
  std::unique_ptr<UnnormalizedDensity<T>> model = kind.make(reader.architecture());
  if (model == nullptr) reader.fail(fmt::format("no model is made for '{}'", kind.name));
  const std::vector<T> values = reader.read<T>(model->layout());
  model->edit_parameters([&](std::span<T> parameters) {
    std::copy(values.begin(), values.end(), parameters.begin());
  });
  model->set_state(reader.read<T>(model->state_layout()));
  return AnyModel<T>(std::move(model));
}

}  // namespace

template <typename T>
void save_model(const UnnormalizedDensity<T>& model, const std::filesystem::path& path,
                const ModelMetadata& metadata) {
  TensorFile file = header(Json::parse(model.architecture()), metadata);
  put(file, "", model);
  storage::write_safetensors(path, file);
}

template <typename T>
LoadedModel<T> load_model(const std::filesystem::path& path) {
  ModelReader reader(path);
  if (reader.is_archive()) reader.fail("holds several models, expected one");
  try {
    AnyModel<T> model = read_any<T>(reader);
    reader.expect_nothing_left();
    return {std::move(model), reader.metadata()};
  } catch (const std::invalid_argument& error) {
    reader.fail(error.what());
  }
}

template <typename T>
void save_archive(const ModelArchive<T>& archive, const std::filesystem::path& path) {
  Json models = Json::object();
  for (const auto& [name, model] : archive.models) {
    models[name] = Json::parse(model->architecture());
  }
  TensorFile file = header({{kModels, models}}, archive.metadata);
  for (const auto& [name, model] : archive.models) {
    put(file, model_prefix(name), *model);
  }
  for (const auto& [name, array] : archive.arrays) {
    file.tensors[std::string(kArrayPrefix) + name] = array;
  }
  storage::write_safetensors(path, file);
}

template <typename T>
ModelArchive<T> load_archive(const std::filesystem::path& path) {
  ModelReader reader(path);
  try {
    ModelArchive<T> archive;
    if (reader.is_archive()) {
      archive.arrays = reader.take_arrays();
      const Json models = reader.models();
      for (const auto& [name, architecture] : models.items()) {
        reader.enter(name, architecture);
        archive.models.emplace(name, read_any<T>(reader));
      }
    } else {
      archive.models.emplace("main", read_any<T>(reader));
    }
    reader.expect_nothing_left();
    archive.metadata = reader.metadata();
    return archive;
  } catch (const std::invalid_argument& error) {
    reader.fail(error.what());
  }
}

template <typename T>
SplineFlow<T> load_flow(const std::filesystem::path& path) {
  LoadedModel<T> loaded = load_model<T>(path);
  if (auto* flow = dynamic_cast<SplineFlow<T>*>(&*loaded.model)) return std::move(*flow);
  throw InputError(path.string(), fmt::format("holds another model, expected a spline flow: {}",
                                              describe_model(*loaded.model)));
}

#define JEFFREYS_INSTANTIATE(T)                                                         \
  template void save_model(const UnnormalizedDensity<T>&, const std::filesystem::path&, \
                           const ModelMetadata&);                                       \
  template LoadedModel<T> load_model(const std::filesystem::path&);                     \
  template void save_archive(const ModelArchive<T>&, const std::filesystem::path&);     \
  template ModelArchive<T> load_archive(const std::filesystem::path&);                  \
  template SplineFlow<T> load_flow(const std::filesystem::path&);

JEFFREYS_INSTANTIATE(float)
JEFFREYS_INSTANTIATE(double)

#undef JEFFREYS_INSTANTIATE

}  // namespace jeffreys
