// Noise that is wider than a density's own: what it becomes reaches where the density has no
// samples. Where several rows of noise become the same x (a mixture chooses its component by noise
// too) the ratio is that of pairs of noise and x, by which importance weights stay unbiased.
#pragma once

#include <Eigen/Core>
#include <cmath>

namespace jeffreys {

struct WideNoise {
  explicit WideNoise(Eigen::Index features)
      : dimension(static_cast<double>(features)), scale(1 + 2 / std::sqrt(dimension)) {}

  // log of the density of rows from this noise to that of rows from standard noise, at noise with
  // this squared norm.
  [[nodiscard]] double log_ratio(double squared_norm) const {
    return 0.5 * (1 - 1 / (scale * scale)) * squared_norm - dimension * std::log(scale);
  }

  double dimension;
  // In many dimensions a wide ball has nearly all of its volume where nothing is: there the noise
  // is only a little wider.
  double scale;
};

}  // namespace jeffreys
