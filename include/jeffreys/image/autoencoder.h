// An autoencoder of square pictures (the paper's algorithms "Encoder" and "Decoder"): each
// convolution halves the sides and doubles the channels, from 32 on, until 4 x 4 are left; one
// linear layer makes the latent numbers of them. The decoder is its mirror image. Pixels are scaled
// to [-1, 1].
//
// Differs from the paper: its decoder has three transposed convolutions, which end at 32 x 32
// pixels. Ours has as many as the encoder (four for 64 x 64: 256, 128, 64, 32, 3 channels).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "jeffreys/base/matrix.h"
#include "jeffreys/base/thread_pool.h"
#include "jeffreys/image/images.h"
#include "jeffreys/model/parameter_layout.h"
#include "jeffreys/storage/array.h"

namespace jeffreys {

struct AutoencoderOptions {
  std::size_t size = 64;     // side of the pictures: 8, 16, 32, 64, 128 or 256
  std::size_t channels = 3;  // 1 or 3
  std::size_t latent = 100;
  std::uint64_t seed = 0;  // of the first weights

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;
  [[nodiscard]] std::size_t layers() const;  // convolutions of the encoder
  [[nodiscard]] std::size_t values() const { return size * size * channels; }
  [[nodiscard]] ParameterLayout layout() const;
  bool operator==(const AutoencoderOptions&) const = default;
};

// How many latent numbers pictures of this side get unless told otherwise: the paper's 100, and 20
// below 64 x 64.
[[nodiscard]] std::size_t default_latent(std::size_t size);

// The arithmetic, which another library does. Pixels: [pictures, channels * size * size], one
// channel after the other. All may be called by several threads.
class AutoencoderNetwork {
 public:
  AutoencoderNetwork() = default;
  AutoencoderNetwork(const AutoencoderNetwork&) = delete;
  AutoencoderNetwork& operator=(const AutoencoderNetwork&) = delete;
  virtual ~AutoencoderNetwork() = default;

  [[nodiscard]] virtual Matrix<float> encode(std::span<const float> parameters,
                                             const MatrixView<float>& pixels) const = 0;
  [[nodiscard]] virtual Matrix<float> decode(std::span<const float> parameters,
                                             const MatrixView<float>& latent) const = 0;
  // Returns the sum of squared differences between pixels and what becomes of them, and adds its
  // gradient.
  virtual double add_gradient(std::span<const float> parameters, const MatrixView<float>& pixels,
                              std::span<float> gradient) const = 0;
};

// By libtorch, from the module jeffreys_images. Throws std::runtime_error that says what to install
// if there is none.
[[nodiscard]] std::shared_ptr<const AutoencoderNetwork> load_autoencoder_network(
    const AutoencoderOptions& options);
[[nodiscard]] bool has_autoencoder_network();

class Autoencoder {
 public:
  // With PyTorch's distribution of first weights.
  Autoencoder(const AutoencoderOptions& options, std::shared_ptr<const AutoencoderNetwork> network);
  // With these parameters, by name. Throws std::invalid_argument if they are not those of the
  // options.
  Autoencoder(const AutoencoderOptions& options, const storage::Arrays& parameters,
              std::shared_ptr<const AutoencoderNetwork> network);

  [[nodiscard]] const AutoencoderOptions& options() const { return options_; }
  [[nodiscard]] const AutoencoderNetwork& network() const { return *network_; }
  [[nodiscard]] std::span<const float> parameters() const { return parameters_; }
  [[nodiscard]] std::span<float> edit_parameters() { return parameters_; }
  [[nodiscard]] storage::Arrays arrays() const;

  // No result depends on the number of threads.
  void use_threads(std::shared_ptr<ThreadPool> pool) { pool_ = std::move(pool); }

  // Pictures of the options' size and channels to [pictures, latent], and back; numbers beyond
  // black and white are cut.
  [[nodiscard]] Matrix<float> encode(const Images& images) const;
  [[nodiscard]] Images decode(const MatrixView<float>& latent) const;
  // The mean squared error of each picture, of pixels in [-1, 1], before bytes are rounded.
  [[nodiscard]] Vector<double> errors(const Images& images) const;

 private:
  void check(const Images& images) const;
  void in_chunks(std::size_t count, const std::function<void(std::size_t, std::size_t)>& job) const;

  AutoencoderOptions options_;
  std::shared_ptr<const AutoencoderNetwork> network_;
  std::vector<float> parameters_;
  std::shared_ptr<ThreadPool> pool_;
};

// These pictures as a network sees them.
[[nodiscard]] Matrix<float> to_pixels(const Images& images, std::span<const std::size_t> which);

}  // namespace jeffreys
