// One iteration of maximum likelihood, plain, with noise on the data or with an entropy term
// (appendix "MLE methods"), up to the gradient.
#pragma once

#include <cstdint>
#include <span>

#include "jeffreys/model/density.h"
#include "jeffreys/train/options.h"
#include "jeffreys/train/record.h"

namespace jeffreys {

template <typename T>
class LikelihoodStep {
 public:
  LikelihoodStep(const Density<T>& main, const TrainOptions& options);

  // row_weights: of mean 1 over all rows of the data; none: all count the same.
  void compute(const MatrixView<T>& x, const MatrixView<T>& context, std::int64_t iteration,
               std::span<T> gradient, StepRecord& record,
               const Vector<T>& row_weights = Vector<T>());

 private:
  Matrix<T> with_noise(const MatrixView<T>& x, std::int64_t iteration) const;

  const Density<T>& main_;
  Method method_;
  double noise_;
  double entropy_weight_;
  std::uint64_t seed_;
  Samples<T> samples_;
};

extern template class LikelihoodStep<float>;
extern template class LikelihoodStep<double>;

}  // namespace jeffreys
