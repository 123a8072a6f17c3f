// A small convolutional network that learns labels of small pictures. What its last hidden layer
// says of a picture serves for a Fréchet distance where no Inception weights are to be had: the
// "distance in the features of our classifier", which is no FID.
//   3 x 3 convolution to 16 channels, ReLU, 2 x 2 maximum
//   3 x 3 convolution to 32 channels, ReLU, 2 x 2 maximum
//   64 features, ReLU
//   one number for each class
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "jeffreys/base/matrix.h"
#include "jeffreys/torch/image_batch.h"

namespace jeffreys {

struct ClassifierOptions {
  int epochs = 8;
  std::size_t batch_size = 64;
  double learning_rate = 1e-3;  // of Adam
  std::uint64_t seed = 0;

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;
};

struct ClassifierEpoch {
  int epoch = 0;        // from 1
  double loss = 0;      // mean cross entropy of the epoch's batches, each before its step
  double accuracy = 0;  // likewise
};

class ImageClassifier {
 public:
  static constexpr Eigen::Index kFeatures = 64;

  // Pictures of at least 4 x 4 pixels, with labels from 0 on. With the same seed, and as many
  // threads of libtorch, the weights have the same bits. Throws std::invalid_argument where
  // pictures, labels and options do not fit together, std::runtime_error if the loss is not finite.
  static ImageClassifier train(const ImageBatch& images, std::span<const std::int64_t> labels,
                               const ClassifierOptions& options = {},
                               const std::function<void(const ClassifierEpoch&)>& observer = {});

  // A safetensors file, replaced atomically. load() throws InputError for another one.
  void save(const std::filesystem::path& path) const;
  static ImageClassifier load(const std::filesystem::path& path);

  ~ImageClassifier();
  ImageClassifier(ImageClassifier&&) noexcept;
  ImageClassifier& operator=(ImageClassifier&&) noexcept;

  // [images, 64], none negative. Pictures of the size and channels that it was trained on.
  [[nodiscard]] Matrix<double> features(const ImageBatch& images) const;
  // Probabilities of the classes, [images, classes].
  [[nodiscard]] Matrix<double> probabilities(const ImageBatch& images) const;
  // Share of the pictures whose label is the most probable one.
  [[nodiscard]] double accuracy(const ImageBatch& images,
                                std::span<const std::int64_t> labels) const;

 private:
  class Network;
  explicit ImageClassifier(std::unique_ptr<Network> network);
  std::unique_ptr<Network> network_;
};

}  // namespace jeffreys
