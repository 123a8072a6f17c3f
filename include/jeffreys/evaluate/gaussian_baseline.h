// The density that anyone can fit: a Gaussian with the mean and covariance of the training rows;
// with conditions, a linear regression on them with Gaussian residuals. A model that does not beat
// it has found nothing.
#pragma once

#include "jeffreys/base/matrix.h"

namespace jeffreys {

class GaussianBaseline {
 public:
  // x [rows, features], context [rows, any number of columns]. The correlations of the residuals
  // are shrunk towards none by as much as Ledoit and Wolf (2004) find best for so few rows: with
  // many columns those of the rows alone would be nearly singular, and the Gaussian worse than any
  // model. weights: how much each row counts, in any unit; none: all the same.
  GaussianBaseline(const MatrixView<double>& x, const MatrixView<double>& context,
                   const Vector<double>& weights = {});

  // How far the correlations were shrunk: 0 not at all, 1 to none.
  [[nodiscard]] double shrinkage() const { return shrinkage_; }

  // [1 + context, features]: the constant, then what each number of the context adds.
  [[nodiscard]] const Matrix<double>& coefficients() const { return coefficients_; }
  // The lower Cholesky factor of the residuals' covariance.
  [[nodiscard]] const Matrix<double>& factor() const { return factor_; }

  [[nodiscard]] Vector<double> log_prob(const MatrixView<double>& x,
                                        const MatrixView<double>& context) const;

 private:
  Matrix<double> coefficients_;
  Matrix<double> factor_;
  double shrinkage_ = 0;
};

}  // namespace jeffreys
