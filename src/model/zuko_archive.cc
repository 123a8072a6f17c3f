#include "jeffreys/model/zuko_archive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "jeffreys/base/input_error.h"
#include "jeffreys/model/density_mixture.h"
#include "jeffreys/model/model_kind.h"
#include "jeffreys/storage/npz.h"

namespace jeffreys {
namespace {

using storage::Array;
using storage::Arrays;

constexpr std::string_view kPrefix = "param.";

// The archive's state dict, with errors that name the file.
class StateDict {
 public:
  explicit StateDict(const std::filesystem::path& path) : path_(path.string()) {
    Arrays arrays = storage::read_npz(path);
    const bool prefixed = std::any_of(arrays.begin(), arrays.end(), [](const auto& entry) {
      return entry.first.starts_with(kPrefix);
    });
    for (auto& [name, array] : arrays) {
      if (!prefixed) {
        arrays_[name] = std::move(array);
      } else if (name.starts_with(kPrefix)) {
        arrays_[name.substr(kPrefix.size())] = std::move(array);
      }
    }
  }

  [[nodiscard]] bool has(const std::string& name) const { return arrays_.contains(name); }

  [[nodiscard]] const Array& at(const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) {
      fail(fmt::format("no array '{}': expected the state dict of a zuko.flows.NSF", name));
    }
    return found->second;
  }

  [[nodiscard]] std::int64_t extent(const std::string& name, std::size_t rank,
                                    std::size_t dimension) const {
    const Array& array = at(name);
    if (array.shape.size() != rank) {
      fail(fmt::format("array '{}': expected {} dimensions, got {}", name, rank,
                       array.shape.size()));
    }
    return array.shape[dimension];
  }

  [[noreturn]] void fail(const std::string& problem) const { throw InputError(path_, problem); }

  [[nodiscard]] const Arrays& arrays() const { return arrays_; }

 private:
  std::string path_;
  Arrays arrays_;
};

std::string transform_name(Eigen::Index t) { return fmt::format("transform.transforms.{}", t); }

Eigen::Index count_transforms(const StateDict& state) {
  Eigen::Index count = 0;
  while (state.has(transform_name(count) + ".hyper.0.weight") ||
         state.has(transform_name(count) + ".phi.0")) {
    ++count;
  }
  if (count == 0) {
    state.fail(
        "no array 'transform.transforms.0.hyper.0.weight' or 'transform.transforms.0.phi.0': "
        "expected the state dict of a zuko.flows.NSF");
  }
  return count;
}

Eigen::Index bins_of(const StateDict& state, std::int64_t outputs, std::int64_t features) {
  const std::int64_t parameters = features > 0 ? outputs / features : 0;
  if (parameters < 2 || parameters * features != outputs || (parameters + 1) % 3 != 0) {
    state.fail(
        fmt::format("the last layer has {} outputs for {} features: expected (3 bins - 1) for "
                    "each feature, as in a zuko.flows.NSF",
                    outputs, features));
  }
  return (parameters + 1) / 3;
}

// Sizes of the first transform's network give the options; later transforms must agree, which their
// shapes will show.
SplineFlowOptions read_options(const StateDict& state) {
  SplineFlowOptions options;
  options.transforms = count_transforms(state);
  const std::string first = transform_name(0);
  options.hidden.clear();
  if (state.has(first + ".phi.0")) {
    options.features = state.extent(first + ".phi.0", 2, 0);
    options.bins = state.extent(first + ".phi.0", 2, 1);
    if (options.features != 1)
      state.fail("element-wise flows of several features are not supported");
    return options;
  }
  const bool masked = state.has(first + ".order");
  options.features = masked ? state.extent(first + ".order", 1, 0) : 1;
  const std::int64_t inputs = state.extent(first + ".hyper.0.weight", 2, 1);
  options.context_features = masked ? inputs - options.features : inputs;
  std::int64_t outputs = 0;
  for (int l = 0; state.has(fmt::format("{}.hyper.{}.weight", first, 2 * l)); ++l) {
    if (l > 0) options.hidden.push_back(outputs);
    outputs = state.extent(fmt::format("{}.hyper.{}.weight", first, 2 * l), 2, 0);
  }
  options.bins = bins_of(state, outputs, options.features);
  for (Eigen::Index t = 0; masked && t < options.transforms; ++t) {
    options.orders.push_back(state.at(transform_name(t) + ".order").values<std::int64_t>());
  }
  return options;
}

template <typename T>
void check_base(const StateDict& state) {
  const auto all = [&](const std::string& name, T expected) {
    if (!state.has(name)) return;
    const std::vector<T> values = state.at(name).values<T>();
    if (std::any_of(values.begin(), values.end(), [&](T v) { return v != expected; })) {
      state.fail(
          fmt::format("array '{}': expected {} everywhere; other base distributions are not "
                      "supported",
                      name, expected));
    }
  };
  all("base.loc", T(0));
  all("base._0", T(0));
  all("base.scale", T(1));
  all("base._1", T(1));
}

std::string mask_name(const std::string& weight_name) {
  return weight_name.substr(0, weight_name.size() - std::string_view("weight").size()) + "mask";
}

template <typename T>
void check_masks(const StateDict& state, const SplineFlow<T>& flow) {
  for (const ParameterBlock& block : flow.layout().blocks()) {
    const std::vector<std::uint8_t> mask = flow.mask(block);
    if (mask.empty() || !state.has(mask_name(block.name))) continue;
    std::vector<std::uint8_t> given =
        state.at(mask_name(block.name)).template values<std::uint8_t>();
    for (std::uint8_t& value : given) value = value != 0 ? 1 : 0;
    if (given != mask) {
      state.fail(
          fmt::format("array '{}' is not the mask of a fully autoregressive zuko.flows.NSF "
                      "(flows with 'passes' or 'adjacency' are not supported)",
                      mask_name(block.name)));
    }
  }
}

}  // namespace

