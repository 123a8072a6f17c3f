// SiLU with the sums that come before it in the paper's residual blocks:
//   pre = gamma * input + beta + alpha * residual;  output = pre * sigmoid(pre)
// gamma, beta and residual are optional. Tiles are contiguous: `size` elements in all.
#pragma once

#include <cstddef>

#include "kernels/tile.h"

namespace jeffreys::kernels {

template <typename T>
struct SiluArguments {
  std::size_t size;  // a multiple of 64
  const T* input;
  const T* gamma = nullptr;
  const T* beta = nullptr;
  const T* residual = nullptr;
  T alpha = 1;
  T* output;
  T* slope = nullptr;  // d output / d pre, for the backward pass
};

void silu(const SiluArguments<float>&);
void silu(const SiluArguments<double>&);

// Writes the gradients that are asked for. Without gamma the input's and beta's gradients coincide.
template <typename T>
struct SiluBackwardArguments {
  std::size_t size;
  const T* output_gradient;
  const T* slope;
  const T* input = nullptr;  // needed for gamma_gradient
  const T* gamma = nullptr;
  const T* residual = nullptr;
  T alpha = 1;
  T* input_gradient;
  T* gamma_gradient = nullptr;
  T* beta_gradient = nullptr;
  T* residual_gradient = nullptr;
  T* alpha_gradient = nullptr;  // one number, +=
};

void silu_backward(const SiluBackwardArguments<float>&);
void silu_backward(const SiluBackwardArguments<double>&);

}  // namespace jeffreys::kernels
