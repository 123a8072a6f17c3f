#include "jeffreys/sbi/posterior_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace jeffreys {
namespace {

constexpr Eigen::Index kSteps = 256;  // that are tried at a time
// Of the samples' distances from their mean: the first steps, and the last, which floats cannot
// resolve.
constexpr double kFirstWidth = 0.2;
constexpr double kLastWidth = 1e-4;
constexpr Eigen::Index kMostTurns = 200;

// Takes over the most probable row if it is better than what was known.
bool improve(const Matrix<double>& rows, const Vector<double>& log_prob, PosteriorMode& best) {
  Eigen::Index row = 0;
  const double most = log_prob.maxCoeff<Eigen::PropagateNumbers>(&row);
  if (best.parameters.size() > 0 && !(most > best.log_prob)) return false;
  best = {rows.row(row).transpose(), most};
  return true;
}

}  // namespace

PosteriorMode find_mode(const Posterior& posterior, const MatrixView<double>& observed,
                        Eigen::Index samples, const PosteriorSampling& sampling) {
  if (samples < 10) {
    throw std::invalid_argument(fmt::format("samples: expected at least 10, got {}", samples));
  }
  if (observed.rows() != 1) {
    throw std::invalid_argument(
        fmt::format("observed: expected one observation, got {}", observed.rows()));
  }
  const auto log_prob = [&](const Matrix<double>& rows) {
    return posterior.log_prob(rows, observed, sampling.from, sampling.far);
  };
  const Matrix<double> drawn = posterior.sample(observed, samples, sampling).parameters;
  PosteriorMode best;
  improve(drawn, log_prob(drawn), best);
  const Matrix<double> steps = drawn.rowwise() - drawn.colwise().mean();
  const Eigen::Index each = std::min(kSteps, samples);
  double width = kFirstWidth;
  for (Eigen::Index turn = 0; turn < kMostTurns && width > kLastWidth; ++turn) {
    const Eigen::Index first = turn * each % (samples - each + 1);
    Matrix<double> tried = width * steps.middleRows(first, each);
    tried.rowwise() += best.parameters.transpose();
    if (!improve(tried, log_prob(tried), best)) width /= 2;
  }
  return best;
}

}  // namespace jeffreys
