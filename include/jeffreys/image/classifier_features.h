// What our small classifier says of pictures (jeffreys/torch/image_classifier.h): features for the
// "distance in the features of our classifier", which is no FID.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "jeffreys/base/matrix.h"
#include "jeffreys/image/images.h"

namespace jeffreys {

struct LabelledImages {
  Images images;
  std::vector<std::int64_t> labels;  // one for each picture, from 0 on
};

class ClassifierFeatures {
 public:
  ClassifierFeatures() = default;
  ClassifierFeatures(const ClassifierFeatures&) = delete;
  ClassifierFeatures& operator=(const ClassifierFeatures&) = delete;
  virtual ~ClassifierFeatures() = default;

  // [pictures, features], of pictures of the size and channels that it was trained on.
  [[nodiscard]] virtual Matrix<double> features(const Images& images) const = 0;
};

// By libtorch, from the module jeffreys_images. The classifier is read from `file`, or trained with
// the defaults and written there if there is none. Throws std::runtime_error that says what to
// install if there is no module, InputError for another file, and as ImageClassifier::train does.
[[nodiscard]] std::unique_ptr<ClassifierFeatures> load_classifier_features(
    const std::filesystem::path& file, const LabelledImages& training);

}  // namespace jeffreys
