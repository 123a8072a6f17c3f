#include "jeffreys/model/model_file.h"

#include <fmt/format.h>

#include <stdexcept>

#include "jeffreys/input_error.h"
#include "jeffreys/storage/safetensors.h"
#include "model/model_reader.h"

namespace jeffreys {
namespace {

using storage::Array;
using storage::TensorFile;

constexpr const char* kSplineFlow = "spline_flow";
constexpr const char* kResidualEnergy = "residual_energy";
constexpr const char* kFilmEnergy = "film_energy";

Json to_json(const SplineFlowOptions& o) {
  return {{"model", kSplineFlow},
          {"features", o.features},
          {"context_features", o.context_features},
          {"transforms", o.transforms},
          {"bins", o.bins},
          {"hidden", o.hidden},
          {"orders", o.orders}};
}

Json to_json(const ResidualEnergyOptions& o) {
  return {{"model", kResidualEnergy}, {"features", o.features}, {"hidden", o.hidden},
          {"blocks", o.blocks},       {"confined", o.confined}, {"temperature", o.temperature}};
}

Json to_json(const FilmEnergyOptions& o) {
  return {
      {"model", kFilmEnergy}, {"features", o.features}, {"context_features", o.context_features},
      {"hidden", o.hidden},   {"blocks", o.blocks},     {"film_layers", o.film_layers},
      {"bounded", o.bounded}, {"confined", o.confined}, {"temperature", o.temperature}};
}

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
void put(TensorFile& file, const std::string& prefix, const SplineFlow<T>& model) {
  put<T>(file, prefix, model.layout(), model.parameters());
}

template <typename T>
void put(TensorFile& file, const std::string& prefix, const EnergyModel<T>& model) {
  put<T>(file, prefix, model.layout(), model.parameters());
  put<T>(file, prefix, model.spectral_layout(), model.spectral_vectors());
}

template <typename Model>
void save_one(const Model& model, const std::filesystem::path& path,
              const ModelMetadata& metadata) {
  TensorFile file = header(to_json(model.options()), metadata);
  put(file, "", model);
  storage::write_safetensors(path, file);
}

template <typename T>
void take_parameters(ModelReader& reader, UnnormalizedDensity<T>& model) {
  const std::vector<T> values = reader.read<T>(model.layout());
  model.edit_parameters([&](std::span<T> parameters) {
    std::copy(values.begin(), values.end(), parameters.begin());
  });
}

template <typename T>
SplineFlow<T> read_flow(ModelReader& reader) {
  SplineFlowOptions o{.features = reader.integer("features"),
                      .context_features = reader.integer("context_features"),
                      .transforms = reader.integer("transforms"),
                      .bins = reader.integer("bins")};
  const std::vector<std::int64_t> hidden = reader.integers("hidden");
  o.hidden.assign(hidden.begin(), hidden.end());
  o.orders = reader.integer_lists("orders");
  o.validate();
  // Lower bound of the parameters of each transform; every term is checked to be below 2^20 before.
  const double outputs = static_cast<double>(o.features) * (3.0 * static_cast<double>(o.bins) - 1);
  double claimed = outputs;
  auto inputs =
      static_cast<double>(o.features > 1 ? o.features + o.context_features : o.context_features);
  if (inputs > 0) {
    for (const Eigen::Index width : o.hidden) {
      claimed += inputs * static_cast<double>(width);
      inputs = static_cast<double>(width);
    }
    claimed += inputs * outputs;
  }
  reader.expect_parameters(claimed * static_cast<double>(o.transforms));
  SplineFlow<T> flow(o);
  take_parameters<T>(reader, flow);
  return flow;
}

template <typename T, typename Energy>
void take_energy(ModelReader& reader, Energy& model) {
  take_parameters<T>(reader, model);
  model.set_spectral_vectors(reader.read<T>(model.spectral_layout()));
}

template <typename T>
ResidualEnergy<T> read_residual(ModelReader& reader) {
  const ResidualEnergyOptions o{.features = reader.integer("features"),
                                .hidden = reader.integer("hidden"),
                                .blocks = reader.integer("blocks"),
                                .confined = reader.flag("confined"),
                                .temperature = reader.number("temperature")};
  o.validate();
  const auto hidden = static_cast<double>(o.hidden);
  reader.expect_parameters(
      hidden * (static_cast<double>(o.features) + 2 * hidden * static_cast<double>(o.blocks)));
  ResidualEnergy<T> model(o);
  take_energy<T>(reader, model);
  return model;
}

template <typename T>
FilmEnergy<T> read_film(ModelReader& reader) {
  const FilmEnergyOptions o{.features = reader.integer("features"),
                            .context_features = reader.integer("context_features"),
                            .hidden = reader.integer("hidden"),
                            .blocks = reader.integer("blocks"),
                            .film_layers = reader.integer("film_layers"),
                            .bounded = reader.flag("bounded"),
                            .confined = reader.flag("confined"),
                            .temperature = reader.number("temperature")};
  o.validate();
  const auto hidden = static_cast<double>(o.hidden);
  reader.expect_parameters(
      hidden * (static_cast<double>(o.features) + 2 * hidden * static_cast<double>(o.blocks)));
  FilmEnergy<T> model(o);
  take_energy<T>(reader, model);
  return model;
}

template <typename T>
AnyModel<T> read_any(ModelReader& reader) {
  const std::string name = reader.model();
  if (name == kSplineFlow) return read_flow<T>(reader);
  if (name == kResidualEnergy) return read_residual<T>(reader);
  if (name == kFilmEnergy) return read_film<T>(reader);
  reader.fail(fmt::format("unknown model '{}': expected {}, {} or {}", name, kSplineFlow,
                          kResidualEnergy, kFilmEnergy));
}

}  // namespace

template <typename T>
void save_model(const SplineFlow<T>& model, const std::filesystem::path& path,
                const ModelMetadata& metadata) {
  save_one(model, path, metadata);
}

template <typename T>
void save_model(const ResidualEnergy<T>& model, const std::filesystem::path& path,
                const ModelMetadata& metadata) {
  save_one(model, path, metadata);
}

template <typename T>
void save_model(const FilmEnergy<T>& model, const std::filesystem::path& path,
                const ModelMetadata& metadata) {
  save_one(model, path, metadata);
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
    models[name] = std::visit([](const auto& m) { return to_json(m.options()); }, model);
  }
  TensorFile file = header({{kModels, models}}, archive.metadata);
  for (const auto& [name, model] : archive.models) {
    std::visit([&](const auto& m) { put(file, model_prefix(name), m); }, model);
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
  if (auto* flow = std::get_if<SplineFlow<T>>(&loaded.model)) return std::move(*flow);
  throw InputError(path.string(), "holds an energy model, expected a spline flow");
}

#define JEFFREYS_INSTANTIATE(T)                                                     \
  template void save_model(const SplineFlow<T>&, const std::filesystem::path&,      \
                           const ModelMetadata&);                                   \
  template void save_model(const ResidualEnergy<T>&, const std::filesystem::path&,  \
                           const ModelMetadata&);                                   \
  template void save_model(const FilmEnergy<T>&, const std::filesystem::path&,      \
                           const ModelMetadata&);                                   \
  template LoadedModel<T> load_model(const std::filesystem::path&);                 \
  template void save_archive(const ModelArchive<T>&, const std::filesystem::path&); \
  template ModelArchive<T> load_archive(const std::filesystem::path&);              \
  template SplineFlow<T> load_flow(const std::filesystem::path&);

JEFFREYS_INSTANTIATE(float)
JEFFREYS_INSTANTIATE(double)

#undef JEFFREYS_INSTANTIATE

}  // namespace jeffreys
