// A triangular affine transform: y = L (x - m), where L is lower triangular and its diagonal,
// stored as logarithms, is positive. It starts as the identity. As the first transform of a flow it
// takes the correlations out, so that the splines need not learn them.
#pragma once

#include <string>

#include "model/flow_transform.h"

namespace jeffreys {

template <typename T>
class AffineTransform final : public FlowTransform<T> {
 public:
  // Appends the transform's parameters to the layout.
  AffineTransform(std::size_t features, const std::string& name, ParameterLayout& layout);

  [[nodiscard]] std::unique_ptr<FlowTransform<T>> clone() const override;
  void pack(const T* parameters) override;
  [[nodiscard]] std::size_t tape_size() const override;
  void forward(const T* x, const T* context, T* tape, T* y, T* log_determinant) const override;
  void inverse(const T* y, const T* context, T* tape, T* x, T* log_determinant) const override;
  [[nodiscard]] std::size_t accumulator_size() const override;
  void backward(const T* tape, const T* output_gradient, const T* log_determinant_gradient,
                T* input_gradient, T* context_gradient, T* accumulator) const override;
  void add_gradient(const T* accumulator, const T* parameters, T* gradient) const override;
  [[nodiscard]] std::vector<std::uint8_t> mask(const ParameterBlock& block) const override;

 private:
  // Row i of L has i + 1 numbers.
  [[nodiscard]] static std::size_t place(std::size_t i, std::size_t j) {
    return i * (i + 1) / 2 + j;
  }

  std::size_t features_;
  std::size_t shift_;  // offsets in the flat buffer
  std::size_t log_diagonal_;
  std::size_t lower_;
  std::vector<T> means_;   // m
  std::vector<T> factor_;  // L
  T log_determinant_ = 0;
};

}  // namespace jeffreys
