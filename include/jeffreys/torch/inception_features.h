// The features of the Fréchet Inception distance: Inception-v3 as pytorch-fid has it, which is
// TensorFlow's network of 2015-12-05. Its weights are not part of this project: whoever has the
// file pt_inception-2015-12-05-6726825d.pth converts it by tools/convert_inception.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "jeffreys/base/matrix.h"
#include "jeffreys/torch/image_batch.h"

namespace jeffreys {

class InceptionFeatures {
 public:
  static constexpr Eigen::Index kFeatures = 2048;

  // Reads a safetensors file. Throws InputError that names the first tensor that is missing, has
  // another shape or does not belong there if the weights are those of another network;
  // torchvision's Inception-v3 is one.
  explicit InceptionFeatures(const std::filesystem::path& weights);
  ~InceptionFeatures();
  InceptionFeatures(InceptionFeatures&&) noexcept;
  InceptionFeatures& operator=(InceptionFeatures&&) noexcept;

  // [images, 2048], after the final average pool. Pictures of any size: they are resized to
  // 299 x 299 as pytorch-fid does, bilinear without smoothing; grey ones get three equal channels.
  // progress: called with the number of pictures done, after every few of them.
  [[nodiscard]] Matrix<double> features(
      const ImageBatch& images, const std::function<void(std::size_t)>& progress = {}) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jeffreys
