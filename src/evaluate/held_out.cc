#include "jeffreys/evaluate/held_out.h"

#include <cmath>
#include <stdexcept>

namespace jeffreys {
namespace {

struct Estimate {
  double mean;
  double standard_error;
};

Estimate mean_of(const VectorView<double>& values, const VectorView<double>& weights) {
  const auto rows = static_cast<double>(values.size());
  if (weights.size() == 0) {
    const double mean = values.size() > 0 ? values.mean() : std::nan("");
    return {mean, std::sqrt((values.array() - mean).square().sum() / (rows - 1) / rows)};
  }
  if (weights.size() != values.size()) {
    throw std::invalid_argument("weights: expected one for each log density");
  }
  const double mean = values.dot(weights) / weights.sum();
  const double spread = (weights.array() * (values.array() - mean)).square().sum();
  return {mean, std::sqrt(spread * rows / (rows - 1)) / weights.sum()};
}

}  // namespace

MeanNll mean_nll(const VectorView<double>& log_prob, const VectorView<double>& weights) {
  const Estimate found = mean_of(log_prob, weights);
  return {.nll = -found.mean,
          .standard_error = found.standard_error,
          .rows = static_cast<std::size_t>(log_prob.size())};
}

PairedDifference paired_difference(const VectorView<double>& a, const VectorView<double>& b,
                                   const VectorView<double>& weights) {
  if (a.size() != b.size()) {
    throw std::invalid_argument("paired_difference: expected log densities of the same rows");
  }
  const Estimate found = mean_of(b - a, weights);
  return {.mean = found.mean, .standard_error = found.standard_error};
}

}  // namespace jeffreys
