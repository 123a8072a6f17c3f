#include "jeffreys/torch/image_classifier.h"

#include <fmt/format.h>
#include <torch/autograd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/checks.h"
#include "base/shuffle.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/base/random_purpose.h"
#include "jeffreys/storage/safetensors.h"
#include "kernels/adamw.h"
#include "kernels/random.h"
#include "torch/convolution.h"
#include "torch/tensors.h"

namespace jeffreys {
namespace {

using torch::Tensor;

constexpr const char* kClassifierVersionKey = "jeffreys.image_classifier_version";
constexpr const char* kClassifierVersion = "1";
constexpr std::int64_t kFirstChannels = 16;
constexpr std::int64_t kSecondChannels = 32;
constexpr std::int64_t kMostClasses = 1000;
constexpr std::size_t kScoredAtOnce = 500;

std::int64_t signed_size(std::size_t n) { return static_cast<std::int64_t>(n); }

// What a classifier is for.
struct ImageShape {
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
  std::int64_t classes;
};

ParameterLayout layout_of(const ImageShape& shape) {
  const std::int64_t places = (shape.height / 4) * (shape.width / 4);
  ParameterLayout layout;
  layout.add("first.weight", {kFirstChannels, shape.channels, 3, 3});
  layout.add("first.bias", {kFirstChannels});
  layout.add("second.weight", {kSecondChannels, kFirstChannels, 3, 3});
  layout.add("second.bias", {kSecondChannels});
  layout.add("features.weight", {ImageClassifier::kFeatures, kSecondChannels * places});
  layout.add("features.bias", {ImageClassifier::kFeatures});
  layout.add("classes.weight", {shape.classes, ImageClassifier::kFeatures});
  layout.add("classes.bias", {shape.classes});
  return layout;
}

// Uniform with the variance 2 / inputs of a layer, which keeps the size of what a ReLU passes on;
// biases begin at 0.
std::vector<float> start_of(const ParameterLayout& layout, std::uint64_t seed) {
  std::vector<float> values(layout.size(), 0.0F);
  std::uint64_t number = 0;
  for (const ParameterBlock& block : layout.blocks()) {
    const std::uint64_t layer = number++;
    if (block.shape.size() < 2) continue;
    const auto inputs = static_cast<double>(block.size) / static_cast<double>(block.shape[0]);
    const auto bound = static_cast<float>(std::sqrt(6.0 / inputs));
    const std::span<float> part = std::span(values).subspan(block.offset, block.size);
    kernels::fill_uniforms(kernels::RandomArguments<float>{
        {seed, kClassifierStart, layer}, 0, block.size, 1, part.data()});
    for (float& value : part) value = bound * (2 * value - 1);
  }
  return values;
}

// [images, channels, height, width] in [-1, 1].
Tensor to_tensor(const ImageBatch& images) {
  const Tensor bytes = torch::empty({signed_size(images.count), signed_size(images.height),
                                     signed_size(images.width), signed_size(images.channels)},
                                    torch::kUInt8);
  std::copy(images.pixels.begin(), images.pixels.end(), bytes.data_ptr<std::uint8_t>());
  return bytes.permute({0, 3, 1, 2}).to(torch::kFloat).div(127.5).sub(1).contiguous();
}

// Adam on the flat buffer of weights.
class Adam {
 public:
  explicit Adam(std::size_t size) : first_(size, 0.0F), second_(size, 0.0F) {}

  void step(std::span<float> parameters, const float* gradient, double learning_rate) {
    kernels::adamw(kernels::AdamWArguments<float>{.size = parameters.size(),
                                                  .parameters = parameters.data(),
                                                  .gradient = gradient,
                                                  .first_moment = first_.data(),
                                                  .second_moment = second_.data(),
                                                  .learning_rate = learning_rate,
                                                  .beta1 = 0.9,
                                                  .beta2 = 0.999,
                                                  .step = ++steps_});
  }

