#include "jeffreys/model/model_kind.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/gaussian_mixture.h"
#include "jeffreys/model/spline_flow.h"
#include "model/architecture.h"
#include "model/mixed_architecture.h"

namespace jeffreys {
namespace {

template <typename T, typename Model>
ModelKind<T> kind_of() {
  using Options = typename Model::Options;
  return {.name = Options::kModelName,
          .least_parameters =
              [](const std::string& architecture) {
                return read_architecture<Options>(architecture).least_parameters();
              },
          .make = [](const std::string& architecture) -> std::unique_ptr<UnnormalizedDensity<T>> {
            return std::make_unique<Model>(read_architecture<Options>(architecture));
          }};
}

template <typename T>
struct Kinds {
  std::mutex mutex;
  std::vector<ModelKind<T>> all = {kind_of<T, SplineFlow<T>>(), kind_of<T, ResidualEnergy<T>>(),
                                   kind_of<T, FilmEnergy<T>>(), kind_of<T, GaussianMixture<T>>(),
                                   mixed_density_kind<T>(),     mixed_energy_kind<T>(),
                                   density_mixture_kind<T>()};

  auto find(const std::string& name) {
    return std::find_if(all.begin(), all.end(),
                        [&](const ModelKind<T>& kind) { return kind.name == name; });
  }
};

template <typename T>
Kinds<T>& kinds() {
  static Kinds<T> kinds;
  return kinds;
}

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string in_words(const nlohmann::json& architecture);

// Equal ones are counted.
std::string list_in_words(const nlohmann::json& architectures) {
  std::vector<std::pair<std::string, int>> counted;
  for (const nlohmann::json& one : architectures) {
    const std::string text = in_words(one);
    const auto known = std::find_if(counted.begin(), counted.end(),
                                    [&](const auto& entry) { return entry.first == text; });
    if (known == counted.end()) {
      counted.emplace_back(text, 1);
    } else {
      ++known->second;
    }
  }
  std::vector<std::string> parts;
  for (const auto& [text, count] : counted) parts.push_back(fmt::format("{} ({})", count, text));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string in_words(const std::string& name, const nlohmann::json& value) {
  const bool models = value.is_array() && !value.empty() && value.front().is_object();
  if (models) return fmt::format("{}: {}", spaced(name), list_in_words(value));
  if (value.is_null()) return fmt::format("no {}", spaced(name));
  if (value.is_object()) return fmt::format("{} ({})", spaced(name), in_words(value));
  if (value.is_boolean()) return fmt::format("{}{}", value.get<bool>() ? "" : "not ", spaced(name));
  const auto is_number = [](const nlohmann::json& item) { return item.is_number(); };
  if (value.is_array() && std::all_of(value.begin(), value.end(), is_number)) {
    return fmt::format("{} {}", spaced(name), fmt::join(value.get<std::vector<double>>(), "x"));
  }
  return fmt::format("{} {}", spaced(name), value.dump());
}

// Features first. Lists of lists (the orders of features) are left out.
std::string in_words(const nlohmann::json& architecture) {
  const std::vector<std::string> first = {"features", "context_features"};
  std::string text = spaced(architecture.value("model", "model"));
  for (const std::string& name : first) {
    if (architecture.contains(name)) text += ", " + in_words(name, architecture.at(name));
  }
  for (const auto& [name, value] : architecture.items()) {
    const bool nested = value.is_array() && !value.empty() && value.front().is_array();
    const bool shown =
        name == "model" || std::find(first.begin(), first.end(), name) != first.end();
    if (!nested && !shown) text += ", " + in_words(name, value);
  }
  return text;
}

}  // namespace

template <typename T>
void register_model_kind(ModelKind<T> kind) {
  Kinds<T>& known = kinds<T>();
  const std::lock_guard lock(known.mutex);
  if (known.find(kind.name) != known.all.end()) {
    throw std::invalid_argument(fmt::format("model kind '{}': the name is taken", kind.name));
  }
  known.all.push_back(std::move(kind));
}

template <typename T>
ModelKind<T> find_model_kind(const std::string& name) {
  Kinds<T>& known = kinds<T>();
  const std::lock_guard lock(known.mutex);
  if (const auto found = known.find(name); found != known.all.end()) return *found;
  std::vector<std::string> names;
  for (const ModelKind<T>& kind : known.all) names.push_back(kind.name);
  throw std::invalid_argument(
      fmt::format("unknown model '{}': expected {}", name, fmt::join(names, " or ")));
}

template <typename T>
std::string describe_model(const UnnormalizedDensity<T>& model) {
  return fmt::format("{}, {} parameters", in_words(nlohmann::json::parse(model.architecture())),
                     model.layout().size());
}

template std::string describe_model(const UnnormalizedDensity<float>&);
template std::string describe_model(const UnnormalizedDensity<double>&);
template void register_model_kind(ModelKind<float>);
template void register_model_kind(ModelKind<double>);
template ModelKind<float> find_model_kind(const std::string&);
template ModelKind<double> find_model_kind(const std::string&);

}  // namespace jeffreys
