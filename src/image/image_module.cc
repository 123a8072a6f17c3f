#include "image/image_module.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/module.h"
#include "jeffreys/image/classifier_features.h"

namespace jeffreys {
namespace {

using LoadClassifier = ClassifierFeatures* (*)(const std::filesystem::path&, const LabelledImages&);

}  // namespace

void* images_module_function(const char* name) {
  try {
    return module_function(kImagesModule, name);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(
        fmt::format("pictures need libtorch, which is not there ({}): install libtorch-dev and "
                    "build with -DJEFFREYS_TORCH=ON",
                    error.what()));
  }
}

std::unique_ptr<ClassifierFeatures> load_classifier_features(const std::filesystem::path& file,
                                                             const LabelledImages& training) {
  static const auto kLoad =
      reinterpret_cast<LoadClassifier>(images_module_function("jeffreys_load_classifier_features"));
  return std::unique_ptr<ClassifierFeatures>(kLoad(file, training));
}

}  // namespace jeffreys