 private:
  std::vector<float> first_;
  std::vector<float> second_;
  std::size_t steps_ = 0;
};

std::int64_t read_number(const storage::TensorFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) throw std::invalid_argument(fmt::format("no '{}'", key));
  const std::string& text = found->second;
  if (text.empty() || text.size() > 6 ||
      !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    throw std::invalid_argument(fmt::format("'{}' is no number", key));
  }
  return std::stoll(text);
}

std::vector<float> read_weights(const storage::TensorFile& file, const ParameterLayout& layout) {
  std::vector<float> values;
  for (const ParameterBlock& block : layout.blocks()) {
    const auto found = file.tensors.find(block.name);
    if (found == file.tensors.end()) {
      throw std::invalid_argument(fmt::format("tensor '{}' is missing", block.name));
    }
    if (found->second.shape != block.shape) {
      throw std::invalid_argument(fmt::format("tensor '{}' has another shape", block.name));
    }
    const std::vector<float> part = found->second.values<float>();
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

}  // namespace

class ImageClassifier::Network {
 public:
  Network(const ImageShape& shape, std::span<const float> weights)
      : shape_(shape), layout_(layout_of(shape)), weights_(layout_, weights, true) {}

  [[nodiscard]] const ImageShape& shape() const { return shape_; }
  [[nodiscard]] const ParameterLayout& layout() const { return layout_; }
  [[nodiscard]] const Tensor& flat() const { return weights_.flat(); }
  [[nodiscard]] std::span<float> values() const {
    return {weights_.flat().data_ptr<float>(), layout_.size()};
  }

  [[nodiscard]] Tensor features(const Tensor& x) const {
    const twin::Parts parts = weights_.parts();
    const auto halved = [&](const Tensor& input, const std::string& name) {
      const Tensor convolved = at::conv2d(input, parts.at(name + ".weight"),
                                          parts.at(name + ".bias"), 1, at::IntArrayRef({1, 1}));
      return at::max_pool2d(convolved.relu(), {2, 2});
    };
    const Tensor small = halved(halved(x, "first"), "second");
    return linear_of_picture(small, parts.at("features.weight"), parts.at("features.bias")).relu();
  }
  [[nodiscard]] Tensor log_probabilities(const Tensor& features) const {
    const twin::Parts parts = weights_.parts();
    return at::linear(features, parts.at("classes.weight"), parts.at("classes.bias"))
        .log_softmax(1);
  }

  void check(const ImageBatch& images) const {
    images.validate();
    if (signed_size(images.height) != shape_.height || signed_size(images.width) != shape_.width ||
        signed_size(images.channels) != shape_.channels) {
      throw std::invalid_argument(fmt::format(
          "images: expected {} x {} pixels with {} channels, got {} x {} with {}", shape_.height,
          shape_.width, shape_.channels, images.height, images.width, images.channels));
    }
  }

  // network(part) for each part of the pictures.
  template <typename Function>
  [[nodiscard]] Matrix<double> by_parts(const ImageBatch& images, Eigen::Index columns,
                                        const Function& network) const {
    check(images);
    const torch::NoGradGuard no_gradients;
    Matrix<double> result(signed_size(images.count), columns);
    for (std::size_t first = 0; first < images.count; first += kScoredAtOnce) {
      const std::size_t rows = std::min(kScoredAtOnce, images.count - first);
      const Matrix<float> part =
          twin::to_matrix<float>(network(to_tensor(images.part(first, rows))));
      result.middleRows(signed_size(first), signed_size(rows)) = part.cast<double>();
    }
    return result;
  }

 private:
  ImageShape shape_;
  ParameterLayout layout_;
  twin::FlatTensor weights_;
};

namespace {

std::int64_t classes_of(std::span<const std::int64_t> labels, std::size_t images) {
  check_size("labels", signed_size(labels.size()), signed_size(images));
  check_at_least("images", signed_size(images), 1);
  for (const std::int64_t label : labels) check_between("labels", label, 0, kMostClasses - 1);
  return 1 + *std::max_element(labels.begin(), labels.end());
}

// The batches of an epoch, as places in the training set.
std::vector<std::int64_t> order_of(std::size_t images, std::uint64_t seed, int epoch) {
  std::vector<std::int64_t> order(images);
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, {seed, kClassifierOrder, static_cast<std::uint64_t>(epoch)});
  return order;
}

}  // namespace

void ClassifierOptions::validate() const {
  check_at_least("ClassifierOptions.epochs", epochs, 1);
  check_at_least("ClassifierOptions.batch_size", signed_size(batch_size), 1);
  if (!(learning_rate > 0 && std::isfinite(learning_rate))) {
    throw std::invalid_argument(fmt::format(
        "ClassifierOptions.learning_rate: expected a positive number, got {}", learning_rate));
  }
}

ImageClassifier ImageClassifier::train(
    const ImageBatch& images, std::span<const std::int64_t> labels,
    const ClassifierOptions& options, const std::function<void(const ClassifierEpoch&)>& observer) {
  options.validate();
  images.validate();
  check_at_least("images: height", signed_size(images.height), 4);
  check_at_least("images: width", signed_size(images.width), 4);
  const ImageShape shape{signed_size(images.height), signed_size(images.width),
                         signed_size(images.channels), classes_of(labels, images.count)};
  auto network = std::make_unique<Network>(shape, start_of(layout_of(shape), options.seed));
  Adam adam(network->layout().size());
  const Tensor x = to_tensor(images);
  const Tensor y = torch::tensor(std::vector<std::int64_t>(labels.begin(), labels.end()));
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    const Tensor order = torch::tensor(order_of(images.count, options.seed, epoch));
    ClassifierEpoch record{.epoch = epoch};
    for (const Tensor& rows : order.split(signed_size(options.batch_size))) {
      const Tensor truth = y.index_select(0, rows);
      const Tensor scores = network->log_probabilities(network->features(x.index_select(0, rows)));
      const Tensor loss = at::nll_loss(scores, truth);
      const Tensor gradient = torch::autograd::grad({loss}, {network->flat()})[0].contiguous();
      adam.step(network->values(), gradient.data_ptr<float>(), options.learning_rate);
      const double share = static_cast<double>(rows.size(0)) / static_cast<double>(images.count);
      record.loss += share * loss.item<double>();
      record.accuracy +=
          share * scores.argmax(1).eq(truth).to(torch::kDouble).mean().item<double>();
    }
    if (!std::isfinite(record.loss)) {
      throw std::runtime_error(fmt::format(
          "the classifier's loss is not finite in epoch {}: try a smaller learning rate", epoch));
    }
    if (observer) observer(record);
  }
  return ImageClassifier(std::move(network));
}

