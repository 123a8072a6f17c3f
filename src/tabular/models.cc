#include "jeffreys/tabular/models.h"

namespace jeffreys {
namespace {

SplineFlow<float> make_flow(const FlowSettings& settings, Eigen::Index features,
                            Eigen::Index context_features, std::uint64_t seed) {
  return SplineFlow<float>({.features = features,
                            .context_features = context_features,
                            .transforms = settings.transforms,
                            .bins = settings.bins,
                            .hidden = settings.hidden,
                            .order = settings.order,
                            .start = settings.start,
                            .seed = seed});
}

}  // namespace

SplineFlow<float> make_main_model(const FitOptions& options, Eigen::Index features,
                                  Eigen::Index context_features) {
  return make_flow(options.flow, features, context_features, options.seed);
}

AnyModel<float> make_proxy_model(const FitOptions& options, Eigen::Index features,
                                 Eigen::Index context_features) {
  const std::uint64_t seed = options.seed + 1;
  if (options.proxy == ProxyKind::flow) {
    return make_flow(options.flow, features, context_features, seed);
  }
  if (context_features == 0) {
    return ResidualEnergy<float>({.features = features,
                                  .hidden = options.energy.hidden,
                                  .blocks = options.energy.blocks,
                                  .temperature = options.energy.temperature,
                                  .seed = seed});
  }
  return FilmEnergy<float>({.features = features,
                            .context_features = context_features,
                            .hidden = options.energy.hidden,
                            .blocks = options.energy.blocks,
                            .film_layers = options.energy.film_layers,
                            .temperature = options.energy.temperature,
                            .seed = seed});
}

}  // namespace jeffreys
