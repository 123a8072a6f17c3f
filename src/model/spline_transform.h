// One transform of a neural spline flow on a tile: a masked network gives every feature's spline
// from the context and the features before it in the transform's order (Zuko's
// MaskedAutoregressiveTransform; with one feature, its ElementWiseTransform).
//
// Positions are places in the order: feature_at(0) is the first. Tiles that come in or go out are
// in feature order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jeffreys/model/parameter_layout.h"
#include "jeffreys/model/spline_flow.h"
#include "kernels/shared_spline.h"
#include "kernels/tile_layer.h"
#include "model/flow_transform.h"
#include "model/scalar_layers.h"

namespace jeffreys {

struct SplineTransformShape {
  std::size_t features;
  std::size_t context;
  std::size_t bins;
  std::vector<std::size_t> hidden;
  std::vector<std::int64_t> order;  // order[feature] = position
};

template <typename T>
class SplineTransform final : public FlowTransform<T> {
 public:
  // Appends the transform's parameters, named as in Zuko, to the layout.
  SplineTransform(const SplineTransformShape& shape, const std::string& name,
                  ParameterLayout& layout);

  [[nodiscard]] std::unique_ptr<FlowTransform<T>> clone() const override;
  void pack(const T* parameters) override;
  // Network input, hidden layers, raw splines.
  [[nodiscard]] std::size_t tape_size() const override;
  void forward(const T* x, const T* context, T* tape, T* y, T* log_determinant) const override;
  // By one pass over the network: hidden units are filled as their inputs become known.
  void inverse(const T* y, const T* context, T* tape, T* x, T* log_determinant) const override;
  [[nodiscard]] std::size_t accumulator_size() const override;
  void backward(const T* tape, const T* output_gradient, const T* log_determinant_gradient,
                T* input_gradient, T* context_gradient, T* accumulator) const override;
  void add_gradient(const T* accumulator, const T* parameters, T* gradient) const override;
  [[nodiscard]] std::vector<std::uint8_t> mask(const ParameterBlock& block) const override;

  // Draws the weights as torch.nn.Linear does, out of uniform numbers that are there already, but
  // for inputs that the start leaves at 0; masked weights are 0.
  void spread_weights(FlowStart start, T* parameters) const;

 private:
  [[nodiscard]] std::size_t input_rows() const;
  [[nodiscard]] std::size_t first_dense() const { return scalar_ ? 2 : 0; }
  void run_network(T* tape) const;
  void run_degree(std::size_t degree, T* tape) const;
  void run_scalar_layers(T* tape) const;
  [[nodiscard]] const T* raw_splines(const T* tape) const;
  void add_input_gradients(const T* own_gradient, const T* network_gradient, T* input_gradient,
                           T* context_gradient) const;
  [[nodiscard]] std::size_t feature_at(std::size_t position) const { return feature_at_[position]; }
  void load_input(const T* x, const T* context, T* input) const;
  void spline(std::size_t position, bool inverse, const T* raw, const T* from, T* to,
              T* log_determinant, T* scratch) const;

  std::size_t features_;
  std::size_t context_;
  std::size_t bins_;
  bool first_is_shared_;  // no context: the first feature's spline is the same for all rows
  std::vector<std::size_t> feature_at_;
  std::vector<TileLayer<T>>
      layers_;  // hidden layers, then the output layer; none for 1 feature alone
  std::optional<ScalarLayers<T>>
      scalar_;                        // instead of the first two layers, if these see one number
  std::vector<std::size_t> weights_;  // offsets in the flat buffer
  std::vector<std::size_t> biases_;
  std::vector<T> shared_raw_;  // raw parameters of the first feature, if shared
  kernels::SplineTable<T> shared_;
  std::size_t shared_offset_ = 0;  // where they are in the flat buffer
};

}  // namespace jeffreys
