#include "torch/sample_path.h"

#include <torch/autograd.h>

#include "torch/tensors.h"
#include "torch/twin_flow.h"

namespace jeffreys {

using torch::Tensor;

template <typename T>
class SamplePath<T>::Impl {
 public:
  explicit Impl(const SplineFlow<T>& flow) : twin(flow) {}
  twin::FlowTwin twin;
  Tensor samples;
};

template <typename T>
SamplePath<T>::SamplePath(const SplineFlow<T>& flow) : impl_(std::make_unique<Impl>(flow)) {}
template <typename T>
SamplePath<T>::~SamplePath() = default;

template <typename T>
Matrix<T> SamplePath<T>::sample(const SplineFlow<T>& flow, const MatrixView<T>& noise) {
  impl_->twin.load(flow);
  impl_->samples = impl_->twin.sample(twin::to_tensor<T>(noise));
  return twin::to_matrix<T>(impl_->samples);
}

template <typename T>
void SamplePath<T>::add(const MatrixView<T>& sample_gradient, std::span<T> gradient) {
  const Tensor derivative = torch::autograd::grad({impl_->samples}, {impl_->twin.parameters()},
                                                  {twin::to_tensor<T>(sample_gradient)})[0];
  twin::add_to<T>(derivative, gradient);
  impl_->samples.reset();
}

template class SamplePath<float>;
template class SamplePath<double>;

}  // namespace jeffreys
