// How far an observation lies from what the posterior was fitted to: beyond that, a network only
// extrapolates.
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "jeffreys/sbi/posterior.h"

namespace jeffreys {
namespace {

constexpr Eigen::Index kMostWhitened = 100;
// Of a range's width. Every tenfold number of outcomes that may be outside by chance adds to it.
constexpr double kRangeMargin = 0.1;
constexpr double kMarginForTenfold = 0.05;
constexpr double kDistanceMargin = 1.5;
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

// By more than chance.
bool outside_range(const ObservationDistance& of) {
  return !of.outcome.empty() && std::max(of.minimum - of.value, of.value - of.maximum) > of.margin;
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

bool ObservationDistance::beyond() const {
  return outside_range(*this) || distance > kDistanceMargin * largest_training;
}

std::string ObservationDistance::describe() const {
  if (!outcome.empty() && (outside_range(*this) || !beyond())) {
    return fmt::format("outcome {} is {:.6g}, but {:.6g} to {:.6g} in the training pairs", outcome,
                       value, minimum, maximum);
  }
  return fmt::format(
      "its outcomes do not go together as in the training pairs: their distance from the mean is "
      "{:.2g} standard deviations, the largest among the pairs {:.2g}",
      distance, largest_training);
}

// Of one row.
ObservationDistance Posterior::distance(const MatrixView<double>& observed,
                                        const MatrixView<double>& context) const {
  ObservationDistance found;
  const double margin =
      kRangeMargin + kMarginForTenfold * std::log10(static_cast<double>(observed.cols()));
  double farthest = 0;
  Eigen::Index column = 0;
  for (const ColumnInfo& info : density_.schema().columns()) {
    if (info.role != ColumnRole::condition) continue;
    const double value = observed(0, column++);
    if (info.kind == ColumnKind::categorical) continue;
    const double outside = std::max(info.minimum - value, value - info.maximum);
    const double share = outside / (info.maximum - info.minimum);
    if (!(share > farthest)) continue;
    farthest = share;
    found.outcome = info.name;
    found.value = value;
    found.minimum = info.minimum;
    found.maximum = info.maximum;
    const double end = value < info.minimum ? info.minimum : info.maximum;
    found.beyond_range = std::abs(info.tails.draw_in(value) - info.tails.draw_in(end)) / info.scale;
    found.margin = margin * (info.maximum - info.minimum);
  }
  if (training_.center.size() == 0) return found;
  found.distance = (training_.whitening * (context.row(0).transpose() - training_.center)).norm();
  found.largest_training = training_.largest;
  return found;
}

std::vector<ObservationDistance> Posterior::distances(const MatrixView<double>& observed) const {
  const Matrix<double> context = encode(observed);
  std::vector<ObservationDistance> all;
  for (Eigen::Index r = 0; r < observed.rows(); ++r) {
    all.push_back(distance(observed.row(r), context.row(r)));
  }
  return all;
}

Matrix<double> Posterior::encode(const MatrixView<double>& observed, FarObservations far) const {
  Matrix<double> context = encode(observed);
  if (far == FarObservations::extrapolate) return context;
  for (Eigen::Index r = 0; r < observed.rows(); ++r) {
    const ObservationDistance found = distance(observed.row(r), context.row(r));
    if (!found.beyond()) continue;
    throw std::invalid_argument(fmt::format(
        "observed: row {} is beyond the training pairs ({}), where an answer may be very sure and "
        "quite wrong; FarObservations::extrapolate gives one all the same",
        r, found.describe()));
  }
  return context;
}

}  // namespace jeffreys
