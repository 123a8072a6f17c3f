#include "jeffreys/image/autoencoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/module.h"
#include "image/image_module.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

constexpr std::size_t kSmallestSide = 4;
constexpr std::size_t kFirstChannels = 32;
constexpr std::int64_t kKernel = 4;
constexpr std::size_t kChunk = 32;

using MakeNetwork = AutoencoderNetwork* (*)(const AutoencoderOptions&);

// As PyTorch starts convolutions and linear layers: uniform up to 1 / sqrt(inputs), where the
// inputs of a transposed convolution count as its outputs do. A bias belongs to the weights before
// it.
void start(const ParameterLayout& layout, std::uint64_t seed, std::span<float> parameters) {
  double bound = 0;
  for (std::size_t b = 0; b < layout.blocks().size(); ++b) {
    const ParameterBlock& block = layout.blocks()[b];
    if (block.shape.size() > 1) {
      const auto inputs = std::accumulate(block.shape.begin() + 1, block.shape.end(),
                                          std::int64_t{1}, std::multiplies<>());
      bound = 1.0 / std::sqrt(static_cast<double>(inputs));
    }
    std::vector<float> uniforms(block.size);
    kernels::fill_uniforms(kernels::RandomArguments<float>{
        {seed, kAutoencoderWeights, b}, 0, block.size, 1, uniforms.data()});
    std::ranges::transform(uniforms, parameters.begin() + static_cast<std::ptrdiff_t>(block.offset),
                           [&](float u) { return static_cast<float>(bound * (2.0 * u - 1.0)); });
  }
}

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(
      std::lround(std::clamp((double{value} + 1) * 127.5, 0.0, 255.0)));
}

}  // namespace

void AutoencoderOptions::validate() const {
  const auto fail = [](const char* field, const char* expected, std::size_t actual) {
    throw std::invalid_argument(
        fmt::format("AutoencoderOptions.{}: expected {}, got {}", field, expected, actual));
  };
  constexpr std::size_t kLargest = 256;
  if (!std::has_single_bit(size) || size < 2 * kSmallestSide || size > kLargest) {
    fail("size", "8, 16, 32, 64, 128 or 256", size);
  }
  if (channels != 1 && channels != 3) fail("channels", "1 or 3", channels);
  constexpr std::size_t kMostLatent = 4096;
  if (latent < 1 || latent > kMostLatent) fail("latent", "1 to 4096", latent);
}

std::size_t AutoencoderOptions::layers() const {
  return static_cast<std::size_t>(std::countr_zero(size / kSmallestSide));
}

ParameterLayout AutoencoderOptions::layout() const {
  ParameterLayout layout;
  std::vector<std::int64_t> widths = {static_cast<std::int64_t>(channels)};
  for (std::size_t i = 0; i < layers(); ++i) {
    widths.push_back(static_cast<std::int64_t>(kFirstChannels << i));
  }
  const auto add = [&](const std::string& name, std::vector<std::int64_t> shape,
                       std::int64_t outputs) {
    layout.add(name + ".weight", std::move(shape));
    layout.add(name + ".bias", {outputs});
  };
  const auto numbers = static_cast<std::int64_t>(latent);
  const auto flat = static_cast<std::int64_t>(kSmallestSide * kSmallestSide) * widths.back();
  for (std::size_t i = 0; i < layers(); ++i) {
    add(fmt::format("encoder.convolution{}", i + 1), {widths[i + 1], widths[i], kKernel, kKernel},
        widths[i + 1]);
  }
  add("encoder.linear", {numbers, flat}, numbers);
  add("decoder.linear", {flat, numbers}, flat);
  for (std::size_t i = layers(); i > 0; --i) {
    add(fmt::format("decoder.convolution{}", layers() - i + 1),
        {widths[i], widths[i - 1], kKernel, kKernel}, widths[i - 1]);
  }
  return layout;
}

std::size_t default_latent(std::size_t size) { return size >= 64 ? 100 : 20; }

bool has_autoencoder_network() { return has_module(kImagesModule); }

std::shared_ptr<const AutoencoderNetwork> load_autoencoder_network(
    const AutoencoderOptions& options) {
  options.validate();
  static const auto kMake =
      reinterpret_cast<MakeNetwork>(images_module_function("jeffreys_make_autoencoder_network"));
  return std::shared_ptr<const AutoencoderNetwork>(kMake(options));
}

Autoencoder::Autoencoder(const AutoencoderOptions& options,
                         std::shared_ptr<const AutoencoderNetwork> network)
    : options_(options), network_(std::move(network)) {
  options_.validate();
  const ParameterLayout layout = options_.layout();
  parameters_.resize(layout.size());
  start(layout, options_.seed, parameters_);
}