void ImageClassifier::save(const std::filesystem::path& path) const {
  const ImageShape& shape = network_->shape();
  storage::TensorFile file{.metadata = {{kClassifierVersionKey, kClassifierVersion},
                                        {"height", std::to_string(shape.height)},
                                        {"width", std::to_string(shape.width)},
                                        {"channels", std::to_string(shape.channels)},
                                        {"classes", std::to_string(shape.classes)}},
                           .tensors = {}};
  for (const ParameterBlock& block : network_->layout().blocks()) {
    file.tensors[block.name] = storage::Array::from<float>(
        block.shape, std::span<const float>(network_->values()).subspan(block.offset, block.size));
  }
  storage::write_safetensors(path, file);
}

ImageClassifier ImageClassifier::load(const std::filesystem::path& path) {
  const storage::TensorFile file = storage::read_safetensors(path);
  const auto version = file.metadata.find(kClassifierVersionKey);
  if (version == file.metadata.end() || version->second != kClassifierVersion) {
    throw InputError(path.string(), "not an image classifier of this version of jeffreys");
  }
  storage::require_checksum(file, path);
  try {
    const ImageShape shape{read_number(file, "height"), read_number(file, "width"),
                           read_number(file, "channels"), read_number(file, "classes")};
    return ImageClassifier(std::make_unique<Network>(shape, read_weights(file, layout_of(shape))));
  } catch (const std::invalid_argument& error) {
    throw InputError(path.string(), fmt::format("a damaged image classifier ({})", error.what()));
  }
}

ImageClassifier::ImageClassifier(std::unique_ptr<Network> network) : network_(std::move(network)) {}
ImageClassifier::~ImageClassifier() = default;
ImageClassifier::ImageClassifier(ImageClassifier&&) noexcept = default;
ImageClassifier& ImageClassifier::operator=(ImageClassifier&&) noexcept = default;

Matrix<double> ImageClassifier::features(const ImageBatch& images) const {
  return network_->by_parts(images, kFeatures,
                            [&](const Tensor& x) { return network_->features(x); });
}

Matrix<double> ImageClassifier::probabilities(const ImageBatch& images) const {
  return network_->by_parts(images, network_->shape().classes, [&](const Tensor& x) {
    return network_->log_probabilities(network_->features(x)).exp();
  });
}

double ImageClassifier::accuracy(const ImageBatch& images,
                                 std::span<const std::int64_t> labels) const {
  check_size("labels", signed_size(labels.size()), signed_size(images.count));
  check_at_least("images", signed_size(images.count), 1);
  const Matrix<double> found = probabilities(images);
  std::size_t right = 0;
  for (std::size_t i = 0; i < images.count; ++i) {
    Eigen::Index best = 0;
    found.row(signed_size(i)).maxCoeff(&best);
    right += best == labels[i] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(images.count);
}

}  // namespace jeffreys
