#include "torch/convolution.h"

#include <torch/autograd.h>

#include <array>

namespace jeffreys {
namespace {

using torch::Tensor;

struct Geometry {
  std::int64_t stride;
  std::int64_t padding;
};

// Of the convolution from `image` to `small`: its gradient with respect to the image, or to the
// weights, given that of its result.
enum class Wanted { image, weight };

Tensor convolution_gradient(const Tensor& small_gradient, const Tensor& image, const Tensor& weight,
                            const Geometry& geometry, Wanted wanted) {
  const bool of_image = wanted == Wanted::image;
  const std::array<std::int64_t, 2> stride = {geometry.stride, geometry.stride};
  const std::array<std::int64_t, 2> padding = {geometry.padding, geometry.padding};
  const auto [image_gradient, weight_gradient, bias_gradient] =
      at::convolution_backward(small_gradient, image, weight, at::OptionalIntArrayRef(), stride,
                               padding, {1, 1}, false, {0, 0}, 1, {of_image, !of_image, false});
  return of_image ? image_gradient : weight_gradient;
}

class TransposedConvolution : public torch::autograd::Function<TransposedConvolution> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x,
                        const Tensor& weight, const Tensor& bias, std::int64_t stride,
                        std::int64_t padding) {
    context->save_for_backward({x, weight});
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    const auto side = [&](int d) {
      return (x.size(d) - 1) * stride - 2 * padding + weight.size(d);
    };
    // Only its shape counts.
    const Tensor image = torch::empty({x.size(0), weight.size(1), side(2), side(3)}, x.options());
    return convolution_gradient(x, image, weight, {stride, padding}, Wanted::image) +
           bias.view({1, -1, 1, 1});
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& gradients) {
    const torch::autograd::tensor_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], gradient = gradients[0].contiguous();
    const Geometry geometry{context->saved_data["stride"].toInt(),
                            context->saved_data["padding"].toInt()};
    return {at::conv2d(gradient, weight, {}, geometry.stride, geometry.padding),
            convolution_gradient(x, gradient, weight, geometry, Wanted::weight),
            gradient.sum({0, 2, 3}), Tensor(), Tensor()};
  }
};

}  // namespace

Tensor transposed_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              std::int64_t stride, std::int64_t padding) {
  return TransposedConvolution::apply(x, weight, bias, stride, padding);
}

Tensor linear_of_picture(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor kernel = weight.view({weight.size(0), x.size(1), x.size(2), x.size(3)});
  return at::conv2d(x, kernel, bias).flatten(1);
}

}  // namespace jeffreys
