#include "torch/inception.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/checks.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/safetensors.h"
#include "jeffreys/torch/inception_features.h"

namespace jeffreys {

void ImageBatch::validate() const {
  const auto size_of = [](const char* field, std::size_t size) {
    check_between(field, static_cast<std::int64_t>(size), 1, kMostUnits);
  };
  size_of("ImageBatch.height", height);
  size_of("ImageBatch.width", width);
  if (channels != 1 && channels != 3) {
    throw std::invalid_argument(
        fmt::format("ImageBatch.channels: expected 1 or 3, got {}", channels));
  }
  check_size("ImageBatch.pixels", static_cast<std::int64_t>(pixels.size()),
             static_cast<std::int64_t>(count * height * width * channels));
}

namespace inception {
namespace {

using torch::Tensor;

constexpr double kVarianceGuard = 1e-3;  // eps of every normalisation
constexpr std::int64_t kSide = 299;

Tensor max_pool(const Tensor& x) { return at::max_pool2d(x, {3, 3}, {2, 2}); }

Shapes shapes_of(const storage::Arrays& tensors) {
  Shapes shapes;
  for (const auto& [name, array] : tensors) shapes.emplace(name, array.shape);
  return shapes;
}

Tensor tensor_of(const storage::Arrays& tensors, const std::string& name) {
  const storage::Array& array = tensors.at(name);
  const std::vector<float> values = array.values<float>();
  if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) {
    throw std::invalid_argument(fmt::format("tensor '{}' has numbers that are not finite", name));
  }
  return torch::tensor(values).view(array.shape).to(torch::kDouble);
}

}  // namespace

Tensor average_pool(const Tensor& x) {
  return at::avg_pool2d(x, {3, 3}, {1, 1}, {1, 1}, false, /*count_include_pad=*/false);
}

Tensor to_unit_range(const ImageBatch& images) {
  const auto size = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  const Tensor bytes = torch::empty(
      {size(images.count), size(images.height), size(images.width), size(images.channels)},
      torch::kUInt8);
  std::copy(images.pixels.begin(), images.pixels.end(), bytes.data_ptr<std::uint8_t>());
  const Tensor numbers = bytes.permute({0, 3, 1, 2}).to(torch::kFloat).div(255.0).contiguous();
  return images.channels == 3 ? numbers : numbers.expand({-1, 3, -1, -1});
}

Tensor to_input(const Tensor& unit) {
  return at::upsample_bilinear2d(unit, {kSide, kSide}, /*align_corners=*/false).mul(2).sub(1);
}

Network::Network(const storage::Arrays& tensors) {
  const std::string other = difference(shapes_of(tensors));
  if (!other.empty()) throw std::invalid_argument(other);
  for (const Convolution& convolution : convolutions()) add(convolution, tensors);
}

// The normalisation of a trained network is a factor and a number for each channel; the factor goes
// into the weights.
void Network::add(const Convolution& convolution, const storage::Arrays& tensors) {
  const auto part = [&](const char* name) {
    return tensor_of(tensors, fmt::format("{}.{}", convolution.name, name));
  };
  const Tensor variance = part("bn.running_var");
  if (variance.lt(0).any().item<bool>()) {
    throw std::invalid_argument(
        fmt::format("tensor '{}.bn.running_var' has negative numbers", convolution.name));
  }
  const Tensor factor = part("bn.weight") / (variance + kVarianceGuard).sqrt();
  const Tensor weight = part("conv.weight") * factor.view({-1, 1, 1, 1});
  const Tensor bias = part("bn.bias") - part("bn.running_mean") * factor;
  layers_.emplace(convolution.name, Layer{.weight = weight.to(torch::kFloat),
                                          .bias = bias.to(torch::kFloat),
                                          .stride = convolution.stride,
                                          .padding = convolution.padding});
}

Tensor Network::layer(const std::string& name, const Tensor& x) const {
  const Layer& layer = layers_.at(name);
  return at::conv2d(x, layer.weight, layer.bias, layer.stride, layer.padding).relu_();
}

Tensor Network::chain(const std::string& prefix, const Names& names, Tensor x) const {
  for (const std::string_view name : names) x = layer(fmt::format("{}.{}", prefix, name), x);
  return x;
}

Tensor Network::block_a(const std::string& name, const Tensor& x) const {
  return at::cat({chain(name, {"branch1x1"}, x), chain(name, {"branch5x5_1", "branch5x5_2"}, x),
                  chain(name, {"branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"}, x),
                  chain(name, {"branch_pool"}, average_pool(x))},
                 1);
}

Tensor Network::block_b(const std::string& name, const Tensor& x) const {
  return at::cat(
      {chain(name, {"branch3x3"}, x),
       chain(name, {"branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"}, x), max_pool(x)},
      1);
}

Tensor Network::block_c(const std::string& name, const Tensor& x) const {
  return at::cat(
      {chain(name, {"branch1x1"}, x), chain(name, {"branch7x7_1", "branch7x7_2", "branch7x7_3"}, x),
       chain(name,
             {"branch7x7dbl_1", "branch7x7dbl_2", "branch7x7dbl_3", "branch7x7dbl_4",
              "branch7x7dbl_5"},
             x),
       chain(name, {"branch_pool"}, average_pool(x))},
      1);
}

Tensor Network::block_d(const std::string& name, const Tensor& x) const {
  return at::cat(
      {chain(name, {"branch3x3_1", "branch3x3_2"}, x),
       chain(name, {"branch7x7x3_1", "branch7x7x3_2", "branch7x7x3_3", "branch7x7x3_4"}, x),
       max_pool(x)},
      1);
}

Tensor Network::block_e(const std::string& name, const Tensor& x, bool by_maximum) const {
  const Tensor single = chain(name, {"branch3x3_1"}, x);
  const Tensor twice = chain(name, {"branch3x3dbl_1", "branch3x3dbl_2"}, x);
  const Tensor pooled = by_maximum ? at::max_pool2d(x, {3, 3}, {1, 1}, {1, 1}) : average_pool(x);
  return at::cat({chain(name, {"branch1x1"}, x), chain(name, {"branch3x3_2a"}, single),
                  chain(name, {"branch3x3_2b"}, single), chain(name, {"branch3x3dbl_3a"}, twice),
                  chain(name, {"branch3x3dbl_3b"}, twice), chain(name, {"branch_pool"}, pooled)},
                 1);
}

Tensor Network::apply(const Step& step, const Tensor& x) const {
  switch (step.kind) {
    case Kind::layer: return layer(step.name, x);
    case Kind::max_pool: return max_pool(x);
    case Kind::a: return block_a(step.name, x);
    case Kind::b: return block_b(step.name, x);
    case Kind::c: return block_c(step.name, x);
    case Kind::d: return block_d(step.name, x);
    case Kind::e_average: return block_e(step.name, x, false);
    case Kind::e_max: return block_e(step.name, x, true);
    case Kind::mean: return x.mean({2, 3});
  }
  throw std::logic_error("a step of no kind");
}

Tensor Network::features(const Tensor& input) const {
  Tensor x = input;
  for (const Step& step : steps()) x = apply(step, x);
  return x;
}

}  // namespace inception

