#pragma once

#include <Eigen/Core>
#include <cmath>
#include <numbers>
#include <span>

namespace jeffreys {

// Which of these probabilities a normal number chooses by its distribution function, counted from
// the nearer end, where the probabilities of the tails keep their digits.
template <typename T>
[[nodiscard]] Eigen::Index choose_by_noise(std::span<const T> probabilities, double noise) {
  const auto size = static_cast<Eigen::Index>(probabilities.size());
  double rest = 0.5 * std::erfc(std::abs(noise) / std::numbers::sqrt2);
  Eigen::Index chosen = 0;
  for (Eigen::Index i = 0; i < size; ++i) {
    const Eigen::Index k = noise > 0 ? size - 1 - i : i;
    const auto probability = static_cast<double>(probabilities[static_cast<std::size_t>(k)]);
    if (!(probability > 0)) continue;
    chosen = k;
    if (rest < probability) break;
    rest -= probability;
  }
  return chosen;
}

}  // namespace jeffreys
