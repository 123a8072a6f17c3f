// A linear layer of an energy model, with or without spectral normalisation:
//   W_eff = W / sigma, sigma = u^T W v
// where u and v follow the leading singular vectors by power iteration (torch's spectral_norm). The
// gradient takes u and v as constants: dL/dW = (G - (G . W_eff) u v^T) / sigma with G = dL/dW_eff.
#pragma once

#include <cstddef>
#include <string>

#include "jeffreys/model/parameter_layout.h"
#include "kernels/tile_layer.h"

namespace jeffreys {

enum class Spectral { no, yes };

template <typename T>
class EnergyLayer {
 public:
  // Appends "<name>.weight" (or its spectral original) and "<name>.bias" to the parameters, and u
  // and v to the spectral vectors.
  EnergyLayer(const std::string& name, std::size_t inputs, std::size_t outputs, Spectral spectral,
              ParameterLayout& parameters, ParameterLayout& vectors);

  [[nodiscard]] std::size_t inputs() const { return layer_.inputs(); }
  [[nodiscard]] std::size_t outputs() const { return layer_.outputs(); }
  [[nodiscard]] bool spectral() const { return spectral_; }
  [[nodiscard]] std::size_t weight_offset() const { return weight_; }
  [[nodiscard]] std::size_t bias_offset() const { return bias_; }
  [[nodiscard]] std::size_t u_offset() const { return u_; }
  [[nodiscard]] std::size_t v_offset() const { return v_; }
  [[nodiscard]] T sigma() const { return sigma_; }

  // All pointers are to the flat buffers of the whole model.
  void pack(const T* parameters, const T* vectors);
  void power_iterate(const T* parameters, T* vectors);

  void forward(const T* input, T* output, std::size_t tiles) const;
  void backward(const T* output_gradient, T* input_gradient, std::size_t tiles) const;

  [[nodiscard]] std::size_t accumulator_size() const { return layer_.accumulator_size(); }
  void accumulate(const T* output_gradient, const T* input, T* accumulator,
                  std::size_t tiles) const {
    layer_.accumulate(output_gradient, input, accumulator, tiles);
  }
  void add_gradient(const T* accumulator, const T* parameters, const T* vectors, T* gradient) const;

 private:
  TileLayer<T> layer_;
  bool spectral_;
  std::size_t weight_ = 0;
  std::size_t bias_ = 0;
  std::size_t u_ = 0;
  std::size_t v_ = 0;
  T sigma_ = 1;
};

}  // namespace jeffreys
