// A linear layer on tiles, masked by degrees: output o sees input i exactly if degree(i) <=
// degree(o). Units are kept sorted by degree, which turns every mask into a range; a layer whose
// degrees are all equal is an ordinary dense layer. Weights come and go in the natural order (out,
// in) of the parameter buffer, tiles are in sorted order. Where several tiles go through a layer
// together, their activations are [tiles][width][64].
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/aligned.h"
#include "kernels/dense.h"
#include "kernels/weight_gradient.h"

namespace jeffreys {

template <typename T>
class TileLayer {
 public:
  TileLayer(const std::vector<std::int64_t>& input_degrees,
            const std::vector<std::int64_t>& output_degrees);

  // A layer without a mask.
  static TileLayer dense(std::size_t inputs, std::size_t outputs);

  [[nodiscard]] std::size_t inputs() const { return input_order_.size(); }
  [[nodiscard]] std::size_t outputs() const { return output_order_.size(); }
  [[nodiscard]] bool allowed(std::size_t output, std::size_t input) const {
    return input_degrees_[input] <= output_degrees_[output];
  }

  // Sorted position -> natural index.
  [[nodiscard]] const std::vector<std::uint32_t>& input_order() const { return input_order_; }
  [[nodiscard]] const std::vector<std::uint32_t>& output_order() const { return output_order_; }

  // Takes over new weights [out, in] and biases [out].
  void pack(const T* weight, const T* bias);

  // Outputs without any input are left out: their value, the bias, is the same for all rows.
  void forward(const T* input, T* output, bool relu, T scale = 1, std::size_t tiles = 1) const;

  // Only the outputs of one degree, for the incremental inverse.
  void forward_degree(std::int64_t degree, const T* input, T* output, bool relu) const;

  // d objective / d input from d objective / d output; zero where `gate` (the input after its ReLU)
  // is not above zero.
  void backward(const T* output_gradient, const T* gate, T* input_gradient, T scale = 1,
                std::size_t tiles = 1) const;

  // The weights' gradient is summed over tiles in an accumulator of this many elements, in sorted
  // order, and brought to the natural order once, by add_gradient.
  [[nodiscard]] std::size_t accumulator_size() const;
  void accumulate(const T* output_gradient, const T* input, T* accumulator,
                  std::size_t tiles = 1) const;
  [[nodiscard]] std::size_t scratch_size(std::size_t tiles) const;

  // weight_gradient += the accumulator's masked weights (exactly nothing for the others), alike for
  // the biases.
  void add_gradient(const T* accumulator, T* weight_gradient, T* bias_gradient) const;

  // The accumulator's biases [outputs], and row o of its weights, both sorted.
  [[nodiscard]] const T* bias_sums(const T* accumulator) const { return accumulator; }
  [[nodiscard]] const T* weight_sums(const T* accumulator, std::size_t o) const {
    return accumulator + kernels::gradient_stride(outputs()) +
           o * kernels::gradient_stride(inputs());
  }

 private:
  void make_forward_blocks();
  void make_backward_blocks();
  void make_gradient_blocks();
  [[nodiscard]] std::size_t visible_inputs(std::size_t sorted_output) const;

  std::vector<std::int64_t> input_degrees_;   // natural order
  std::vector<std::int64_t> output_degrees_;  // natural order
  std::vector<std::uint32_t> input_order_;
  std::vector<std::uint32_t> output_order_;
  std::vector<std::uint32_t> visible_;  // for each sorted output, how many sorted inputs it sees

  std::vector<kernels::DenseBlock> forward_blocks_;
  std::vector<std::size_t> degree_begin_;  // first forward block of each degree, and the end
  std::vector<kernels::DenseBlock> backward_blocks_;
  std::vector<kernels::GradientBlock> gradient_blocks_;
  kernels::AlignedVector<T> forward_weights_;
  kernels::AlignedVector<T> backward_weights_;
  kernels::AlignedVector<T> bias_;  // sorted
};

}  // namespace jeffreys
