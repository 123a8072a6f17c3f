// A neural spline flow in plain libtorch operations with autograd: an oracle for SplineFlow, and
// the path along which a generator's samples carry gradients. Written from the definition, without
// our kernels.
#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "jeffreys/model/spline_flow.h"
#include "torch/tensors.h"

namespace jeffreys::twin {

class FlowTwin {
 public:
  template <typename T>
  explicit FlowTwin(const SplineFlow<T>& flow);

  // Takes over the parameters of a flow with the same options.
  template <typename T>
  void load(const SplineFlow<T>& flow) {
    parameters_.load(flow.parameters());
  }

  // The leaf [parameters], in the flow's layout.
  [[nodiscard]] const torch::Tensor& parameters() const { return parameters_.flat(); }

  // x: [rows, features]; context: [rows or 1, context_features], undefined without. Result: [rows].
  [[nodiscard]] torch::Tensor log_prob(const torch::Tensor& x,
                                       const torch::Tensor& context = {}) const;

  // Data to noise, [rows, features], and the rows that belong to noise.
  [[nodiscard]] torch::Tensor to_noise(const torch::Tensor& x,
                                       const torch::Tensor& context = {}) const;
  [[nodiscard]] torch::Tensor sample(const torch::Tensor& noise,
                                     const torch::Tensor& context = {}) const;

  // One mask for each layer of transform t; none if all weights act.
  [[nodiscard]] const std::vector<torch::Tensor>& masks(std::size_t t) const { return masks_[t]; }

 private:
  // A transform with its parameters, as the operations use them.
  struct Bound {
    std::vector<torch::Tensor> weights;
    std::vector<torch::Tensor> biases;
    torch::Tensor constant;  // [1, 3 bins - 1]; the only one defined if there is no network
    std::vector<std::int64_t> feature_at;  // position -> feature
  };

  struct Noise {
    torch::Tensor z;                // [rows, features]
    torch::Tensor log_determinant;  // [rows]
  };

  [[nodiscard]] std::vector<Bound> bind() const;
  [[nodiscard]] Noise forward(const torch::Tensor& x, const torch::Tensor& context) const;
  [[nodiscard]] torch::Tensor hidden(const Bound& bound, const torch::Tensor& x,
                                     const torch::Tensor& context) const;
  [[nodiscard]] torch::Tensor raw_splines(const Bound& bound, const torch::Tensor& x,
                                          const torch::Tensor& context) const;
  [[nodiscard]] torch::Tensor raw_spline(const Bound& bound, std::size_t position,
                                         const std::vector<torch::Tensor>& columns,
                                         const torch::Tensor& context) const;
  [[nodiscard]] torch::Tensor invert(const Bound& bound, const torch::Tensor& z,
                                     const torch::Tensor& context) const;

  SplineFlowOptions options_;
  FlatTensor parameters_;
  std::vector<std::vector<torch::Tensor>> masks_;
};

}  // namespace jeffreys::twin
