// How far an observation lies from what the posterior was fitted to: beyond that, a network only
// extrapolates.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "jeffreys/sbi/posterior.h"

namespace jeffreys {
namespace {

constexpr Eigen::Index kMostWhitened = 100;
constexpr double kSmallestShare = 1e-10;  // of the largest eigenvalue: below it is rounding

// Symmetric square root of the covariance's inverse; directions without spread are left out.
Matrix<double> whitening_of(const Matrix<double>& covariance) {
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> solver(covariance);
  const double least = kSmallestShare * std::max(solver.eigenvalues().maxCoeff(), 1e-300);
  Vector<double> scale(covariance.rows());
  for (Eigen::Index i = 0; i < scale.size(); ++i) {
    const double value = solver.eigenvalues()(i);
    scale(i) = value > least ? 1 / std::sqrt(value) : 0;
  }
  return solver.eigenvectors() * scale.asDiagonal() * solver.eigenvectors().transpose();
}

}  // namespace

void Posterior::set_training_outcomes(const MatrixView<double>& context) {
  training_ = {};
  if (context.cols() > kMostWhitened || context.rows() < 2) return;
  training_.center = context.colwise().mean().transpose();
  const Matrix<double> centered = context.rowwise() - training_.center.transpose();
  training_.whitening =
      whitening_of(centered.transpose() * centered / static_cast<double>(context.rows() - 1));
  training_.largest = (centered * training_.whitening).rowwise().norm().maxCoeff();
}

std::vector<ObservationDistance> Posterior::distances(const MatrixView<double>& observed) const {
  const Matrix<double> context = encode(observed);
  std::vector<ObservationDistance> all(static_cast<std::size_t>(observed.rows()));
  for (Eigen::Index r = 0; r < observed.rows(); ++r) {
    ObservationDistance& found = all[static_cast<std::size_t>(r)];
    Eigen::Index column = 0;
    for (const ColumnInfo& info : density_.schema().columns()) {
      if (info.role != ColumnRole::condition) continue;
      const double value = observed(r, column++);
      if (info.kind == ColumnKind::categorical) continue;
      const double outside = std::max(info.minimum - value, value - info.maximum) / info.scale;
      if (outside <= found.beyond_range) continue;
      found.beyond_range = outside;
      found.outcome = info.name;
    }
    if (training_.center.size() == 0) continue;
    found.distance = (training_.whitening * (context.row(r).transpose() - training_.center)).norm();
    found.largest_training = training_.largest;
  }
  return all;
}

}  // namespace jeffreys
