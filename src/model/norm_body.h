// The inside of a residual block on runs of tiles:
//   Linear(SiLU(LayerNorm(Linear(SiLU(LayerNorm(x)))))), both linear layers spectral.
// However large its input is, its output is not: LayerNorm takes the scale away, and spectral
// layers do not bring one back.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/energy_layer.h"

namespace jeffreys {

// LayerNorm followed by SiLU.
template <typename T>
class NormSilu {
 public:
  NormSilu(const std::string& name, std::size_t width, ParameterLayout& parameters);

  // Output, slope, mean, inverse standard deviation.
  [[nodiscard]] std::size_t tape_size(std::size_t tiles) const;
  void forward(const T* parameters, const T* input, std::size_t tiles, T* tape) const;

  [[nodiscard]] std::size_t accumulator_size() const;
  // Adds to input_gradient or writes it.
  void backward(const T* parameters, const T* input, const T* tape, T* output_gradient,
                std::size_t tiles, bool add, T* input_gradient, T* accumulator) const;
  void add_gradient(const T* accumulator, T* gradient) const;

 private:
  std::size_t width_;
  std::size_t weight_;  // offsets in the parameters
  std::size_t bias_;
};

template <typename T>
class NormBody {
 public:
  // Parameters are called <name>.ln1, .lin1, .ln2 and .lin2.
  NormBody(const std::string& name, std::size_t width, ParameterLayout& parameters,
           ParameterLayout& vectors);

  [[nodiscard]] std::vector<EnergyLayer<T>*> layers() { return {&linear1_, &linear2_}; }

  [[nodiscard]] std::size_t tape_size(std::size_t tiles) const;
  void forward(const T* parameters, const T* input, std::size_t tiles, T* tape, T* output) const;

  [[nodiscard]] std::size_t accumulator_size() const;
  // Adds to input_gradient or writes it; adds to the accumulator unless it is null. `gradient` of
  // the output is overwritten.
  void backward(const T* parameters, const T* input, const T* tape, T* gradient, std::size_t tiles,
                bool add, T* input_gradient, T* accumulator) const;
  void add_gradient(const T* accumulator, const T* parameters, const T* vectors, T* gradient) const;

 private:
  struct Tape {
    T* norm1;
    T* middle;  // output of the first linear layer
    T* norm2;
  };
  template <typename U>
  struct Sums {
    U* norm1;
    U* norm2;
    U* linear1;
    U* linear2;
  };
  [[nodiscard]] std::size_t size(std::size_t tiles) const;
  Tape split(T* tape, std::size_t tiles) const;
  template <typename U>
  Sums<U> split_sums(U* accumulator) const;

  std::size_t width_;
  NormSilu<T> norm1_;
  EnergyLayer<T> linear1_;
  NormSilu<T> norm2_;
  EnergyLayer<T> linear2_;
};

}  // namespace jeffreys
