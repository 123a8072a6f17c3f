#include "jeffreys/evaluate/gaussian_baseline.h"

#include <Eigen/Cholesky>
#include <algorithm>
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

// Of standardised rows z towards the identity (Ledoit and Wolf 2004): the expected squared error of
// the correlations, as a share of their squared distance from it.
double best_shrinkage(const Matrix<double>& z, const Matrix<double>& correlation) {
  const auto rows = static_cast<double>(z.rows());
  const auto columns = static_cast<double>(z.cols());
  Matrix<double> distance = correlation;
  distance.diagonal().array() -= correlation.trace() / columns;
  const double apart = distance.squaredNorm();
  const double error =
      (z.rowwise().squaredNorm().squaredNorm() / rows - correlation.squaredNorm()) / rows;
  return apart > 0 ? std::clamp(error / apart, 0.0, 1.0) : 1.0;
}

}  // namespace

GaussianBaseline::GaussianBaseline(const MatrixView<double>& rows_x,
                                   const MatrixView<double>& context,
                                   const Vector<double>& weights) {
  Matrix<double> x = rows_x;
  Matrix<double> design = with_intercept(context, x.rows());
  if (weights.size() > 0) {
    // A row that counts twice is as good as two: it adds twice to every sum of squares.
    const Vector<double> roots = (weights / weights.mean()).cwiseSqrt();
    x = roots.asDiagonal() * x;
    design = roots.asDiagonal() * design;
  }
  // Normal equations, with a trace of ridge for columns that repeat one another.
  Matrix<double> gram = design.transpose() * design;
  gram.diagonal().array() += kRidge * gram.diagonal().mean() * 1e-3;
  coefficients_ = gram.llt().solve(design.transpose() * x);
  const Matrix<double> residuals = x - design * coefficients_;
  const auto rows = static_cast<double>(std::max<Eigen::Index>(x.rows(), 1));
  Eigen::RowVectorXd deviation = (residuals.colwise().squaredNorm() / rows).cwiseSqrt();
  // A column that the others explain wholly still needs a deviation.
  const double least = std::sqrt(
      kRidge * std::max(deviation.squaredNorm() / static_cast<double>(deviation.size()), 1e-300));
  deviation = deviation.cwiseMax(least);
  const Matrix<double> white = residuals.array().rowwise() / deviation.array();
  Matrix<double> correlation = white.transpose() * white / rows;
  shrinkage_ = best_shrinkage(white, correlation);
  correlation *= 1 - shrinkage_;
  correlation.diagonal().array() += shrinkage_ + kRidge;
  const Matrix<double> factor = correlation.llt().matrixL();
  factor_ = deviation.transpose().asDiagonal() * factor;
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