template <typename T>
SplineFlow<T> import_zuko(const std::filesystem::path& path) {
  const StateDict state(path);
  try {
    check_base<T>(state);
    SplineFlow<T> flow(read_options(state));
    check_masks(state, flow);
    flow.edit_parameters([&](std::span<T> parameters) {
      for (const ParameterBlock& block : flow.layout().blocks()) {
        const Array& array = state.at(block.name);
        if (array.shape != block.shape) {
          state.fail(fmt::format("array '{}': expected shape ({}), got ({})", block.name,
                                 fmt::join(block.shape, ", "), fmt::join(array.shape, ", ")));
        }
        const std::vector<T> values = array.template values<T>();
        std::copy(values.begin(), values.end(),
                  parameters.begin() + static_cast<std::ptrdiff_t>(block.offset));
      }
    });
    return flow;
  } catch (const std::invalid_argument& error) {
    state.fail(error.what());
  }
}

template <typename T>
void export_zuko(const UnnormalizedDensity<T>& model, const std::filesystem::path& path) {
  const auto* spline_flow = dynamic_cast<const SplineFlow<T>*>(&model);
  if (spline_flow == nullptr) {
    const bool several = dynamic_cast<const DensityMixture<T>*>(&model) != nullptr;
    throw std::invalid_argument(
        fmt::format("expected a spline flow, got {}",
                    several ? "a mixture of several models: fit again with --members 1"
                            : fmt::format("another model: {}", describe_model(model))));
  }
  const SplineFlow<T>& flow = *spline_flow;
  if (flow.options().affine || flow.options().student_t != 0) {
    throw std::invalid_argument(
        "expected a flow of splines over a normal base, as a zuko.flows.NSF is one: this flow has "
        "an affine transform or a Student-t base; fit again with flow.affine=false and "
        "flow.student_t=0");
  }
  Arrays arrays;
  const auto put = [&](const std::string& name, Array array) {
    arrays[std::string(kPrefix) + name] = std::move(array);
  };
  const std::span<const T> parameters = flow.parameters();
  for (const ParameterBlock& block : flow.layout().blocks()) {
    put(block.name, Array::from<T>(block.shape, parameters.subspan(block.offset, block.size)));
    const std::vector<std::uint8_t> mask = flow.mask(block);
    if (!mask.empty()) put(mask_name(block.name), Array::from<std::uint8_t>(block.shape, mask));
  }
  const SplineFlowOptions& options = flow.options();
  for (Eigen::Index t = 0; options.features > 1 && t < options.transforms; ++t) {
    put(transform_name(t) + ".order",
        Array::from<std::int64_t>({options.features}, options.orders[static_cast<std::size_t>(t)]));
  }
  const auto features = static_cast<std::size_t>(options.features);
  put("base.loc", Array::from<T>({options.features}, std::vector<T>(features, T(0))));
  put("base.scale", Array::from<T>({options.features}, std::vector<T>(features, T(1))));
  storage::write_npz(path, arrays);
}

template SplineFlow<float> import_zuko<float>(const std::filesystem::path&);
template SplineFlow<double> import_zuko<double>(const std::filesystem::path&);
template void export_zuko<float>(const UnnormalizedDensity<float>&, const std::filesystem::path&);
template void export_zuko<double>(const UnnormalizedDensity<double>&, const std::filesystem::path&);

}  // namespace jeffreys
