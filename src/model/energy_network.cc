#include "model/energy_network.h"

#include "kernels/scratch.h"
#include "kernels/silu.h"

namespace jeffreys {

using kernels::kTileRows;

namespace {

template <typename T>
std::vector<std::unique_ptr<EnergyBlock<T>>> make_blocks(const EnergyShape& shape,
                                                         ParameterLayout& parameters,
                                                         ParameterLayout& vectors) {
  std::vector<std::unique_ptr<EnergyBlock<T>>> blocks;
  for (std::size_t b = 0; b < shape.blocks; ++b) {
    const std::string name = "blocks." + std::to_string(b);
    blocks.push_back(shape.film_layers > 0
                         ? make_film_block<T>(name, shape.hidden, shape.context, shape.film_layers,
                                              shape.bounded, parameters, vectors)
                         : make_residual_block<T>(name, shape.hidden, parameters, vectors));
  }
  return blocks;
}

}  // namespace

template <typename T>
EnergyNetwork<T>::EnergyNetwork(const EnergyShape& shape, ParameterLayout& parameters,
                                ParameterLayout& vectors)
    : shape_(shape),
      input_("inp", shape.features, shape.hidden, Spectral::yes, parameters, vectors),
      blocks_(make_blocks<T>(shape, parameters, vectors)),
      output_("out", shape.hidden, 1, Spectral::no, parameters, vectors) {}

template <typename T>
EnergyNetwork<T>::EnergyNetwork(const EnergyNetwork& other)
    : shape_(other.shape_), input_(other.input_), output_(other.output_) {
  for (const auto& block : other.blocks_) blocks_.push_back(block->clone());
}

template <typename T>
std::vector<EnergyLayer<T>*> EnergyNetwork<T>::layers() {
  std::vector<EnergyLayer<T>*> all = {&input_};
  for (const auto& block : blocks_) {
    for (EnergyLayer<T>* layer : block->layers()) all.push_back(layer);
  }
  all.push_back(&output_);
  return all;
}

template <typename T>
std::size_t EnergyNetwork<T>::hidden_size(std::size_t tiles) const {
  return tiles * shape_.hidden * kTileRows;
}

template <typename T>
std::size_t EnergyNetwork<T>::first_activation(std::size_t tiles) const {
  return tiles * (shape_.features + shape_.context) * kTileRows;
}

// x, context, SiLU(input layer) and its slope, then for every block its tape and its output.
template <typename T>
std::size_t EnergyNetwork<T>::tape_size(std::size_t tiles) const {
  std::size_t size = first_activation(tiles) + 2 * hidden_size(tiles);
  for (const auto& block : blocks_) size += block->tape_size(tiles) + hidden_size(tiles);
  return size;
}

template <typename T>
T* EnergyNetwork<T>::context(T* tape, std::size_t tiles) const {
  return tape + tiles * shape_.features * kTileRows;
}

template <typename T>
void EnergyNetwork<T>::condition(std::size_t tiles, T* tape) const {
  T* next = tape + first_activation(tiles) + 2 * hidden_size(tiles);
  for (const auto& block : blocks_) {
    block->condition(context(tape, tiles), tiles, next);
    next += block->tape_size(tiles) + hidden_size(tiles);
  }
}

template <typename T>
void EnergyNetwork<T>::forward(const T* parameters, std::size_t tiles, T* tape, T* values) const {
  T* activation = tape + first_activation(tiles);
  T* slope = activation + hidden_size(tiles);
  input_.forward(x(tape), activation, tiles);
  kernels::silu(kernels::SiluArguments<T>{
      .size = hidden_size(tiles), .input = activation, .output = activation, .slope = slope});
  T* next = slope + hidden_size(tiles);
  for (const auto& block : blocks_) {
    T* output = next + block->tape_size(tiles);
    block->forward(parameters, activation, tiles, next, output);
    activation = output;
    next = output + hidden_size(tiles);
  }
  output_.forward(activation, values, tiles);
}

template <typename T>
std::size_t EnergyNetwork<T>::part_offset(std::size_t part) const {
  std::size_t offset = 0;
  for (std::size_t p = 0; p < part; ++p) offset += part_size(p);
  return offset;
}

template <typename T>
std::size_t EnergyNetwork<T>::part_size(std::size_t part) const {
  if (part == 0) return input_.accumulator_size();
  if (part == parts() - 1) return output_.accumulator_size();
  return blocks_[part - 1]->accumulator_size();
}

template <typename T>
std::size_t EnergyNetwork<T>::accumulator_size() const {
  return part_offset(parts());
}

template <typename T>
void EnergyNetwork<T>::backward(const T* parameters, const T* weights, std::size_t tiles, T* tape,
                                T* x_gradient, T* context_gradient, T* accumulator) const {
  Scratch::Frame frame;
  const auto sums = [&](std::size_t part) {
    return accumulator ? accumulator + part_offset(part) : nullptr;
  };
  const T* activation = blocks_.empty() ? tape + first_activation(tiles)
                                        : tape + tape_size(tiles) - hidden_size(tiles);
  T* gradient = frame.take<T>(hidden_size(tiles));
  T* before = frame.take<T>(hidden_size(tiles));
  if (accumulator) output_.accumulate(weights, activation, sums(parts() - 1), tiles);
  output_.backward(weights, gradient, tiles);
  for (std::size_t b = blocks_.size(); b-- > 0;) {
    const T* block_tape = activation - blocks_[b]->tape_size(tiles);
    const T* input = b > 0 ? block_tape - hidden_size(tiles) : tape + first_activation(tiles);
    blocks_[b]->backward(parameters, input, context(tape, tiles), block_tape, gradient, tiles,
                         before, context_gradient, sums(b + 1));
    std::swap(gradient, before);
    activation = input;
  }
  kernels::silu_backward(kernels::SiluBackwardArguments<T>{
      .size = hidden_size(tiles),
      .output_gradient = gradient,
      .slope = tape + first_activation(tiles) + hidden_size(tiles),
      .input_gradient = gradient});
  if (accumulator) input_.accumulate(gradient, x(tape), sums(0), tiles);
  if (x_gradient) input_.backward(gradient, x_gradient, tiles);
}

template <typename T>
void EnergyNetwork<T>::add_gradient(std::size_t part, const T* accumulator_part,
                                    const EnergyBuffers<T>& buffers, T* gradient) const {
  if (part == 0) {
    input_.add_gradient(accumulator_part, buffers.parameters, buffers.vectors, gradient);
  } else if (part == parts() - 1) {
    output_.add_gradient(accumulator_part, buffers.parameters, buffers.vectors, gradient);
  } else {
    blocks_[part - 1]->add_gradient(accumulator_part, buffers, gradient);
  }
}

template class EnergyNetwork<float>;
template class EnergyNetwork<double>;

}  // namespace jeffreys
