#include "jeffreys/evaluate/kernel_baseline.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "evaluate/column_scale.h"

namespace jeffreys {
namespace {

constexpr double kLeastBandwidth = 1e-3;
constexpr double kMostBandwidth = 10;
constexpr double kLogTolerance = 0.01;

// Rows that are judged where bandwidths are compared by leaving out.
constexpr Eigen::Index kMostJudged = 2000;

// Log density of each row of x under unit Gaussians on the centres, in blocks of rows that keep the
// distances in the cache. With parts of the centres, the first of which are the rows of x: on those
// of other parts.
Vector<double> unit_kernel_log_prob(const Matrix<double>& x, const Matrix<double>& centers,
                                    std::span<const std::size_t> parts = {},
                                    const std::function<void()>& on_step = {}) {
  constexpr Eigen::Index kBlock = 64;
  const double constant = -0.5 * static_cast<double>(x.cols()) * std::log(2 * std::numbers::pi) -
                          std::log(static_cast<double>(centers.rows()));
  const Eigen::RowVectorXd center_terms = -0.5 * centers.rowwise().squaredNorm().transpose();
  Vector<double> result(x.rows());
  for (Eigen::Index from = 0; from < x.rows(); from += kBlock) {
    if (on_step) on_step();
    const auto rows = x.middleRows(from, std::min(kBlock, x.rows() - from));
    // Minus half the squared distances, but for a term that is the same for all centres.
    Matrix<double> exponents = rows * centers.transpose();
    exponents.rowwise() += center_terms;
    for (Eigen::Index i = 0; i < rows.rows() && !parts.empty(); ++i) {
      for (std::size_t k = 0; k < parts.size(); ++k) {
        if (parts[k] == parts[static_cast<std::size_t>(from + i)]) {
          exponents(i, static_cast<Eigen::Index>(k)) = -std::numeric_limits<double>::infinity();
        }
      }
    }
    const Vector<double> top = exponents.rowwise().maxCoeff();
    exponents.colwise() -= top;
    result.segment(from, rows.rows()) = constant + top.array() -
                                        0.5 * rows.rowwise().squaredNorm().array() +
                                        exponents.array().exp().rowwise().sum().log();
  }
  return result;
}

// The place of a maximum between from and to, where the function rises before it and falls after.
double golden_section(const std::function<double(double)>& value, double from, double to) {
  const double ratio = 1 / std::numbers::phi;
  double left = to - ratio * (to - from);
  double right = from + ratio * (to - from);
  double at_left = value(left);
  double at_right = value(right);
  while (to - from > kLogTolerance) {
    if (at_left >= at_right) {
      to = right;
      right = left;
      at_right = at_left;
      left = to - ratio * (to - from);
      at_left = value(left);
    } else {
      from = left;
      left = right;
      at_left = at_right;
      right = from + ratio * (to - from);
      at_right = value(right);
    }
  }
  return 0.5 * (from + to);
}

// Rows that repeat or cluster give the likelihood several maxima: a grid finds the highest one.
double best_log_bandwidth(const std::function<double(double)>& value) {
  constexpr double kStep = std::numbers::ln2;
  const double least = std::log(kLeastBandwidth);
  const double most = std::log(kMostBandwidth);
  double best = least;
  double best_value = value(least);
  double place = least + kStep;
  while (place < most) {
    const double at_place = value(place);
    if (at_place > best_value) {
      best = place;
      best_value = at_place;
    }
    place += kStep;
  }
  return golden_section(value, std::max(best - kStep, least), std::min(best + kStep, most));
}

double best_bandwidth(const Matrix<double>& rows, const Matrix<double>& centers,
                      std::span<const std::size_t> parts = {},
                      const std::function<void()>& on_step = {}) {
  const auto features = static_cast<double>(centers.cols());
  return std::exp(best_log_bandwidth([&](double log_bandwidth) {
    const double shrink = std::exp(-log_bandwidth);
    return unit_kernel_log_prob(rows * shrink, centers * shrink, parts, on_step).mean() -
           features * log_bandwidth;
  }));
}

}  // namespace

KernelBaseline::KernelBaseline(const MatrixView<double>& training,
                               const MatrixView<double>& validation) {
  check_fit_rows(training, validation);
  const ColumnScale scale(training);
  const Matrix<double> centers = scale.standardized(training);
  const Matrix<double> rows = scale.standardized(validation);
  set(centers, scale.mean, scale.deviation, best_bandwidth(rows, centers));
}

KernelBaseline::KernelBaseline(const MatrixView<double>& x, std::span<const std::size_t> parts,
                               const std::function<void()>& on_step) {
  check_fit_rows(x, x);
  check_size("parts", static_cast<std::int64_t>(parts.size()), x.rows());
  if (std::all_of(parts.begin(), parts.end(), [&](auto part) { return part == parts[0]; })) {
    throw std::invalid_argument("parts: expected two or more");
  }
  const ColumnScale scale(x);
  const Matrix<double> centers = scale.standardized(x);
  const Matrix<double> judged = centers.topRows(std::min(kMostJudged, centers.rows()));
  set(centers, scale.mean, scale.deviation, best_bandwidth(judged, centers, parts, on_step));
}

void KernelBaseline::set(const Matrix<double>& centers, const Eigen::RowVectorXd& mean,
                         const Eigen::RowVectorXd& deviation, double bandwidth) {
  bandwidth_ = bandwidth;
  centers_ = centers / bandwidth;
  mean_ = mean;
  deviation_ = deviation * bandwidth;
}

Vector<double> KernelBaseline::log_prob(const MatrixView<double>& x) const {
  check_columns("x", x.cols(), centers_.cols());
  const Matrix<double> scaled = (x.rowwise() - mean_).array().rowwise() / deviation_.array();
  Vector<double> result =
      unit_kernel_log_prob(scaled, centers_).array() - deviation_.array().log().sum();
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    if (!x.row(i).allFinite()) result[i] = std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

}  // namespace jeffreys
