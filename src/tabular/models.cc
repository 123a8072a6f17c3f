#include "jeffreys/tabular/models.h"

namespace jeffreys {
namespace {

// Far from any seed that somebody chooses: with a neighbouring one a flow proxy would start as the
// main model of the next seed.
constexpr std::uint64_t kProxySeed = 0x9b05688c2b3e6c1fULL;

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
  const std::uint64_t seed = options.seed ^ kProxySeed;
  if (options.proxy == ProxyKind::flow) {
    return make_flow(options.flow, features, context_features, seed);
  }
  if (context_features == 0) {
    return ResidualEnergy<float>({.features = features,
                                  .hidden = options.energy.hidden,
                                  .blocks = options.energy.blocks,
                                  .confined = options.energy.confined,
                                  .temperature = options.energy.temperature,
                                  .seed = seed});
  }
  return FilmEnergy<float>({.features = features,
                            .context_features = context_features,
                            .hidden = options.energy.hidden,
                            .blocks = options.energy.blocks,
                            .film_layers = options.energy.film_layers,
                            .bounded = options.energy.bounded,
                            .confined = options.energy.confined,
                            .temperature = options.energy.temperature,
                            .seed = seed});
}

}  // namespace jeffreys
