#include "torch/twin_energy.h"

#include <fmt/format.h>

namespace jeffreys::twin {
namespace {

using torch::Tensor;

constexpr std::string_view kOriginal = ".parametrizations.weight.original";
constexpr std::string_view kLeft = ".parametrizations.weight.0._u";
constexpr std::string_view kRight = ".parametrizations.weight.0._v";
constexpr double kMinNorm = 1e-12;
constexpr double kMinVariance = 1e-5;
constexpr std::int64_t kBodyLayers = 2;

std::string join(std::string_view layer, std::string_view name) {
  return fmt::format("{}{}", layer, name);
}

// The layers of one evaluation.
struct Network {
  Parts parameters;
  Parts vectors;

  [[nodiscard]] Tensor linear(const std::string& layer, const Tensor& x) const {
    return torch::linear(x, parameters.at(layer + ".weight"), parameters.at(layer + ".bias"));
  }

  [[nodiscard]] Tensor spectral_linear(const std::string& layer, const Tensor& x) const {
    const Tensor& weight = parameters.at(join(layer, kOriginal));
    const Tensor sigma =
        vectors.at(join(layer, kLeft)).dot(weight.mv(vectors.at(join(layer, kRight))));
    return torch::linear(x, weight / sigma, parameters.at(layer + ".bias"));
  }

  [[nodiscard]] Tensor norm(const std::string& layer, const Tensor& x) const {
    return torch::layer_norm(x, {x.size(1)}, parameters.at(layer + ".weight"),
                             parameters.at(layer + ".bias"), kMinVariance);
  }

  // Linear layers with SiLU between them.
  [[nodiscard]] Tensor mlp(const std::string& name, const Tensor& x, std::int64_t layers) const {
    Tensor h = linear(name + ".0", x);
    for (std::int64_t l = 1; l < layers; ++l) {
      h = linear(fmt::format("{}.{}", name, 2 * l), torch::silu(h));
    }
    return h;
  }

  [[nodiscard]] Tensor residual_block(const std::string& name, const Tensor& x) const {
    const Tensor h = spectral_linear(name + ".lin1", torch::silu(norm(name + ".ln1", x)));
    const Tensor change = spectral_linear(name + ".lin2", torch::silu(norm(name + ".ln2", h)));
    return torch::silu(parameters.at(name + ".alpha") * x + change);
  }

  [[nodiscard]] Tensor film_block(const std::string& name, const Tensor& x, const Tensor& context,
                                  std::int64_t layers) const {
    const Tensor gamma = mlp(name + ".gamma", context, layers);
    const Tensor beta = mlp(name + ".beta", context, layers);
    const Tensor body = mlp(name + ".body", x, kBodyLayers);
    return torch::silu(parameters.at(name + ".alpha") * x + gamma * body + beta);
  }
};

void set_normalized(Tensor target, const Tensor& direction) {
  target.copy_(direction / direction.norm().clamp_min(kMinNorm));
}

}  // namespace

void EnergyTwin::power_iterate() {
  const torch::NoGradGuard no_grad;
  const Parts weights = parameters_.parts();
  const Parts vectors = vectors_.parts();
  for (const auto& [name, weight] : weights) {
    if (!name.ends_with(kOriginal)) continue;
    const std::string layer = name.substr(0, name.size() - kOriginal.size());
    const Tensor& u = vectors.at(join(layer, kLeft));
    const Tensor& v = vectors.at(join(layer, kRight));
    set_normalized(u, weight.mv(v));
    set_normalized(v, weight.t().mv(u));
  }
}

Tensor EnergyTwin::value(const Tensor& x, const Tensor& context) const {
  const Network network{parameters_.parts(), vectors_.parts()};
  Tensor h = torch::silu(network.spectral_linear("inp", x));
  for (std::int64_t b = 0; b < blocks_; ++b) {
    const std::string name = fmt::format("blocks.{}", b);
    h = film_layers_ > 0 ? network.film_block(name, h, context, film_layers_)
                         : network.residual_block(name, h);
  }
  return network.linear("out", h).squeeze(1) / temperature_;
}

}  // namespace jeffreys::twin
