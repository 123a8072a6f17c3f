// A multi-layer perceptron with SiLU between its layers, on runs of tiles: the gamma, beta and body
// networks of a FiLM block. Layers are named <name>.0, <name>.2, ... as in torch.nn.Sequential.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/energy_layer.h"

namespace jeffreys {

template <typename T>
class SiluNetwork {
 public:
  SiluNetwork(const std::string& name, std::size_t inputs, std::size_t width, std::size_t layers,
              Spectral spectral, ParameterLayout& parameters, ParameterLayout& vectors);

  [[nodiscard]] std::vector<EnergyLayer<T>*> layers();

  // For every layer its output after SiLU and the slope; the last layer has neither.
  [[nodiscard]] std::size_t tape_size(std::size_t tiles) const;
  void forward(const T* input, std::size_t tiles, T* tape, T* output) const;

  [[nodiscard]] std::size_t accumulator_size() const;

  // Adds to the accumulator and writes input_gradient, unless these are null.
  void backward(const T* input, const T* tape, const T* output_gradient, std::size_t tiles,
                T* input_gradient, T* accumulator) const;
  void add_gradient(const T* accumulator, const T* parameters, const T* vectors, T* gradient) const;

 private:
  [[nodiscard]] std::size_t size(std::size_t tiles) const;

  std::size_t width_;
  std::vector<EnergyLayer<T>> layers_;
};

}  // namespace jeffreys
