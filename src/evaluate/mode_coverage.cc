#include "jeffreys/evaluate/mode_coverage.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/checks.h"

namespace jeffreys {
namespace {

void check_positive(const char* argument, double value) {
  if (!(value > 0)) {
    throw std::invalid_argument(
        fmt::format("{}: expected a positive number, got {}", argument, value));
  }
}

}  // namespace

Vector<double> mode_shares(const MatrixView<double>& samples, const MatrixView<double>& centers,
                           double radius) {
  check_at_least("rows of samples", samples.rows(), 1);
  check_at_least("rows of centers", centers.rows(), 1);
  check_columns("samples", samples.cols(), centers.cols());
  check_positive("radius", radius);
  Vector<double> counts = Vector<double>::Zero(centers.rows());
  for (const auto& sample : samples.rowwise()) {
    if (sample.hasNaN()) continue;
    Eigen::Index nearest = 0;
    const double distance = (centers.rowwise() - sample).rowwise().squaredNorm().minCoeff(&nearest);
    if (distance <= radius * radius) ++counts[nearest];
  }
  return counts / static_cast<double>(samples.rows());
}

ModeCoverage mode_coverage(const VectorView<double>& shares, const VectorView<double>& expected,
                           double least_fraction) {
  check_at_least("shares", shares.size(), 1);
  check_size("expected", expected.size(), shares.size());
  check_positive("least_fraction", least_fraction);
  for (const double share : expected) check_positive("expected", share);
  const auto covered = (shares.array() >= least_fraction * expected.array()).count();
  return {.modes = static_cast<std::size_t>(shares.size()),
          .covered = static_cast<std::size_t>(covered),
          .covered_share = static_cast<double>(covered) / static_cast<double>(shares.size()),
          .precision = shares.sum()};
}

}  // namespace jeffreys
