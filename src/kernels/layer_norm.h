// LayerNorm followed by SiLU, as in the paper's residual block: normalises each row over its
// features (biased variance, eps 1e-5), scales, shifts, and applies SiLU.
#pragma once

#include <cstddef>

#include "kernels/tile.h"

namespace jeffreys::kernels {

inline constexpr double kLayerNormEps = 1e-5;

// One tile.
template <typename T>
struct NormSiluArguments {
  std::size_t width;
  const T* input;   // [width][64]
  const T* weight;  // [width]
  const T* bias;    // [width]
  T* output;        // [width][64]
  T* slope;         // [width][64]: SiLU's derivative, for the backward pass; or null
  T* mean;          // [64]
  T* inverse_std;   // [64]
};

void norm_silu(const NormSiluArguments<float>&);
void norm_silu(const NormSiluArguments<double>&);

template <typename T>
struct NormSiluBackwardArguments {
  std::size_t width;
  const T* input;  // as in the forward pass
  const T* weight;
  const T* slope;
  const T* mean;
  const T* inverse_std;
  T* output_gradient;  // [width][64]; overwritten
  T* input_gradient;   // [width][64]
  bool accumulate;     // input_gradient += instead of =
  T* weight_gradient;  // [width], +=; null together with bias_gradient
  T* bias_gradient;    // [width], +=
};

void norm_silu_backward(const NormSiluBackwardArguments<float>&);
void norm_silu_backward(const NormSiluBackwardArguments<double>&);

}  // namespace jeffreys::kernels
