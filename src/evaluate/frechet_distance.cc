#include "jeffreys/evaluate/frechet_distance.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/checks.h"
#include "base/shuffle.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

void check_finite(const MatrixView<double>& rows) {
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    if (!(rows.row(i).array().abs() <= kLargestValue).all()) {
      throw std::invalid_argument(fmt::format(
          "features: expected numbers of at most {:g}, row {} has others", kLargestValue, i));
    }
  }
}

// F with F F^T = covariance and as many columns as it has rank. Eigenvalues that rounding cannot
// tell from 0 are left out: their square roots would be of order 1e-8, not 1e-16.
Eigen::MatrixXd factor(const MatrixView<double>& covariance) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);
  if (solver.info() != Eigen::Success) {
    throw std::runtime_error("the eigenvalues of a covariance were not found");
  }
  const Eigen::VectorXd& values = solver.eigenvalues();  // ascending
  const auto size = static_cast<double>(values.size());
  const double least =
      size * std::numeric_limits<double>::epsilon() * std::max(values.tail<1>()(0), 0.0);
  Eigen::Index rank = 0;
  while (rank < values.size() && values(values.size() - 1 - rank) > least) ++rank;
  return solver.eigenvectors().rightCols(rank) * values.tail(rank).cwiseSqrt().asDiagonal();
}

// tr (S1^1/2 S2 S1^1/2)^1/2, which is the sum of the singular values of F1^T F2. These have the
// rounding of the factors themselves, where eigenvalues of the product would have that of squares.
double trace_of_root(const MatrixView<double>& first, const MatrixView<double>& second) {
  const Eigen::MatrixXd product = factor(first).transpose() * factor(second);
  if (product.size() == 0) return 0;
  const double sum = Eigen::BDCSVD<Eigen::MatrixXd>(product).singularValues().sum();
  if (!std::isfinite(sum)) {
    throw std::runtime_error("the singular values of two covariances were not found");
  }
  return sum;
}

// [rows, features] of the drawn ones.
Matrix<double> drawn_rows(const MatrixView<double>& rows, const kernels::RandomKey& key) {
  std::vector<double> uniforms(static_cast<std::size_t>(rows.rows()));
  kernels::fill_uniforms(
      kernels::RandomArguments<double>{key, 0, uniforms.size(), 1, uniforms.data()});
  Matrix<double> drawn(rows.rows(), rows.cols());
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const double place = uniforms[static_cast<std::size_t>(i)] * static_cast<double>(rows.rows());
    drawn.row(i) = rows.row(std::min(static_cast<Eigen::Index>(place), rows.rows() - 1));
  }
  return drawn;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

// sorted: ascending; linear between neighbours.
double quantile_of(const std::vector<double>& sorted, double probability) {
  const double place = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

FeatureMoments::FeatureMoments(Eigen::Index features) {
  check_between("features", features, 1, kMostUnits);
  mean_ = Vector<double>::Zero(features);
  scatter_ = Matrix<double>::Zero(features, features);
}

FeatureMoments::FeatureMoments(const MatrixView<double>& rows) : FeatureMoments(rows.cols()) {
  add(rows);
}

void FeatureMoments::add(const MatrixView<double>& rows) {
  check_columns("features", rows.cols(), features());
  check_finite(rows);
  if (rows.rows() == 0) return;
  FeatureMoments part(features());
  part.rows_ = rows.rows();
  part.mean_ = rows.colwise().mean().transpose();
  const Matrix<double> centred = rows.rowwise() - part.mean_.transpose();
  part.scatter_.selfadjointView<Eigen::Lower>().rankUpdate(centred.transpose());
  part.scatter_.triangularView<Eigen::StrictlyUpper>() = part.scatter_.transpose();
  add(part);
}

// Chan, Golub and LeVeque: exact for any means, where sums of squares would cancel.
void FeatureMoments::add(const FeatureMoments& other) {
  check_columns("features", other.features(), features());
  if (other.rows_ == 0) return;
  const Vector<double> step = other.mean_ - mean_;
  const auto before = static_cast<double>(rows_);
  const auto added = static_cast<double>(other.rows_);
  mean_ += step * (added / (before + added));
  scatter_ += other.scatter_ + (before * added / (before + added)) * step * step.transpose();
  rows_ += other.rows_;
}

Matrix<double> FeatureMoments::covariance() const {
  check_at_least("rows of features", rows_, 2);
  return scatter_ / static_cast<double>(rows_ - 1);
}

double frechet_distance(const VectorView<double>& first_mean,
                        const MatrixView<double>& first_covariance,
                        const VectorView<double>& second_mean,
                        const MatrixView<double>& second_covariance) {
  const Eigen::Index features = first_mean.size();
  check_at_least("features", features, 1);
  check_size("second_mean", second_mean.size(), features);
  for (const MatrixView<double>* covariance : {&first_covariance, &second_covariance}) {
    check_columns("covariance", covariance->cols(), features);
    check_size("covariance", covariance->size(), features * features);
    check_finite(*covariance);
  }
  const double distance = (first_mean - second_mean).squaredNorm() + first_covariance.trace() +
                          second_covariance.trace() -
                          2 * trace_of_root(first_covariance, second_covariance);
  return std::max(distance, 0.0);
}

double frechet_distance(const FeatureMoments& first, const FeatureMoments& second) {
  check_columns("features of the second set", second.features(), first.features());
  return frechet_distance(first.mean(), first.covariance(), second.mean(), second.covariance());
}

double frechet_distance(const MatrixView<double>& first, const MatrixView<double>& second) {
  return frechet_distance(FeatureMoments(first), FeatureMoments(second));
}

void FrechetOptions::validate() const { check_at_least("FrechetOptions.resamples", resamples, 2); }

FrechetInterval frechet_interval(const MatrixView<double>& first, const MatrixView<double>& second,
                                 const FrechetOptions& options) {
  options.validate();
  FrechetInterval result{.distance = frechet_distance(first, second)};
  std::vector<double> distances;
  for (int i = 0; i < options.resamples; ++i) {
    const std::uint64_t draw = 2 * static_cast<std::uint64_t>(i);
    distances.push_back(
        frechet_distance(drawn_rows(first, {options.seed, kResampledRows, draw}),
                         drawn_rows(second, {options.seed, kResampledRows, draw + 1})));
  }
  const double mean = mean_of(distances);
  result.standard_error = deviation_of(distances);
  result.bias = mean - result.distance;
  std::sort(distances.begin(), distances.end());
  result.lower = std::max(result.distance + quantile_of(distances, 0.025) - mean, 0.0);
  result.upper = result.distance + quantile_of(distances, 0.975) - mean;
  return result;
}

HalvesDistance frechet_between_halves(const MatrixView<double>& rows,
                                      const FrechetOptions& options) {
  options.validate();
  check_at_least("rows of features", rows.rows(), 4);
  const Eigen::Index half = rows.rows() / 2;
  std::vector<double> distances;
  for (int i = 0; i < options.resamples; ++i) {
    std::vector<Eigen::Index> order(static_cast<std::size_t>(rows.rows()));
    std::iota(order.begin(), order.end(), 0);
    shuffle(order, {options.seed, kHalves, static_cast<std::uint64_t>(i)});
    const Matrix<double> mixed = rows(order, Eigen::all);
    distances.push_back(frechet_distance(mixed.topRows(half), mixed.middleRows(half, half)));
  }
  return {.mean = mean_of(distances), .standard_deviation = deviation_of(distances), .rows = half};
}

}  // namespace jeffreys
