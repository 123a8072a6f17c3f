#include "jeffreys/fit/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "fit/model_choice.h"
#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/gaussian_mixture.h"
#include "jeffreys/model/spline_flow.h"

namespace jeffreys {
namespace {

// Far from any seed that somebody chooses: with a neighbouring one a flow proxy would start as the
// main model of the next seed.
constexpr std::uint64_t kProxySeed = 0x9b05688c2b3e6c1fULL;

std::unique_ptr<UnnormalizedDensity<float>> make_flow(const FitOptions& o, const ModelSize& size,
                                                      std::uint64_t seed) {
  SplineFlowOptions options = o.flow;
  options.features = size.features;
  options.context_features = size.context_features;
  options.seed = seed;
  return std::make_unique<SplineFlow<float>>(options);
}

std::unique_ptr<UnnormalizedDensity<float>> make_energy(const FitOptions& o, const ModelSize& size,
                                                        std::uint64_t seed) {
  if (size.context_features == 0) {
    return std::make_unique<ResidualEnergy<float>>(
        ResidualEnergyOptions{.features = size.features,
                              .hidden = o.energy.hidden,
                              .blocks = o.energy.blocks,
                              .confined = o.energy.confined,
                              .temperature = o.energy.temperature,
                              .seed = seed});
  }
  return std::make_unique<FilmEnergy<float>>(
      FilmEnergyOptions{.features = size.features,
                        .context_features = size.context_features,
                        .hidden = o.energy.hidden,
                        .blocks = o.energy.blocks,
                        .film_layers = o.energy.film_layers,
                        .bounded = o.energy.bounded,
                        .confined = o.energy.confined,
                        .temperature = o.energy.temperature,
                        .seed = seed});
}

void energy_defaults(std::size_t rows, const ModelSize& size, FitOptions& o) {
  const bool conditional = size.context_features > 0;
  const bool all_rows = size.features <= 4 && !conditional;
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

std::unique_ptr<UnnormalizedDensity<float>> make_mixture(const FitOptions& o, const ModelSize& size,
                                                         std::uint64_t seed) {
  GaussianMixtureOptions options = o.mixture;
  options.features = size.features;
  options.context_features = size.context_features;
  options.seed = seed;
  return std::make_unique<GaussianMixture<float>>(options);
}

const ModelChoiceEntry kChoices[] = {
    {"flow", "a neural spline flow: exact density, exact samples", make_flow, nullptr},
    {"energy", "an energy model: a proxy alone, since it cannot be sampled", make_energy,
     energy_defaults},
    {"mixture", "a mixture of Gaussians with full covariances: simple, exact density and samples",
     make_mixture, nullptr},
};

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

AnyDensity<float> make_main_model(const FitOptions& options, Eigen::Index features,
                                  Eigen::Index context_features) {
  std::unique_ptr<UnnormalizedDensity<float>> model =
      find_named("main", options.main).make(options, {features, context_features}, options.seed);
  if (model->as_density() == nullptr) {
    throw std::invalid_argument(
        fmt::format("main: expected a model that draws samples, got '{}', which can be the proxy "
                    "alone",
                    options.main.name));
  }
  return AnyDensity<float>(std::move(model));
}

AnyModel<float> make_proxy_model(const FitOptions& options, Eigen::Index features,
                                 Eigen::Index context_features) {
  return AnyModel<float>(
      find_named("proxy", options.proxy)
          .make(options, {features, context_features}, options.seed ^ kProxySeed));
}

}  // namespace jeffreys
