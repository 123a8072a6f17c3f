// Between the models' plain buffers and libtorch tensors.
#pragma once

#include <torch/types.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "jeffreys/base/matrix.h"
#include "jeffreys/model/parameter_layout.h"

namespace jeffreys::twin {

// A copy, [rows, columns].
template <typename T>
torch::Tensor to_tensor(const MatrixView<T>& matrix);
template <typename T>
Matrix<T> to_matrix(const torch::Tensor& tensor);

// target += tensor, item by item.
template <typename T>
void add_to(const torch::Tensor& tensor, std::span<T> target);

using Parts = std::map<std::string, torch::Tensor>;

// A flat buffer and its layout: one leaf that gradients are taken of, so that they have the layout
// of the model's own gradients.
class FlatTensor {
 public:
  template <typename T>
  FlatTensor(const ParameterLayout& layout, std::span<const T> values, bool requires_grad);

  template <typename T>
  void load(std::span<const T> values);

  [[nodiscard]] const torch::Tensor& flat() const { return flat_; }

  // The blocks by name, in their shapes, as functions of the leaf.
  [[nodiscard]] Parts parts() const;

 private:
  ParameterLayout layout_;
  std::vector<std::int64_t> sizes_;
  torch::Tensor flat_;
};

}  // namespace jeffreys::twin
