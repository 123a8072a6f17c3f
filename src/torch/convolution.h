// Convolutions and linear layers by oneDNN. libtorch gives it convolutions only; transposed ones
// and matrix products go to BLAS, which is many times slower where it is Debian's reference one.
#pragma once

#include <torch/types.h>

namespace jeffreys {

// at::conv_transpose2d, with weights [inputs, outputs, kernel, kernel]: the gradient of a
// convolution with respect to its input. Can be differentiated once.
torch::Tensor transposed_convolution(const torch::Tensor& x, const torch::Tensor& weight,
                                     const torch::Tensor& bias, std::int64_t stride,
                                     std::int64_t padding);

// at::linear of all values of each picture [n, channels, height, width], as a convolution whose
// kernel is as large as the picture: [n, outputs].
torch::Tensor linear_of_picture(const torch::Tensor& x, const torch::Tensor& weight,
                                const torch::Tensor& bias);

}  // namespace jeffreys