class InceptionFeatures::Impl {
 public:
  explicit Impl(const storage::Arrays& tensors) : network(tensors) {}
  inception::Network network;
};

InceptionFeatures::InceptionFeatures(const std::filesystem::path& weights) {
  const storage::TensorFile file = storage::read_safetensors(weights);
  try {
    impl_ = std::make_unique<Impl>(file.tensors);
  } catch (const std::invalid_argument& error) {
    throw InputError(weights.string(),
                     fmt::format("not the weights of pytorch-fid's Inception-v3 ({}): convert "
                                 "pt_inception-2015-12-05-6726825d.pth by tools/convert_inception",
                                 error.what()));
  }
}
InceptionFeatures::~InceptionFeatures() = default;
InceptionFeatures::InceptionFeatures(InceptionFeatures&&) noexcept = default;
InceptionFeatures& InceptionFeatures::operator=(InceptionFeatures&&) noexcept = default;

Matrix<double> InceptionFeatures::features(const ImageBatch& images,
                                           const std::function<void(std::size_t)>& progress) const {
  images.validate();
  constexpr std::size_t kAtOnce = 8;  // about 100 MB for the first layers
  Matrix<double> result(static_cast<Eigen::Index>(images.count), kFeatures);
  for (std::size_t first = 0; first < images.count; first += kAtOnce) {
    const std::size_t rows = std::min(kAtOnce, images.count - first);
    const torch::Tensor input =
        inception::to_input(inception::to_unit_range(images.part(first, rows)));
    const torch::Tensor found = impl_->network.features(input).contiguous();
    result.middleRows(static_cast<Eigen::Index>(first), static_cast<Eigen::Index>(rows)) =
        Eigen::Map<const Matrix<float>>(found.data_ptr<float>(), found.size(0), kFeatures)
            .cast<double>();
    if (progress) progress(first + rows);
  }
  return result;
}

}  // namespace jeffreys
