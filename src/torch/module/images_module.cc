// What the room image finds in the module jeffreys_images (src/image/image_module.h).
#include "jeffreys/image/classifier_features.h"
#include "jeffreys/torch/autoencoder_network.h"
#include "jeffreys/torch/image_classifier.h"

namespace jeffreys {
namespace {

ImageBatch batch_of(const Images& images) {
  return {images.count, images.height, images.width, images.channels, images.pixels};
}

class TorchClassifierFeatures final : public ClassifierFeatures {
 public:
  explicit TorchClassifierFeatures(ImageClassifier classifier)
      : classifier_(std::move(classifier)) {}

  [[nodiscard]] Matrix<double> features(const Images& images) const override {
    return classifier_.features(batch_of(images));
  }

 private:
  ImageClassifier classifier_;
};

ImageClassifier load_or_train(const std::filesystem::path& file, const LabelledImages& training) {
  if (std::filesystem::exists(file)) return ImageClassifier::load(file);
  ImageClassifier classifier = ImageClassifier::train(batch_of(training.images), training.labels);
  classifier.save(file);
  return classifier;
}

}  // namespace
}  // namespace jeffreys

extern "C" __attribute__((visibility("default"))) jeffreys::AutoencoderNetwork*
jeffreys_make_autoencoder_network(const jeffreys::AutoencoderOptions& options) {
  return jeffreys::make_autoencoder_network(options).release();
}

extern "C" __attribute__((visibility("default"))) jeffreys::ClassifierFeatures*
jeffreys_load_classifier_features(const std::filesystem::path& file,
                                  const jeffreys::LabelledImages& training) {
  return new jeffreys::TorchClassifierFeatures(jeffreys::load_or_train(file, training));
}
