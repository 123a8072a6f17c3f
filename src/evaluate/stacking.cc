#include "jeffreys/evaluate/stacking.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace jeffreys {
namespace {

constexpr int kMostSteps = 5000;
constexpr double kTolerance = 1e-9;  // of the weights

// Densities, each row in units of its largest: what is impossible is 0.
Matrix<double> relative(const MatrixView<double>& log_prob, Vector<double>* largest = nullptr) {
  Matrix<double> result = log_prob;
  if (largest != nullptr) largest->resize(log_prob.rows());
  for (Eigen::Index i = 0; i < result.rows(); ++i) {
    double top = -std::numeric_limits<double>::infinity();
    for (const double value : result.row(i)) {
      if (value > top) top = value;
    }
    for (double& value : result.row(i)) value = value > top - 700 ? std::exp(value - top) : 0;
    if (largest != nullptr) (*largest)(i) = top;
  }
  return result;
}

}  // namespace

std::vector<double> stacking_weights(const MatrixView<double>& log_prob,
                                     const VectorView<double>& row_weights) {
  if (log_prob.cols() == 0) throw std::invalid_argument("log_prob: expected columns, got none");
  if (row_weights.size() > 0 && row_weights.size() != log_prob.rows()) {
    throw std::invalid_argument("row_weights: expected one for every row of log_prob");
  }
  const Eigen::VectorXd rows =
      row_weights.size() > 0 ? row_weights : Eigen::VectorXd::Ones(log_prob.rows());
  const Matrix<double> density = relative(log_prob);
  Eigen::VectorXd weights =
      Eigen::VectorXd::Constant(log_prob.cols(), 1.0 / static_cast<double>(log_prob.cols()));
  for (int step = 0; step < kMostSteps; ++step) {
    const Eigen::VectorXd mixed = density * weights;
    const double possible = (mixed.array() > 0).select(rows, 0).sum();
    if (!(possible > 0)) break;
    const Eigen::VectorXd inverse = (mixed.array() > 0).select(rows.array() / mixed.array(), 0);
    const Eigen::VectorXd next = weights.cwiseProduct(density.transpose() * inverse) / possible;
    const double change = (next - weights).cwiseAbs().maxCoeff();
    weights = next;
    if (change < kTolerance) break;
  }
  return {weights.begin(), weights.end()};
}

Vector<double> mixed_log_prob(const MatrixView<double>& log_prob,
                              const std::vector<double>& weights) {
  if (static_cast<std::size_t>(log_prob.cols()) != weights.size()) {
    throw std::invalid_argument("weights: expected one for every column of log_prob");
  }
  Vector<double> largest;
  const Matrix<double> density = relative(log_prob, &largest);
  const Eigen::Map<const Eigen::VectorXd> shares(weights.data(), log_prob.cols());
  return (density * shares).array().log() + largest.array();
}

}  // namespace jeffreys
