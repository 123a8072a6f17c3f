// Inception-v3 for FID: layers and pools by hand in double, each step and the features against the
// same network of PyTorch's modules (tests/golden/inception.py), and what is refused. The weights
// are made from a hash, since the real ones are not ours to pass on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "jeffreys/storage/safetensors.h"
#include "jeffreys/torch/inception_features.h"
#include "support/golden.h"
#include "support/mistake_of.h"
#include "support/refusal_of.h"
#include "support/scratch_folder.h"
#include "torch/inception.h"

namespace jeffreys {
namespace {

using inception::Network;
using inception::Shapes;
using storage::Array;
using storage::Arrays;
using testing::Golden;
using ::testing::HasSubstr;
using testing::mistake_of;
using torch::Tensor;

// As in tests/golden/inception.py.
std::vector<double> hashed(std::size_t size, std::uint32_t stream) {
  std::vector<double> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    auto h = static_cast<std::uint32_t>(i) + 0x9E3779B9U * (stream + 1);
    h ^= h >> 16U;
    h *= 0x85EBCA6BU;
    h ^= h >> 13U;
    h *= 0xC2B2AE35U;
    h ^= h >> 16U;
    values[i] = static_cast<double>(h >> 8U) / 16777216.0;
  }
  return values;
}

Array hashed_tensor(const std::string& name, const std::vector<std::int64_t>& shape,
                    std::uint32_t stream) {
  std::int64_t size = 1;
  for (const std::int64_t n : shape) size *= n;
  std::vector<float> values;
  for (const double u : hashed(static_cast<std::size_t>(size), stream)) {
    double value = 0.1 * (2 * u - 1);
    if (name.ends_with("bn.weight") || name.ends_with("bn.running_var")) value = 0.5 + u;
    if (name.ends_with("conv.weight")) {
      value =
          (2 * u - 1) * std::sqrt(6.0 * static_cast<double>(shape[0]) / static_cast<double>(size));
    }
    values.push_back(static_cast<float>(value));
  }
  return Array::from<float>(shape, values);
}

const Arrays& hashed_weights() {
  static const Arrays all = [] {
    Arrays arrays;
    std::uint32_t stream = 0;
    for (const auto& [name, shape] : inception::expected_shapes()) {
      arrays[name] = hashed_tensor(name, shape, stream++);
    }
    return arrays;
  }();
  return all;
}

const Network& hashed_network() {
  static const Network network(hashed_weights());
  return network;
}

struct Pictures {
  std::vector<std::uint8_t> pixels;
  ImageBatch batch;
};

Pictures hashed_pictures() {
  Pictures pictures;
  for (const double u : hashed(std::size_t{2} * 24 * 31 * 3, 1000)) {
    pictures.pixels.push_back(static_cast<std::uint8_t>(u * 256));
  }
  pictures.batch = {2, 24, 31, 3, pictures.pixels};
  return pictures;
}

// Row-major [channels, height, width] of one picture, in double.
struct Map {
  std::int64_t channels;
  std::int64_t height;
  std::int64_t width;
  std::vector<double> values;

