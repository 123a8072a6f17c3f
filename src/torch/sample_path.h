// The gradient of a WGAN that the fused models do not offer, by autograd. No libtorch header here:
// only the sources that need it take its time to compile.
#pragma once

#include <memory>
#include <span>

#include "jeffreys/base/matrix.h"
#include "jeffreys/model/spline_flow.h"

namespace jeffreys {

// Samples of a flow as functions of its parameters for fixed noise.
template <typename T>
class SamplePath {
 public:
  explicit SamplePath(const SplineFlow<T>& flow);
  ~SamplePath();
  SamplePath(const SamplePath&) = delete;
  SamplePath& operator=(const SamplePath&) = delete;

  // [rows, features] from standard normal noise of that shape; keeps the path to the parameters.
  Matrix<T> sample(const SplineFlow<T>& flow, const MatrixView<T>& noise);

  // gradient += sum_i sample_gradient_i . d sample_i / d parameters, and forgets the path of the
  // last sample().
  void add(const MatrixView<T>& sample_gradient, std::span<T> gradient);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class SamplePath<float>;
extern template class SamplePath<double>;

}  // namespace jeffreys