Autoencoder::Autoencoder(const AutoencoderOptions& options, const storage::Arrays& parameters,
                         std::shared_ptr<const AutoencoderNetwork> network)
    : options_(options), network_(std::move(network)) {
  options_.validate();
  const ParameterLayout layout = options_.layout();
  parameters_.resize(layout.size());
  for (const ParameterBlock& block : layout.blocks()) {
    const auto found = parameters.find(block.name);
    if (found == parameters.end() || found->second.shape != block.shape) {
      throw std::invalid_argument(
          fmt::format("weights of another network: '{}' is {}", block.name,
                      found == parameters.end() ? "missing" : "of another shape"));
    }
    const std::vector<float> values = found->second.values<float>();
    std::ranges::copy(values, parameters_.begin() + static_cast<std::ptrdiff_t>(block.offset));
  }
  if (parameters.size() != layout.blocks().size()) {
    throw std::invalid_argument(fmt::format("weights of another network: {} tensors, expected {}",
                                            parameters.size(), layout.blocks().size()));
  }
}

storage::Arrays Autoencoder::arrays() const {
  storage::Arrays arrays;
  const ParameterLayout layout = options_.layout();
  for (const ParameterBlock& block : layout.blocks()) {
    arrays[block.name] = storage::Array::from<float>(
        block.shape, std::span(parameters_).subspan(block.offset, block.size));
  }
  return arrays;
}

void Autoencoder::check(const Images& images) const {
  if (images.height != options_.size || images.width != options_.size ||
      images.channels != options_.channels) {
    throw std::invalid_argument(fmt::format(
        "images: expected {0} x {0} pixels of {1} channels, got {2} x {3} of {4}", options_.size,
        options_.channels, images.width, images.height, images.channels));
  }
}

// job(first, count)
void Autoencoder::in_chunks(std::size_t count,
                            const std::function<void(std::size_t, std::size_t)>& job) const {
  const std::size_t chunks = (count + kChunk - 1) / kChunk;
  const auto one = [&](std::size_t i) { job(i * kChunk, std::min(kChunk, count - i * kChunk)); };
  if (pool_) {
    pool_->run(chunks, one);
  } else {
    for (std::size_t i = 0; i < chunks; ++i) one(i);
  }
}

Matrix<float> Autoencoder::encode(const Images& images) const {
  check(images);
  Matrix<float> latent(static_cast<Eigen::Index>(images.count),
                       static_cast<Eigen::Index>(options_.latent));
  in_chunks(images.count, [&](std::size_t first, std::size_t count) {
    std::vector<std::size_t> which(count);
    std::iota(which.begin(), which.end(), first);
    latent.middleRows(static_cast<Eigen::Index>(first), static_cast<Eigen::Index>(count)) =
        network_->encode(parameters_, to_pixels(images, which));
  });
  return latent;
}

Images Autoencoder::decode(const MatrixView<float>& latent) const {
  if (latent.cols() != static_cast<Eigen::Index>(options_.latent)) {
    throw std::invalid_argument(
        fmt::format("latent: expected {} columns, got {}", options_.latent, latent.cols()));
  }
  const std::size_t area = options_.size * options_.size;
  Images images = make_images(static_cast<std::size_t>(latent.rows()), options_.size, options_.size,
                              options_.channels);
  in_chunks(images.count, [&](std::size_t first, std::size_t count) {
    const Matrix<float> pixels = network_->decode(
        parameters_,
        latent.middleRows(static_cast<Eigen::Index>(first), static_cast<Eigen::Index>(count)));
    for (std::size_t i = 0; i < count; ++i) {
      const float* values = pixels.data() + i * options_.values();
      const std::span<std::uint8_t> one = images.one(first + i);
      for (std::size_t c = 0; c < options_.channels; ++c) {
        for (std::size_t p = 0; p < area; ++p) {
          one[p * options_.channels + c] = to_byte(values[c * area + p]);
        }
      }
    }
  });
  return images;
}

Vector<double> Autoencoder::errors(const Images& images) const {
  check(images);
  Vector<double> errors(static_cast<Eigen::Index>(images.count));
  in_chunks(images.count, [&](std::size_t first, std::size_t count) {
    std::vector<std::size_t> which(count);
    std::iota(which.begin(), which.end(), first);
    const Matrix<float> pixels = to_pixels(images, which);
    const Matrix<float> back = network_->decode(parameters_, network_->encode(parameters_, pixels));
    errors.segment(static_cast<Eigen::Index>(first), static_cast<Eigen::Index>(count)) =
        (pixels - back).cast<double>().rowwise().squaredNorm() /
        static_cast<double>(options_.values());
  });
  return errors;
}

Matrix<float> to_pixels(const Images& images, std::span<const std::size_t> which) {
  const std::size_t area = images.height * images.width;
  Matrix<float> pixels(static_cast<Eigen::Index>(which.size()),
                       static_cast<Eigen::Index>(images.bytes_of_one()));
  for (std::size_t i = 0; i < which.size(); ++i) {
    const std::span<const std::uint8_t> one = images.one(which[i]);
    float* row = pixels.row(static_cast<Eigen::Index>(i)).data();
    for (std::size_t c = 0; c < images.channels; ++c) {
      for (std::size_t p = 0; p < area; ++p) {
        row[c * area + p] = static_cast<float>(one[p * images.channels + c]) / 127.5F - 1.0F;
      }
    }
  }
  return pixels;
}

}  // namespace jeffreys
