// The network of an energy model on a run of tiles: spectral input layer, SiLU, blocks, one output.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "model/energy_block.h"

namespace jeffreys {

struct EnergyShape {
  std::size_t features;
  std::size_t context;
  std::size_t hidden;
  std::size_t blocks;
  std::size_t film_layers;  // 0: blocks without context
  bool bounded = false;     // of blocks with a context: see make_film_block
  bool confined = false;    // see kConfinement
};

template <typename T>
class EnergyNetwork {
 public:
  EnergyNetwork(const EnergyShape& shape, ParameterLayout& parameters, ParameterLayout& vectors);
  EnergyNetwork(const EnergyNetwork& other);
  EnergyNetwork& operator=(const EnergyNetwork&) = delete;

  [[nodiscard]] std::vector<EnergyLayer<T>*> layers();

  // Activations of a run of tiles; x and context are part of it.
  [[nodiscard]] std::size_t tape_size(std::size_t tiles) const;
  [[nodiscard]] T* x(T* tape) const { return tape; }
  [[nodiscard]] T* context(T* tape, std::size_t tiles) const;

  // For a new context in the tape, before forward; not needed again for the same context.
  void condition(std::size_t tiles, T* tape) const;
  // values[tiles * 64] = f(x | context)
  void forward(const T* parameters, std::size_t tiles, T* tape, T* values) const;

  [[nodiscard]] std::size_t accumulator_size() const;

  // From weights of the values. x_gradient and context_gradient (zeroed by the caller) and the
  // accumulator may be null.
  void backward(const T* parameters, const T* weights, std::size_t tiles, T* tape, T* x_gradient,
                T* context_gradient, T* accumulator) const;

  // Independent parts of an accumulator, so that threads can share the work: part p lies at
  // part_offset(p) and has part_size(p) elements.
  [[nodiscard]] std::size_t parts() const { return blocks_.size() + 2; }
  [[nodiscard]] std::size_t part_offset(std::size_t part) const;
  [[nodiscard]] std::size_t part_size(std::size_t part) const;
  void add_gradient(std::size_t part, const T* accumulator_part, const EnergyBuffers<T>& buffers,
                    T* gradient) const;

 private:
  // Offsets in the tape.
  [[nodiscard]] std::size_t first_activation(std::size_t tiles) const;
  [[nodiscard]] std::size_t hidden_size(std::size_t tiles) const;

  EnergyShape shape_;
  EnergyLayer<T> input_;
  std::vector<std::unique_ptr<EnergyBlock<T>>> blocks_;
  EnergyLayer<T> output_;
};

}  // namespace jeffreys
