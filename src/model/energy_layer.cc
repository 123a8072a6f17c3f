#include "model/energy_layer.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/matvec.h"
#include "kernels/reductions.h"
#include "kernels/scratch.h"

namespace jeffreys {
namespace {

constexpr double kMinNorm = 1e-12;  // as in torch.nn.functional.normalize

template <typename T>
void normalize(T* values, std::size_t size) {
  const T norm = static_cast<T>(std::max(std::sqrt(kernels::squared_norm(values, size)), kMinNorm));
  for (std::size_t i = 0; i < size; ++i) values[i] /= norm;
}

template <typename T>
T dot(const T* a, const T* b, std::size_t size) {
  return std::inner_product(a, a + size, b, T(0));
}

}  // namespace

template <typename T>
EnergyLayer<T>::EnergyLayer(const std::string& name, std::size_t inputs, std::size_t outputs,
                            Spectral spectral, ParameterLayout& parameters,
                            ParameterLayout& vectors)
    : layer_(TileLayer<T>::dense(inputs, outputs)), spectral_(spectral == Spectral::yes) {
  const auto in = static_cast<std::int64_t>(inputs);
  const auto out = static_cast<std::int64_t>(outputs);
  weight_ = parameters.add(name + (spectral_ ? ".parametrizations.weight.original" : ".weight"),
                           {out, in});
  bias_ = parameters.add(name + ".bias", {out});
  if (spectral_) {
    u_ = vectors.add(name + ".parametrizations.weight.0._u", {out});
    v_ = vectors.add(name + ".parametrizations.weight.0._v", {in});
  }
}

template <typename T>
void EnergyLayer<T>::pack(const T* parameters, const T* vectors) {
  layer_.pack(parameters + weight_, parameters + bias_);
  if (!spectral_) return;
  Scratch::Frame frame;
  T* product = frame.take<T>(inputs());
  kernels::matvec_transposed(kernels::MatVecArguments<T>{parameters + weight_, outputs(), inputs(),
                                                         vectors + u_, product});
  sigma_ = dot(product, vectors + v_, inputs());
}

// sigma = (W^T u) . v, as pack() computes it: a model that is loaded continues with the same bits.
template <typename T>
void EnergyLayer<T>::power_iterate(const T* parameters, T* vectors) {
  if (!spectral_) return;
  Scratch::Frame frame;
  T* product = frame.take<T>(inputs());
  T* u = vectors + u_;
  T* v = vectors + v_;
  const T* weight = parameters + weight_;
  kernels::matvec(kernels::MatVecArguments<T>{weight, outputs(), inputs(), v, u});
  normalize(u, outputs());
  kernels::matvec_transposed(kernels::MatVecArguments<T>{weight, outputs(), inputs(), u, product});
  std::copy_n(product, inputs(), v);
  normalize(v, inputs());
  sigma_ = dot(product, v, inputs());
}

template <typename T>
void EnergyLayer<T>::forward(const T* input, T* output, std::size_t tiles) const {
  layer_.forward(input, output, false, 1 / sigma_, tiles);
}

template <typename T>
void EnergyLayer<T>::backward(const T* output_gradient, T* input_gradient,
                              std::size_t tiles) const {
  layer_.backward(output_gradient, nullptr, input_gradient, 1 / sigma_, tiles);
}

// The layer has no mask, so the accumulator's order is the natural one.
template <typename T>
void EnergyLayer<T>::add_gradient(const T* accumulator, const T* parameters, const T* vectors,
                                  T* gradient) const {
  if (!spectral_) {
    layer_.add_gradient(accumulator, gradient + weight_, gradient + bias_);
    return;
  }
  using Row = Eigen::Map<const Eigen::Array<T, 1, Eigen::Dynamic>>;
  const auto in = static_cast<Eigen::Index>(inputs());
  double inner = 0;  // G . W
  for (std::size_t o = 0; o < outputs(); ++o) {
    const Row weight(parameters + weight_ + o * inputs(), in);
    inner += static_cast<double>((Row(layer_.weight_sums(accumulator, o), in) * weight).sum());
  }
  const T inverse = 1 / sigma_;
  const Row v(vectors + v_, in);
  for (std::size_t o = 0; o < outputs(); ++o) {
    const T factor = static_cast<T>(inner) * inverse * inverse * vectors[u_ + o];
    Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>> row(gradient + weight_ + o * inputs(), in);
    row += inverse * Row(layer_.weight_sums(accumulator, o), in) - factor * v;
    gradient[bias_ + o] += layer_.bias_sums(accumulator)[o];
  }
}

template class EnergyLayer<float>;
template class EnergyLayer<double>;

}  // namespace jeffreys
