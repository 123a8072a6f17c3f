// The energy models in plain libtorch operations with autograd, which also differentiates their
// input gradients (the penalty of a WGAN): an oracle for ResidualEnergy and FilmEnergy. Written
// from the paper's alg:residual_mlp and alg:cond_residual_block, without our kernels.
#pragma once

#include <torch/types.h>

#include <string>

#include "jeffreys/model/energy_model.h"
#include "torch/tensors.h"

namespace jeffreys::twin {

class EnergyTwin {
 public:
  template <typename T>
  explicit EnergyTwin(const ResidualEnergy<T>& model)
      : EnergyTwin(model, model.options().blocks, 0, false, model.options().confined) {}
  template <typename T>
  explicit EnergyTwin(const FilmEnergy<T>& model)
      : EnergyTwin(model, model.options().blocks, model.options().film_layers,
                   model.options().bounded, model.options().confined) {}

  // Takes over parameters and spectral vectors of a model with the same options.
  template <typename T>
  void load(const EnergyModel<T>& model) {
    parameters_.load(model.parameters());
    vectors_.load(model.state());
  }

  // The leaf [parameters], in the model's layout; u and v of all spectral layers, which autograd
  // takes for constants.
  [[nodiscard]] const torch::Tensor& parameters() const { return parameters_.flat(); }
  [[nodiscard]] const torch::Tensor& spectral_vectors() const { return vectors_.flat(); }

  // One step of u = normalize(W v), v = normalize(W^T u) in all spectral layers.
  void power_iterate();

  // f(x | c) / temperature, [rows]. x: [rows, features]; context: [rows or 1, context_features],
  // undefined without.
  [[nodiscard]] torch::Tensor value(const torch::Tensor& x,
                                    const torch::Tensor& context = {}) const;

 private:
  template <typename T>
  EnergyTwin(const EnergyModel<T>& model, std::int64_t blocks, std::int64_t film_layers,
             bool bounded, bool confined)
      : blocks_(blocks),
        film_layers_(film_layers),
        bounded_(bounded),
        confined_(confined),
        temperature_(model.temperature()),
        parameters_(model.layout(), model.parameters(), true),
        vectors_(model.state_layout(), model.state(), false) {}

  std::int64_t blocks_;
  std::int64_t film_layers_;  // 0: residual blocks
  bool bounded_;
  bool confined_;
  double temperature_;
  FlatTensor parameters_;
  FlatTensor vectors_;
};

}  // namespace jeffreys::twin
