#include "jeffreys/evaluate/gaussian_baseline.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>

namespace jeffreys {
namespace {

constexpr double kRidge = 1e-6;

Matrix<double> with_intercept(const MatrixView<double>& context, Eigen::Index rows) {
  Matrix<double> design(rows, 1 + context.cols());
  design.col(0).setOnes();
  if (context.cols() > 0) design.rightCols(context.cols()) = context;
  return design;
}

}  // namespace

GaussianBaseline::GaussianBaseline(const MatrixView<double>& x, const MatrixView<double>& context) {
  const Matrix<double> design = with_intercept(context, x.rows());
  // Normal equations, with a trace of ridge for columns that repeat one another.
  Matrix<double> gram = design.transpose() * design;
  gram.diagonal().array() += kRidge * gram.diagonal().mean() * 1e-3;
  coefficients_ = gram.llt().solve(design.transpose() * x);
  const Matrix<double> residuals = x - design * coefficients_;
  Matrix<double> covariance =
      residuals.transpose() * residuals / static_cast<double>(std::max<Eigen::Index>(x.rows(), 1));
  covariance.diagonal().array() += kRidge * std::max(covariance.diagonal().mean(), 1e-300);
  factor_ = covariance.llt().matrixL();
}

Vector<double> GaussianBaseline::log_prob(const MatrixView<double>& x,
                                          const MatrixView<double>& context) const {
  const Matrix<double> residuals = x - with_intercept(context, x.rows()) * coefficients_;
  const Matrix<double> white =
      factor_.triangularView<Eigen::Lower>().solve(residuals.transpose()).transpose();
  const double constant = -0.5 * static_cast<double>(x.cols()) * std::log(2 * std::numbers::pi) -
                          factor_.diagonal().array().log().sum();
  return (constant - 0.5 * white.rowwise().squaredNorm().array()).matrix();
}

}  // namespace jeffreys
