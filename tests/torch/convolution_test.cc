// The two layers against libtorch's own: values and gradients, in both precisions.
#include "torch/convolution.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/torch.h>

#include <functional>
#include <vector>

namespace jeffreys {
namespace {

using torch::Tensor;
using Layer = std::function<Tensor(const std::vector<Tensor>&)>;

// The value, and the gradients of a weighted sum of it with respect to picture, weights and bias.
std::vector<Tensor> value_and_gradients(const Layer& layer, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> leaves;
  for (const Tensor& input : inputs) leaves.push_back(input.detach().set_requires_grad(true));
  const Tensor value = layer(leaves);
  const Tensor upstream = torch::arange(value.numel(), value.options()).cos().view(value.sizes());
  std::vector<Tensor> result = torch::autograd::grad({value}, leaves, {upstream});
  result.push_back(value.detach());
  return result;
}

void expect_same(const Layer& layer, const Layer& reference, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> actual = value_and_gradients(layer, inputs);
  const std::vector<Tensor> expected = value_and_gradients(reference, inputs);
  const double tolerance = inputs[0].scalar_type() == torch::kFloat64 ? 1e-12 : 2e-5;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(actual[i].sizes(), expected[i].sizes());
    const double size = expected[i].abs().max().item<double>();
    ASSERT_GT(size, 0);
    EXPECT_LT((actual[i] - expected[i]).abs().max().item<double>(), tolerance * size) << i;
  }
}

class Convolution : public ::testing::TestWithParam<torch::ScalarType> {
 protected:
  void SetUp() override { torch::manual_seed(1); }
  static Tensor normals(std::vector<std::int64_t> sizes) {
    return torch::randn(sizes, torch::dtype(GetParam()));
  }
};

TEST_P(Convolution, TransposedIsThatOfLibtorch) {
  struct Case {
    std::int64_t pictures, in, side, out, kernel, stride, padding;
  };
  for (const Case& c : {Case{3, 5, 4, 7, 4, 2, 1}, Case{40, 16, 8, 3, 4, 2, 1},
                        Case{1, 2, 5, 3, 3, 1, 0}, Case{2, 1, 3, 1, 5, 3, 2}}) {
    expect_same(
        [&](const std::vector<Tensor>& of) {
          return transposed_convolution(of[0], of[1], of[2], c.stride, c.padding);
        },
        [&](const std::vector<Tensor>& of) {
          return torch::conv_transpose2d(of[0], of[1], of[2], c.stride, c.padding);
        },
        {normals({c.pictures, c.in, c.side, c.side}), normals({c.in, c.out, c.kernel, c.kernel}),
         normals({c.out})});
  }
}

TEST_P(Convolution, LinearOfPictureIsThatOfLibtorch) {
  struct Case {
    std::int64_t pictures, channels, side, out;
  };
  for (const Case& c : {Case{33, 12, 4, 9}, Case{2, 20, 1, 64}, Case{1, 3, 2, 1}}) {
    expect_same(
        [](const std::vector<Tensor>& of) { return linear_of_picture(of[0], of[1], of[2]); },
        [](const std::vector<Tensor>& of) { return torch::linear(of[0].flatten(1), of[1], of[2]); },
        {normals({c.pictures, c.channels, c.side, c.side}),
         normals({c.out, c.channels * c.side * c.side}), normals({c.out})});
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, Convolution,
                         ::testing::Values(torch::kFloat32, torch::kFloat64),
                         [](const auto& made) { return std::string(toString(made.param)); });

}  // namespace
}  // namespace jeffreys
