// One Gaussian on the line fitted to a mixture of Gaussians by either KL divergence or their sum:
// figure fig:mle. Exact up to rounding: no samples, no training.
#pragma once

#include <vector>

namespace jeffreys::experiment {

struct LineGaussian {
  double mean = 0;
  double deviation = 1;

  [[nodiscard]] double density(double x) const;
};

// With equal weights.
struct LineMixture {
  std::vector<LineGaussian> components;

  [[nodiscard]] double density(double x) const;
  // The Gaussian with this mixture's mean and variance.
  [[nodiscard]] LineGaussian moments() const;
};

enum class Divergence { forward, reverse, jeffreys };

// At one Gaussian, with derivatives with respect to its mean and the logarithm of its deviation.
struct DivergenceValue {
  double value = 0;  // in nats
  double d_mean = 0;
  double d_log = 0;
  double d_mean_mean = 0;
  double d_mean_log = 0;
  double d_log_log = 0;
};

// forward: KL(mixture || gaussian), reverse: KL(gaussian || mixture), jeffreys: their sum. Throws
// std::invalid_argument for a mixture without components and for a deviation that is not above 0.
[[nodiscard]] DivergenceValue divergence(const LineMixture& mixture, const LineGaussian& gaussian,
                                         Divergence kind);

// The Gaussian with the lowest divergence, by Newton's method from the mixture's moments and from
// each of its components. Of equally low ones that of the earliest start.
[[nodiscard]] LineGaussian fit_gaussian(const LineMixture& mixture, Divergence kind);

}  // namespace jeffreys::experiment
