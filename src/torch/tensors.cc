#include "torch/tensors.h"

#include <algorithm>

namespace jeffreys::twin {

template <typename T>
torch::Tensor to_tensor(const MatrixView<T>& matrix) {
  torch::Tensor tensor =
      torch::empty({matrix.rows(), matrix.cols()}, c10::CppTypeToScalarType<T>::value);
  Eigen::Map<Matrix<T>>(tensor.data_ptr<T>(), matrix.rows(), matrix.cols()) = matrix;
  return tensor;
}

template <typename T>
Matrix<T> to_matrix(const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.detach().contiguous();
  return Eigen::Map<const Matrix<T>>(values.data_ptr<T>(), values.size(0), values.size(1));
}

template <typename T>
void add_to(const torch::Tensor& tensor, std::span<T> target) {
  const torch::Tensor values = tensor.detach().contiguous();
  const T* items = values.data_ptr<T>();
  for (std::size_t i = 0; i < target.size(); ++i) target[i] += items[i];
}

template <typename T>
FlatTensor::FlatTensor(const ParameterLayout& layout, std::span<const T> values, bool requires_grad)
    : layout_(layout),
      flat_(torch::empty({static_cast<std::int64_t>(layout.size())},
                         c10::CppTypeToScalarType<T>::value)) {
  for (const ParameterBlock& block : layout.blocks()) {
    sizes_.push_back(static_cast<std::int64_t>(block.size));
  }
  load(values);
  flat_.set_requires_grad(requires_grad);
}

template <typename T>
void FlatTensor::load(std::span<const T> values) {
  std::copy(values.begin(), values.end(), flat_.data_ptr<T>());
}

// One split: its backward pass is one concatenation, where slices would each fill a whole buffer.
Parts FlatTensor::parts() const {
  Parts result;
  const std::vector<torch::Tensor> pieces = flat_.split_with_sizes(sizes_);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const ParameterBlock& block = layout_.blocks()[i];
    result.emplace(block.name, pieces[i].view(block.shape));
  }
  return result;
}

#define JEFFREYS_INSTANTIATE(T)                                                      \
  template torch::Tensor to_tensor<T>(const MatrixView<T>&);                         \
  template Matrix<T> to_matrix<T>(const torch::Tensor&);                             \
  template void add_to<T>(const torch::Tensor&, std::span<T>);                       \
  template FlatTensor::FlatTensor(const ParameterLayout&, std::span<const T>, bool); \
  template void FlatTensor::load<T>(std::span<const T>);

JEFFREYS_INSTANTIATE(float)
JEFFREYS_INSTANTIATE(double)

#undef JEFFREYS_INSTANTIATE

}  // namespace jeffreys::twin
