#include "model/silu_network.h"

#include "kernels/scratch.h"
#include "kernels/silu.h"

namespace jeffreys {

using kernels::kTileRows;

template <typename T>
SiluNetwork<T>::SiluNetwork(const std::string& name, std::size_t inputs, std::size_t width,
                            std::size_t layers, Spectral spectral, ParameterLayout& parameters,
                            ParameterLayout& vectors)
    : width_(width) {
  for (std::size_t l = 0; l < layers; ++l) {
    layers_.emplace_back(name + "." + std::to_string(2 * l), l == 0 ? inputs : width, width,
                         spectral, parameters, vectors);
  }
}

template <typename T>
std::vector<EnergyLayer<T>*> SiluNetwork<T>::layers() {
  std::vector<EnergyLayer<T>*> all;
  for (EnergyLayer<T>& layer : layers_) all.push_back(&layer);
  return all;
}

template <typename T>
std::size_t SiluNetwork<T>::size(std::size_t tiles) const {
  return tiles * width_ * kTileRows;
}

template <typename T>
std::size_t SiluNetwork<T>::tape_size(std::size_t tiles) const {
  return 2 * (layers_.size() - 1) * size(tiles);
}

template <typename T>
void SiluNetwork<T>::forward(const T* input, std::size_t tiles, T* tape, T* output) const {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (l + 1 == layers_.size()) {
      layers_[l].forward(input, output, tiles);
      return;
    }
    T* activation = tape + 2 * l * size(tiles);
    layers_[l].forward(input, activation, tiles);
    kernels::silu(kernels::SiluArguments<T>{.size = size(tiles),
                                            .input = activation,
                                            .output = activation,
                                            .slope = activation + size(tiles)});
    input = activation;
  }
}

template <typename T>
std::size_t SiluNetwork<T>::accumulator_size() const {
  std::size_t total = 0;
  for (const EnergyLayer<T>& layer : layers_) total += layer.accumulator_size();
  return total;
}

template <typename T>
void SiluNetwork<T>::backward(const T* input, const T* tape, const T* output_gradient,
                              std::size_t tiles, T* input_gradient, T* accumulator) const {
  Scratch::Frame frame;
  T* sums = accumulator ? accumulator + accumulator_size() : nullptr;
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const T* before = l > 0 ? tape + 2 * (l - 1) * size(tiles) : input;
    if (accumulator) {
      sums -= layers_[l].accumulator_size();
      layers_[l].accumulate(output_gradient, before, sums, tiles);
    }
    if (l == 0) {
      if (input_gradient) layers_[l].backward(output_gradient, input_gradient, tiles);
      return;
    }
    T* gradient = frame.take<T>(size(tiles));
    layers_[l].backward(output_gradient, gradient, tiles);
    kernels::silu_backward(kernels::SiluBackwardArguments<T>{.size = size(tiles),
                                                             .output_gradient = gradient,
                                                             .slope = before + size(tiles),
                                                             .input_gradient = gradient});
    output_gradient = gradient;
  }
}

template <typename T>
void SiluNetwork<T>::add_gradient(const T* accumulator, const T* parameters, const T* vectors,
                                  T* gradient) const {
  for (const EnergyLayer<T>& layer : layers_) {
    layer.add_gradient(accumulator, parameters, vectors, gradient);
    accumulator += layer.accumulator_size();
  }
}

template class SiluNetwork<float>;
template class SiluNetwork<double>;

}  // namespace jeffreys