  [[nodiscard]] bool inside(std::int64_t y, std::int64_t x) const {
    return y >= 0 && y < height && x >= 0 && x < width;
  }
  [[nodiscard]] double at(std::int64_t c, std::int64_t y, std::int64_t x) const {
    return inside(y, x) ? values[static_cast<std::size_t>((c * height + y) * width + x)] : 0;
  }
};

Map hashed_map(std::int64_t channels, std::int64_t height, std::int64_t width) {
  Map map{channels, height, width, hashed(static_cast<std::size_t>(channels * height * width), 77)};
  for (double& value : map.values) value = static_cast<float>(2 * value - 1);
  return map;
}

Tensor to_tensor(const Map& map) {
  return torch::tensor(map.values).to(torch::kFloat).view({1, map.channels, map.height, map.width});
}

double item(const Tensor& x, std::int64_t c, std::int64_t y, std::int64_t w) {
  return x[0][c][y][w].item<double>();
}

double weight_of(const std::string& name, std::int64_t place) {
  return hashed_weights().at(name).values<float>()[static_cast<std::size_t>(place)];
}

// relu(gamma (sum - mean) / sqrt(variance + 0.001) + beta) at one place.
double layer_by_hand(const inception::Convolution& layer, const Map& x, std::int64_t channel,
                     std::int64_t top, std::int64_t left) {
  const std::vector<float> weight =
      hashed_weights().at(layer.name + ".conv.weight").values<float>();
  double sum = 0;
  std::size_t place =
      static_cast<std::size_t>(channel * layer.inputs * layer.kernel[0] * layer.kernel[1]);
  for (std::int64_t c = 0; c < layer.inputs; ++c) {
    for (std::int64_t y = 0; y < layer.kernel[0]; ++y) {
      for (std::int64_t w = 0; w < layer.kernel[1]; ++w) {
        sum += weight[place++] * x.at(c, top * layer.stride + y - layer.padding[0],
                                      left * layer.stride + w - layer.padding[1]);
      }
    }
  }
  const auto part = [&](const char* name) {
    return weight_of(layer.name + ".bn." + name, channel);
  };
  const double normal =
      (sum - part("running_mean")) / std::sqrt(part("running_var") + 0.001) * part("weight");
  return std::max(normal + part("bias"), 0.0);
}

TEST(Inception, EveryLayerIsAConvolutionWithNormalisation) {
  const std::vector<inception::Convolution> layers = inception::convolutions();
  ASSERT_EQ(layers.size(), 94);
  int positive = 0;
  for (const inception::Convolution& layer : layers) {
    const Map x = hashed_map(layer.inputs, 9, 8);
    const Tensor y = hashed_network().layer(layer.name, to_tensor(x));
    const auto size = [&](std::int64_t from, std::size_t axis) {
      return (from + 2 * layer.padding[axis] - layer.kernel[axis]) / layer.stride + 1;
    };
    ASSERT_EQ(y.sizes().vec(),
              (std::vector<std::int64_t>{1, layer.outputs, size(9, 0), size(8, 1)}));
    for (const std::int64_t channel : {std::int64_t{0}, layer.outputs - 1}) {
      for (const std::int64_t place : {std::int64_t{0}, std::int64_t{1}, y.size(2) - 1}) {
        const std::int64_t left = std::min(place, y.size(3) - 1);
        const double expected = layer_by_hand(layer, x, channel, place, left);
        EXPECT_NEAR(item(y, channel, place, left), expected, 2e-5) << layer.name;
        positive += expected > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(positive, 150);
}

TEST(Inception, AveragesCountWhatIsInside) {
  const Map x = hashed_map(2, 5, 4);
  const Tensor y = inception::average_pool(to_tensor(x));
  ASSERT_EQ(y.sizes().vec(), (std::vector<std::int64_t>{1, 2, 5, 4}));
  for (std::int64_t top = 0; top < 5; ++top) {
    for (std::int64_t left = 0; left < 4; ++left) {
      double sum = 0;
      int count = 0;
      for (std::int64_t place = 0; place < 9; ++place) {
        const std::int64_t row = top + place / 3 - 1;
        const std::int64_t column = left + place % 3 - 1;
        sum += x.at(1, row, column);
        count += x.inside(row, column) ? 1 : 0;
      }
      EXPECT_NEAR(item(y, 1, top, left), sum / count, 1e-6);
    }
  }
}

// The last block's pool: the maximum of the 3 x 3 neighbours, then the layer; the block before it
// takes the average.
TEST(Inception, LastBlockPoolsByTheMaximum) {
  Map x = hashed_map(2048, 3, 3);
  Map pooled{2048, 1, 1, {}};
  for (std::int64_t c = 0; c < 2048; ++c) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t p = 0; p < 9; ++p) largest = std::max(largest, x.at(c, p / 3, p % 3));
    pooled.values.push_back(largest);
  }
  const Tensor y = hashed_network().apply({"Mixed_7c", inception::Kind::e_max}, to_tensor(x));
  ASSERT_EQ(y.size(1), 2048);
  for (const inception::Convolution& layer : inception::convolutions()) {
    if (layer.name != "Mixed_7c.branch_pool") continue;
    for (const std::int64_t channel : {0, 7, 191}) {
      EXPECT_NEAR(item(y, 2048 - 192 + channel, 1, 1), layer_by_hand(layer, pooled, channel, 0, 0),
                  1e-4);
    }
  }
}

// Half-pixel centres: place i of 299 lies at (i + 0.5) size / 299 - 0.5, held at the edges.
TEST(Inception, ResizesBilinearlyWithoutAlignedCorners) {
  const Pictures pictures = hashed_pictures();
  const Tensor unit = inception::to_unit_range(pictures.batch);
  const Tensor input = inception::to_input(unit);
  ASSERT_EQ(input.sizes().vec(), (std::vector<std::int64_t>{2, 3, 299, 299}));
  const auto pixel = [&](std::int64_t y, std::int64_t x) {  // channel 1 of picture 0
    return pictures.pixels[static_cast<std::size_t>((y * 31 + x) * 3 + 1)] / 255.0;
  };
  const auto place = [](std::int64_t i, double size) {
    return std::clamp((static_cast<double>(i) + 0.5) * size / 299 - 0.5, 0.0, size - 1);
  };
  for (const std::int64_t i : {0, 5, 17, 150, 298}) {
    for (const std::int64_t j : {0, 3, 211, 298}) {
      const double y = place(i, 24);
      const double x = place(j, 31);
      const auto top = std::min(static_cast<std::int64_t>(y), std::int64_t{22});
      const auto left = std::min(static_cast<std::int64_t>(x), std::int64_t{29});
      const double down = y - static_cast<double>(top);
      const double across = x - static_cast<double>(left);
      const double value =
          std::lerp(std::lerp(pixel(top, left), pixel(top, left + 1), across),
                    std::lerp(pixel(top + 1, left), pixel(top + 1, left + 1), across), down);
      EXPECT_NEAR(item(input, 1, i, j), 2 * value - 1, 2e-5);
    }
  }
}

TEST(Inception, EveryStepIsThatOfPyTorch) {
  const Golden golden("inception.npz");
  const Pictures pictures = hashed_pictures();
  Tensor x = inception::to_input(inception::to_unit_range(pictures.batch));
  for (const inception::Step& step : inception::steps()) {
    x = hashed_network().apply(step, x);
    std::vector<std::int64_t> shape = golden.values<std::int64_t>("shape." + step.name);
    if (step.kind == inception::Kind::mean) shape.resize(2);  // 1 x 1 there
    ASSERT_EQ(x.sizes().vec(), shape) << step.name;
    const Tensor flat = x.contiguous().view({-1}).to(torch::kDouble);
    const std::vector<double> moments = golden.values<double>("moments." + step.name);
    const double scale = std::sqrt(moments[1]);
    EXPECT_NEAR(flat.mean().item<double>(), moments[0], 1e-5 * scale) << step.name;
    EXPECT_NEAR(flat.square().mean().item<double>(), moments[1], 1e-5 * moments[1]) << step.name;
    const std::vector<double> items = golden.values<double>("items." + step.name);
    for (std::int64_t i = 0; i < 16; ++i) {
      const std::int64_t place = i * (flat.numel() - 1) / 15;
      EXPECT_NEAR(flat[place].item<double>(), items[static_cast<std::size_t>(i)], 1e-4 * scale)
          << step.name;
    }
  }
}

class InceptionFile : public testing::ScratchTest {
 protected:
  static void expect_golden(const Matrix<double>& features) {
    const Matrix<double> expected = Golden("inception.npz").matrix<double>("features");
    ASSERT_EQ(features.rows(), 2);
    ASSERT_EQ(features.cols(), 2048);
    for (Eigen::Index i = 0; i < expected.cols(); ++i) {
      EXPECT_NEAR(features(0, 32 * i), expected(0, i), 1e-4 * (1 + expected(0, i)));
      EXPECT_NEAR(features(1, 32 * i), expected(1, i), 1e-4 * (1 + expected(1, i)));
    }
  }
};

// From a file with the names of pytorch-fid's, and a counter as it has them.
TEST_F(InceptionFile, GivesTheFeaturesOfPyTorch) {
  storage::TensorFile file{.metadata = {}, .tensors = hashed_weights()};
  const std::vector<std::int64_t> count = {17};
  file.tensors["Conv2d_1a_3x3.bn.num_batches_tracked"] = Array::from<std::int64_t>({}, count);
  storage::write_safetensors(path("weights"), file);
  const InceptionFeatures network(path("weights"));
  const Pictures pictures = hashed_pictures();
  std::size_t done = 0;
  const Matrix<double> features =
      network.features(pictures.batch, [&](std::size_t n) { done = n; });
  expect_golden(features);
  EXPECT_EQ(done, 2);

  // A grey picture is one with three equal channels.
  const std::span<const std::uint8_t> grey(pictures.pixels.data(), 20 * 20);
  std::vector<std::uint8_t> three;
  for (const std::uint8_t value : grey) three.insert(three.end(), 3, value);
  EXPECT_TRUE(network.features({1, 20, 20, 1, grey})
                  .isApprox(network.features({1, 20, 20, 3, three}), 1e-6));
  EXPECT_THAT(mistake_of([&] {
                (void)network.features({1, 20, 20, 3, grey});
              }),
              HasSubstr("ImageBatch.pixels: expected 1200 elements, got 400"));
  EXPECT_THAT(mistake_of([&] {
                (void)network.features({1, 20, 10, 2, grey});
              }),
              HasSubstr("ImageBatch.channels: expected 1 or 3, got 2"));
}

// The way of a user, with weights that PyTorch saved.
TEST_F(InceptionFile, ReadsWhatTheConverterWrites) {
  const std::string python = "/usr/bin/python3";
  if (std::system((python + " -c 'import torch, numpy' 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "needs PyTorch (Debian: python3-torch)";
  }
  const std::string root = testing::golden_path("../..");
  const std::string state = path("state.pth").string();
  const std::string output = path("weights").string();
  const std::string convert =
      python + " " + root + "/tools/convert_inception " + state + " " + output;
  ASSERT_EQ(
      std::system((python + " " + root + "/tests/golden/inception.py --state " + state).c_str()),
      0);
  // Not the published file.
  EXPECT_NE(std::system((convert + " 2>" + path("refusal").string()).c_str()), 0);
  EXPECT_THAT(testing::bytes_of(path("refusal")),
              HasSubstr("that of pytorch-fid's weights with 6726825d"));
  ASSERT_EQ(std::system((convert + " --any >/dev/null").c_str()), 0);
  expect_golden(InceptionFeatures(output).features(hashed_pictures().batch));
}

TEST_F(InceptionFile, RefusesOtherNetworksByName) {
  const std::vector<float> one = {1.0F};
  storage::write_safetensors(path("other"),
                             {.metadata = {}, .tensors = {{"w", Array::from<float>({1}, one)}}});
  const std::string problem = testing::problem_of(
      path("other"), [](const std::filesystem::path& file) { (void)InceptionFeatures(file); });
  EXPECT_THAT(problem, HasSubstr("tensor 'Conv2d_1a_3x3.bn.bias' is missing"));
  EXPECT_THAT(problem, HasSubstr("tools/convert_inception"));
  EXPECT_THAT(testing::refusal_of([&] { (void)InceptionFeatures(path("none")); }),
              HasSubstr("none"));
}

TEST(Inception, NamesTheFirstDifference) {
  Shapes shapes = inception::expected_shapes();
  EXPECT_EQ(shapes.size(), 94U * 5 + 2);
  EXPECT_EQ(inception::difference(shapes), "");
  shapes["AuxLogits.fc.weight"] = {1000, 768};
  EXPECT_EQ(inception::difference(shapes), "tensor 'AuxLogits.fc.weight' does not belong there");
  shapes["fc.weight"] = {1000, 2048};  // torchvision's
  EXPECT_EQ(inception::difference(shapes),
            "tensor 'fc.weight' has the shape [1000, 2048] instead of [1008, 2048]");
  shapes.erase("Mixed_6b.branch7x7_2.conv.weight");
  EXPECT_EQ(inception::difference(shapes), "tensor 'Mixed_6b.branch7x7_2.conv.weight' is missing");
}

TEST(Inception, RefusesWeightsThatAreNoNumbers) {
  Arrays tensors = hashed_weights();
  std::vector<float> values(64, 1.0F);
  values[3] = std::numeric_limits<float>::quiet_NaN();
  tensors["Mixed_5b.branch1x1.bn.weight"] = Array::from<float>({64}, values);
  EXPECT_EQ(mistake_of([&] { (void)Network(tensors); }),
            "tensor 'Mixed_5b.branch1x1.bn.weight' has numbers that are not finite");
  values[3] = -1;
  tensors["Mixed_5b.branch1x1.bn.weight"] = hashed_weights().at("Mixed_5b.branch1x1.bn.weight");
  tensors["Mixed_5b.branch1x1.bn.running_var"] = Array::from<float>({64}, values);
  EXPECT_EQ(mistake_of([&] { (void)Network(tensors); }),
            "tensor 'Mixed_5b.branch1x1.bn.running_var' has negative numbers");
}

}  // namespace
}  // namespace jeffreys
