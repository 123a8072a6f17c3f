#include "jeffreys/fit/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>

#include "fit/model_choice.h"
#include "jeffreys/evaluate/gaussian_baseline.h"
#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/gaussian_mixture.h"
#include "jeffreys/model/mixed_density.h"
#include "jeffreys/model/spline_flow.h"

namespace jeffreys {
namespace {

// Far from any seed that somebody chooses: with a neighbouring one a flow proxy would start as the
// main model of the next seed.
constexpr std::uint64_t kProxySeed = 0x9b05688c2b3e6c1fULL;

std::unique_ptr<UnnormalizedDensity<float>> make_flow(const FitOptions& o, const RowShape& shape,
                                                      std::uint64_t seed) {
  SplineFlowOptions options = o.flow;
  options.features = shape.features;
  options.context_features = shape.context_features;
  options.seed = seed;
  return std::make_unique<SplineFlow<float>>(options);
}

std::unique_ptr<UnnormalizedDensity<float>> make_energy(const FitOptions& o, const RowShape& shape,
                                                        std::uint64_t seed) {
  if (shape.context_features == 0) {
    return std::make_unique<ResidualEnergy<float>>(
        ResidualEnergyOptions{.features = shape.features,
                              .hidden = o.energy.hidden,
                              .blocks = o.energy.blocks,
                              .confined = o.energy.confined,
                              .temperature = o.energy.temperature,
                              .seed = seed});
  }
  return std::make_unique<FilmEnergy<float>>(
      FilmEnergyOptions{.features = shape.features,
                        .context_features = shape.context_features,
                        .hidden = o.energy.hidden,
                        .blocks = o.energy.blocks,
                        .film_layers = o.energy.film_layers,
                        .bounded = o.energy.bounded,
                        .confined = o.energy.confined,
                        .temperature = o.energy.temperature,
                        .seed = seed});
}

void energy_defaults(std::size_t rows, const RowShape& shape, FitOptions& o) {
  const bool conditional = shape.context_features > 0;
  const bool all_rows = shape.features <= 4 && !conditional;
  o.train.batch_size = all_rows ? (rows > 2000 ? 1000 : 0) : small_batch(rows);
  o.train.learning_rate = {
      .main = 1e-3, .proxy = all_rows ? 3e-4 : 1e-3, .multipliers = 1e-3, .zeta = 1e-3};
  o.train.dual.zeta_slack = 1;
  if (!conditional) return;
  o.energy.hidden = 64;
  // Kernels work on 64 rows at a time, of one sample of each condition: 128 take no longer than
  // 100.
  if (o.train.batch_size == 100 && rows >= 128) o.train.batch_size = 128;
  o.train.zeta.samples_per_condition = 3;
  o.train.validation.every = 100;  // each takes many samples
}

std::unique_ptr<UnnormalizedDensity<float>> make_mixture(const FitOptions& o, const RowShape& shape,
                                                         std::uint64_t seed) {
  GaussianMixtureOptions options = o.mixture;
  options.features = shape.features;
  options.context_features = shape.context_features;
  options.seed = seed;
  return std::make_unique<GaussianMixture<float>>(options);
}

const ModelChoiceEntry kChoices[] = {
    {"flow", "a neural spline flow: exact density, exact samples", true, make_flow, nullptr},
    {"energy", "an energy model: a proxy alone, since it cannot be sampled", false, make_energy,
     energy_defaults},
    {"mixture", "a mixture of Gaussians with full covariances: simple, exact density and samples",
     true, make_mixture, nullptr},
};

// Far from the seed of the model inside.
constexpr std::uint64_t kCategorySeed = 0x1f83d9abfb41bd6bULL;

std::unique_ptr<UnnormalizedDensity<float>> make_mixed(const ModelChoiceEntry& entry,
                                                       const FitOptions& o, const RowShape& shape,
                                                       std::uint64_t seed) {
  if (shape.categories.empty()) return entry.make(o, shape, seed);
  if (!entry.draws) {
    const MixedEnergyOptions options{.features = shape.features, .categories = shape.categories};
    const RowShape inside{options.inner_features(), shape.context_features};
    return std::make_unique<MixedEnergy<float>>(options, entry.make(o, inside, seed));
  }
  const MixedDensityOptions options{.features = shape.features,
                                    .categories = shape.categories,
                                    .context_features = shape.context_features,
                                    .seed = seed ^ kCategorySeed};
  std::unique_ptr<UnnormalizedDensity<float>> given;
  if (shape.features > 0) {
    given = entry.make(o, {shape.features, options.given_context_features()}, seed);
  }
  return std::make_unique<MixedDensity<float>>(options, std::move(given));
}

// A flow's affine transform becomes x -> L (x - m), where L^-1 is the Cholesky factor of the
// covariance; the flow may be the model itself or inside of it. Other models have no such blocks.
void start_affine(UnnormalizedDensity<float>& model, const MatrixView<double>& x) {
  const auto find = [&](const char* name) -> const ParameterBlock* {
    for (const ParameterBlock& block : model.layout().blocks()) {
      if (block.name.ends_with(name)) return &block;
    }
    return nullptr;
  };
  const ParameterBlock* shift = find("transform.affine.shift");
  if (shift == nullptr || x.rows() == 0) return;
  const GaussianBaseline gaussian(x, Matrix<double>(x.rows(), 0));
  const Matrix<double> inverse = gaussian.factor().triangularView<Eigen::Lower>().solve(
      Matrix<double>::Identity(x.cols(), x.cols()));
  model.edit_parameters([&](std::span<float> parameters) {
    float* mean = parameters.data() + shift->offset;
    float* log_diagonal = parameters.data() + find("transform.affine.log_diagonal")->offset;
    float* below = parameters.data() + find("transform.affine.lower")->offset;
    for (Eigen::Index i = 0; i < x.cols(); ++i) {
      *mean++ = static_cast<float>(gaussian.coefficients()(0, i));
      *log_diagonal++ = static_cast<float>(std::log(inverse(i, i)));
      for (Eigen::Index j = 0; j < i; ++j) *below++ = static_cast<float>(inverse(i, j));
    }
  });
}

// With the setting in what it throws.
const ModelChoiceEntry& find_named(const char* setting, const ModelChoice& choice) {
  try {
    return find_model_choice(choice);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", setting, error.what()));
  }
}

}  // namespace

const ModelChoiceEntry& find_model_choice(const ModelChoice& choice) {
  std::vector<std::string> names;
  for (const ModelChoiceEntry& entry : kChoices) {
    if (choice.name == entry.name) return entry;
    names.emplace_back(entry.name);
  }
  throw std::invalid_argument(
      fmt::format("expected {}, got '{}'", fmt::join(names, " or "), choice.name));
}

std::vector<ModelChoiceInfo> model_choices() {
  std::vector<ModelChoiceInfo> all;
  for (const ModelChoiceEntry& entry : kChoices) all.push_back({entry.name, entry.description});
  return all;
}

RowShape row_shape(const Schema& schema) {
  RowShape shape{static_cast<Eigen::Index>(schema.continuous()),
                 static_cast<Eigen::Index>(schema.context_features())};
  for (const std::size_t classes : schema.categories()) {
    shape.categories.push_back(static_cast<Eigen::Index>(classes));
  }
  return shape;
}

AnyDensity<float> make_main_model(const FitOptions& options, const RowShape& shape) {
  std::unique_ptr<UnnormalizedDensity<float>> model =
      make_mixed(find_named("main", options.main), options, shape, options.seed);
  if (model->as_density() == nullptr) {
    throw std::invalid_argument(
        fmt::format("main: expected a model that draws samples, got '{}', which can be the proxy "
                    "alone",
                    options.main.name));
  }
  return AnyDensity<float>(std::move(model));
}

AnyModel<float> make_proxy_model(const FitOptions& options, const RowShape& shape) {
  return AnyModel<float>(
      make_mixed(find_named("proxy", options.proxy), options, shape, options.seed ^ kProxySeed));
}

void start_at_rows(UnnormalizedDensity<float>& model, const MatrixView<double>& x) {
  if (auto* mixed = dynamic_cast<MixedDensity<float>*>(&model)) {
    mixed->set_frequencies(x.cast<float>());
  }
  start_affine(model, x.leftCols(model.continuous_features()));
}

}  // namespace jeffreys
