// One AdamW step on a flat buffer, as torch.optim.AdamW takes it:
//   p *= 1 - rate * decay;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
//   p -= rate / (1 - b1^t) * m / (sqrt(v / (1 - b2^t)) + eps)
// With beta1 = 0 (the paper's setting) m is the gradient itself and no first moment is kept.
#pragma once

#include <cstddef>

namespace jeffreys::kernels {

template <typename T>
struct AdamWArguments {
  std::size_t size;
  T* parameters;
  const T* gradient;
  T* first_moment;  // null exactly if beta1 == 0
  T* second_moment;
  double learning_rate;
  double beta1 = 0.0;
  double beta2 = 0.9;
  double tolerance = 1e-8;  // eps in the formula above
  double weight_decay = 0.0;
  std::size_t step;              // t, from 1
  double gradient_factor = 1.0;  // multiplies the gradient first: clipping costs no pass of its own
};

void adamw(const AdamWArguments<float>&);
void adamw(const AdamWArguments<double>&);

}  // namespace jeffreys::kernels
