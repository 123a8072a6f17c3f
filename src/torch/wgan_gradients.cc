#include "torch/wgan_gradients.h"

#include <torch/autograd.h>

#include "torch/tensors.h"
#include "torch/twin_energy.h"
#include "torch/twin_flow.h"

namespace jeffreys {

using torch::Tensor;

template <typename T>
class GradientPenalty<T>::Impl {
 public:
  explicit Impl(const ResidualEnergy<T>& critic) : twin(critic) {}
  twin::EnergyTwin twin;
};

template <typename T>
GradientPenalty<T>::GradientPenalty(const ResidualEnergy<T>& critic)
    : impl_(std::make_unique<Impl>(critic)) {}
template <typename T>
GradientPenalty<T>::~GradientPenalty() = default;

template <typename T>
double GradientPenalty<T>::add(const ResidualEnergy<T>& critic, const MatrixView<T>& x,
                               double weight, std::span<T> gradient) {
  impl_->twin.load(critic);
  const Tensor points = twin::to_tensor<T>(x).set_requires_grad(true);
  const Tensor values = impl_->twin.value(points);
  const Tensor slopes = torch::autograd::grad({values.sum()}, {points}, {}, c10::nullopt, true)[0];
  const Tensor penalty = (slopes.norm(2, {1}) - 1).square().mean();
  const Tensor derivative =
      torch::autograd::grad({penalty * weight}, {impl_->twin.parameters()})[0];
  twin::add_to<T>(derivative, gradient);
  return penalty.item<double>();
}

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

template class GradientPenalty<float>;
template class GradientPenalty<double>;
template class SamplePath<float>;
template class SamplePath<double>;

}  // namespace jeffreys
