// The first two layers of a ReLU network that sees one number u (a flow of two features without
// context, or of one feature with one context feature):
//   z_o(u) = sum_i B[o][i] relu(a_i u + b_i) + c_o
// is linear in u between the knots -b_i / a_i. So the layers are a table of slopes and offsets, one
// row for each piece, and the product of the two layers' widths leaves the cost of every row:
//   z_o = slope_j[o] u + offset_j[o]
// The gradients follow from two sums over the rows of each piece, G1 = sum g_o u and G0 = sum g_o:
//   dB[o][i] = a_i G1 + b_i G0,  da_i = sum_o B[o][i] G1,  db_i = sum_o B[o][i] G0
// over the pieces where unit i is active. Exact, up to rounding and up to rows that lie on a knot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/aligned.h"

namespace jeffreys {

template <typename T>
class ScalarLayers {
 public:
  // The first layer has `inputs` columns, of which only `column` is visible.
  ScalarLayers(std::size_t inputs, std::size_t column, std::size_t hidden, std::size_t outputs);

  // first_weight [hidden, inputs], first_bias [hidden], second_weight [outputs, hidden],
  // second_bias [outputs].
  void pack(const T* first_weight, const T* first_bias, const T* second_weight,
            const T* second_bias);

  // output [outputs][64] = relu(z(u)), for u [64]; piece [64] is for the backward pass.
  void forward(const T* u, T* output, T* piece) const;

  [[nodiscard]] std::size_t accumulator_size() const;

  // From d objective / dz: writes d objective / du, adds to the accumulator (unless null).
  void backward(const T* u, const T* piece, const T* output_gradient, T* input_gradient,
                T* accumulator) const;

  // Adds to the gradients, shaped as the weights. The weights must be those last packed.
  void add_gradient(const T* accumulator, const T* first_weight, const T* first_bias,
                    const T* second_weight, T* first_weight_gradient, T* first_bias_gradient,
                    T* second_weight_gradient, T* second_bias_gradient) const;

 private:
  // Pieces [begin, end) in which unit i is active.
  struct Active {
    std::size_t begin;
    std::size_t end;
  };
  [[nodiscard]] Active active(std::size_t unit, T weight, T bias) const;

  std::size_t inputs_;
  std::size_t column_;
  std::size_t hidden_;
  std::size_t outputs_;
  std::size_t stride_;
  std::vector<std::uint32_t> rank_;  // of each unit's knot
  kernels::AlignedVector<T> knots_;
  kernels::AlignedVector<T> table_;
};

}  // namespace jeffreys
