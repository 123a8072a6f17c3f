// The density that anyone can fit: a Gaussian with the mean and covariance of the training rows;
// with conditions, a linear regression on them with Gaussian residuals. A model that does not beat
// it has found nothing.
#pragma once

#include "jeffreys/base/matrix.h"

namespace jeffreys {

class GaussianBaseline {
 public:
  // x [rows, features], context [rows, any number of columns]. The covariance gets 1e-6 of its mean
  // variance on the diagonal, so that few rows or copies of columns do not make it singular.
  GaussianBaseline(const MatrixView<double>& x, const MatrixView<double>& context);

  [[nodiscard]] Vector<double> log_prob(const MatrixView<double>& x,
                                        const MatrixView<double>& context) const;

 private:
  Matrix<double> coefficients_;  // [1 + context, features]
  Matrix<double> factor_;        // lower Cholesky factor of the residuals' covariance
};

}  // namespace jeffreys
