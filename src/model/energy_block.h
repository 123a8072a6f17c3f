// The residual blocks of the paper's energy models, on runs of tiles: activations are
// [tiles][width][64].
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "jeffreys/model/parameter_layout.h"
#include "model/energy_layer.h"

namespace jeffreys {

// The flat buffers of a whole model.
template <typename T>
struct EnergyBuffers {
  const T* parameters;
  const T* vectors;  // u and v of the spectral layers
};

template <typename T>
class EnergyBlock {
 public:
  EnergyBlock() = default;
  virtual ~EnergyBlock() = default;
  EnergyBlock(const EnergyBlock&) = default;
  EnergyBlock& operator=(const EnergyBlock&) = default;

  [[nodiscard]] virtual std::unique_ptr<EnergyBlock> clone() const = 0;

  // Every linear layer of the block.
  [[nodiscard]] virtual std::vector<EnergyLayer<T>*> layers() = 0;

  [[nodiscard]] virtual std::size_t tape_size(std::size_t tiles) const = 0;
  // What depends on the context alone, kept in the tape: rows with the same context need it once.
  virtual void condition(const T* /*context*/, std::size_t /*tiles*/, T* /*tape*/) const {}
  virtual void forward(const T* parameters, const T* input, std::size_t tiles, T* tape,
                       T* output) const = 0;

  [[nodiscard]] virtual std::size_t accumulator_size() const = 0;

  // Writes input_gradient; adds to context_gradient (unless null) and to the accumulator (unless
  // null).
  virtual void backward(const T* parameters, const T* input, const T* context, const T* tape,
                        const T* output_gradient, std::size_t tiles, T* input_gradient,
                        T* context_gradient, T* accumulator) const = 0;

  virtual void add_gradient(const T* accumulator, const EnergyBuffers<T>& buffers,
                            T* gradient) const = 0;
};

// Residual block of the paper (label alg:residual_block):
//   SiLU(alpha x + Linear(SiLU(LayerNorm(Linear(SiLU(LayerNorm(x))))))), linear layers spectral.
template <typename T>
std::unique_ptr<EnergyBlock<T>> make_residual_block(const std::string& name, std::size_t width,
                                                    ParameterLayout& parameters,
                                                    ParameterLayout& vectors);

// Conditional residual block of the paper (label alg:cond_residual_block):
//   SiLU(alpha x + gamma(c) * Linear(SiLU(Linear(x))) + beta(c)), gamma and beta MLPs with
//   `film_layers` layers.
// Differs from the paper where it is bounded: all layers of gamma and beta are spectral, and the
// body is that of the residual block above. Nothing else keeps f from growing without end.
template <typename T>
std::unique_ptr<EnergyBlock<T>> make_film_block(const std::string& name, std::size_t width,
                                                std::size_t context, std::size_t film_layers,
                                                bool bounded, ParameterLayout& parameters,
                                                ParameterLayout& vectors);

}  // namespace jeffreys
