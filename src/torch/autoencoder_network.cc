#include "jeffreys/torch/autoencoder_network.h"

#include <torch/autograd.h>
#include <torch/types.h>

#include <ATen/Parallel.h>

#include "torch/convolution.h"

namespace jeffreys {
namespace {

using torch::Tensor;

// Weights and bias of one layer.
struct LayerTensors {
  Tensor weight, bias;
};

constexpr std::int64_t kStride = 2;
constexpr std::int64_t kPadding = 1;
constexpr std::int64_t kEnd = 4;  // side of what the convolutions leave

class TorchNetwork final : public AutoencoderNetwork {
 public:
  explicit TorchNetwork(const AutoencoderOptions& options)
      : options_(options), layout_(options.layout()) {}

  [[nodiscard]] Matrix<float> encode(std::span<const float> parameters,
                                     const MatrixView<float>& pixels) const override {
    const torch::NoGradGuard guard;
    at::set_num_threads(1);
    return to_rows(encoded(bind(parameters), picture(pixels)));
  }

  [[nodiscard]] Matrix<float> decode(std::span<const float> parameters,
                                     const MatrixView<float>& latent) const override {
    const torch::NoGradGuard guard;
    at::set_num_threads(1);
    return to_rows(decoded(bind(parameters), rows(latent)));
  }

  double add_gradient(std::span<const float> parameters, const MatrixView<float>& pixels,
                      std::span<float> gradient) const override {
    at::set_num_threads(1);
    const std::vector<LayerTensors> layers = bind(parameters);
    std::vector<Tensor> leaves;
    for (const LayerTensors& layer : layers) {
      leaves.push_back(layer.weight.set_requires_grad(true));
      leaves.push_back(layer.bias.set_requires_grad(true));
    }
    const Tensor x = picture(pixels);
    const Tensor loss = (decoded(layers, encoded(layers, x)) - x).square().sum();
    const std::vector<Tensor> slopes = torch::autograd::grad({loss}, leaves);
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      const Tensor slope = slopes[i].contiguous();
      const float* values = slope.data_ptr<float>();
      float* target = gradient.data() + layout_.blocks()[i].offset;
      for (std::size_t k = 0; k < layout_.blocks()[i].size; ++k) target[k] += values[k];
    }
    return loss.item<double>();
  }

 private:
  // The parameters where they are: nothing is copied.
  [[nodiscard]] std::vector<LayerTensors> bind(std::span<const float> parameters) const {
    const auto tensor = [&](const ParameterBlock& block) {
      return torch::from_blob(const_cast<float*>(parameters.data()) + block.offset, block.shape);
    };
    std::vector<LayerTensors> layers;
    for (std::size_t i = 0; i < layout_.blocks().size(); i += 2) {
      layers.push_back({tensor(layout_.blocks()[i]), tensor(layout_.blocks()[i + 1])});
    }
    return layers;
  }

  static Tensor rows(const MatrixView<float>& matrix) {
    return torch::from_blob(const_cast<float*>(matrix.data()), {matrix.rows(), matrix.cols()},
                            {matrix.outerStride(), 1});
  }

  [[nodiscard]] Tensor picture(const MatrixView<float>& pixels) const {
    const auto side = static_cast<std::int64_t>(options_.size);
    return rows(pixels).reshape({-1, static_cast<std::int64_t>(options_.channels), side, side});
  }

  static Matrix<float> to_rows(const Tensor& tensor) {
    const Tensor flat = tensor.flatten(1).contiguous();
    return Eigen::Map<const Matrix<float>>(flat.data_ptr<float>(), flat.size(0), flat.size(1));
  }

  [[nodiscard]] Tensor encoded(const std::vector<LayerTensors>& layers, Tensor x) const {
    const std::size_t count = options_.layers();
    for (std::size_t i = 0; i < count; ++i) {
      x = torch::conv2d(x, layers[i].weight, layers[i].bias, kStride, kPadding).relu();
    }
    return linear_of_picture(x, layers[count].weight, layers[count].bias);
  }

  [[nodiscard]] Tensor decoded(const std::vector<LayerTensors>& layers, Tensor z) const {
    const std::size_t count = options_.layers();
    const LayerTensors& first = layers[count + 1];
    const Tensor points = z.reshape({z.size(0), z.size(1), 1, 1});
    Tensor x =
        linear_of_picture(points, first.weight, first.bias).reshape({z.size(0), -1, kEnd, kEnd});
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) x = x.relu();
      const LayerTensors& layer = layers[count + 2 + i];
      x = transposed_convolution(x, layer.weight, layer.bias, kStride, kPadding);
    }
    return x;
  }

  AutoencoderOptions options_;
  ParameterLayout layout_;
};

}  // namespace

std::unique_ptr<AutoencoderNetwork> make_autoencoder_network(const AutoencoderOptions& options) {
  options.validate();
  return std::make_unique<TorchNetwork>(options);
}

}  // namespace jeffreys
