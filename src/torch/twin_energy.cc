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
  [[nodiscard]] Tensor mlp(const std::string& name, const Tensor& x, std::int64_t layers,
                           bool spectral) const {
    const auto layer = [&](std::int64_t l, const Tensor& input) {
      const std::string own = fmt::format("{}.{}", name, 2 * l);
      return spectral ? spectral_linear(own, input) : linear(own, input);
    };
    Tensor h = layer(0, x);
    for (std::int64_t l = 1; l < layers; ++l) h = layer(l, torch::silu(h));
    return h;
  }

  [[nodiscard]] Tensor norm_body(const std::string& name, const Tensor& x) const {
    const Tensor h = spectral_linear(name + ".lin1", torch::silu(norm(name + ".ln1", x)));
    return spectral_linear(name + ".lin2", torch::silu(norm(name + ".ln2", h)));
  }

  [[nodiscard]] Tensor residual_block(const std::string& name, const Tensor& x) const {
    return torch::silu(parameters.at(name + ".alpha") * x + norm_body(name, x));
  }

  [[nodiscard]] Tensor film_block(const std::string& name, const Tensor& x, const Tensor& context,
                                  std::int64_t layers, bool bounded) const {
    const Tensor gamma = mlp(name + ".gamma", context, layers, bounded);
    const Tensor beta = mlp(name + ".beta", context, layers, bounded);
    const Tensor body =
        bounded ? norm_body(name + ".body", x) : mlp(name + ".body", x, kBodyLayers, false);
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
    h = film_layers_ > 0 ? network.film_block(name, h, context, film_layers_, bounded_)
                         : network.residual_block(name, h);
  }
  const Tensor f = network.linear("out", h).squeeze(1) / temperature_;
  if (!confined_) return f;
  return f - torch::relu(x.abs() - kConfinement).square().sum(1) / 2;
}

}  // namespace jeffreys::twin
