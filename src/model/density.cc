#include "jeffreys/model/density.h"

#include <algorithm>
#include <stdexcept>

#include "base/checks.h"
#include "kernels/random.h"
#include "model/tile_rows.h"

namespace jeffreys {

template <typename T>
UnnormalizedDensity<T>::UnnormalizedDensity() = default;
template <typename T>
UnnormalizedDensity<T>::~UnnormalizedDensity() = default;

template <typename T>
const ParameterLayout& UnnormalizedDensity<T>::state_layout() const {
  static const ParameterLayout kNone;
  return kNone;
}

template <typename T>
InputGradient<T> UnnormalizedDensity<T>::input_gradient(const MatrixView<T>&, const MatrixView<T>&,
                                                        ContextGradient) const {
  throw std::logic_error("input_gradient: this model has none, see has_input_gradient()");
}

template <typename T>
void UnnormalizedDensity<T>::set_state(std::span<const T> values) {
  check_size("state", static_cast<Eigen::Index>(values.size()), 0);
}

template <typename T>
Vector<T> UnnormalizedDensity<T>::add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                                             const VectorView<T>& weights,
                                             std::span<T> gradient) const {
  check_size("weights", weights.size(), x.rows());
  const T* data = weights.data();
  return add_scores(
      x, context,
      [data](Eigen::Index first, std::span<const T>, std::span<T> out) {
        std::copy_n(data + first, out.size(), out.begin());
      },
      gradient);
}

template <typename T>
Vector<T> UnnormalizedDensity<T>::add_scores_of_batch(const MatrixView<T>& x,
                                                      const MatrixView<T>& context,
                                                      const BatchWeightFunction<T>& weights,
                                                      std::span<T> gradient) const {
  Vector<T> values = log_unnormalized(x, context);
  Vector<T> chosen(values.size());
  weights(values, chosen);
  add_scores(x, context, chosen, gradient);
  return values;
}

template <typename T>
void UnnormalizedDensity<T>::run(std::size_t count,
                                 const std::function<void(std::size_t)>& job) const {
  if (pool_) {
    pool_->run(count, job);
  } else {
    for (std::size_t i = 0; i < count; ++i) job(i);
  }
}

template <typename T>
void Density<T>::sample(Eigen::Index rows, const MatrixView<T>& context, const RandomStream& stream,
                        Samples<T>& samples, KeepTape keep) const {
  check_at_least("rows", rows, 0);
  Matrix<T> noise(rows, noise_features());
  const auto columns = static_cast<std::size_t>(noise.cols());
  this->run(tile_count(rows), [&](std::size_t tile) {
    const TileRows at = tile_rows(rows, tile);
    kernels::fill_normals(
        kernels::RandomArguments<T>{{stream.seed, stream.purpose, stream.iteration},
                                    at.first,
                                    at.rows,
                                    columns,
                                    noise.data() + at.first * columns});
  });
  sample_from_noise(noise, context, samples, keep);
}

template <typename T>
Samples<T> Density<T>::sample(Eigen::Index rows, const RandomStream& stream) const {
  return sample(rows, Matrix<T>(), stream);
}

template <typename T>
Samples<T> Density<T>::sample(Eigen::Index rows, const MatrixView<T>& context,
                              const RandomStream& stream) const {
  Samples<T> samples;
  sample(rows, context, stream, samples);
  return samples;
}

template <typename T>
Samples<T> Density<T>::sample_from_noise(const MatrixView<T>& noise,
                                         const MatrixView<T>& context) const {
  Samples<T> samples;
  sample_from_noise(noise, context, samples);
  return samples;
}

template class UnnormalizedDensity<float>;
template class UnnormalizedDensity<double>;
template class Density<float>;
template class Density<double>;

}  // namespace jeffreys
