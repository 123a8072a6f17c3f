#include "jeffreys/evaluate/held_out.h"

#include <cmath>
#include <stdexcept>

namespace jeffreys {
namespace {

double standard_error(const VectorView<double>& values, double mean) {
  const auto rows = static_cast<double>(values.size());
  return std::sqrt((values.array() - mean).square().sum() / (rows - 1) / rows);
}

}  // namespace

MeanNll mean_nll(const VectorView<double>& log_prob) {
  const double mean = log_prob.size() > 0 ? log_prob.mean() : std::nan("");
  return {.nll = -mean,
          .standard_error = standard_error(log_prob, mean),
          .rows = static_cast<std::size_t>(log_prob.size())};
}

PairedDifference paired_difference(const VectorView<double>& a, const VectorView<double>& b) {
  if (a.size() != b.size()) {
    throw std::invalid_argument("paired_difference: expected log densities of the same rows");
  }
  const Vector<double> difference = b - a;
  const double mean = difference.size() > 0 ? difference.mean() : std::nan("");
  return {.mean = mean, .standard_error = standard_error(difference, mean)};
}

}  // namespace jeffreys
