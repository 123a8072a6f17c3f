// Expectation maximisation of a Gaussian mixture on standardised rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "jeffreys/evaluate/mixture_baseline.h"

namespace jeffreys {

// Log of weight times density, [rows, components].
[[nodiscard]] Matrix<double> log_joint(const MatrixView<double>& x,
                                       const std::vector<MixtureComponent>& components);

// Least variance in every direction, in units of the whole table's.
inline constexpr double kLeastVariance = 1e-6;

// How a mixture is fitted to rows.
struct MixtureFitOptions {
  std::size_t count = 1;  // of components
  std::size_t starts = 1;
  std::uint64_t seed = 0;
  double least_variance = kLeastVariance;
  const std::function<void()>* on_step = nullptr;  // see MixtureOptions
};

struct MixtureFit {
  std::vector<MixtureComponent> components;
  double score = 0;  // mean log density of the validation rows
  int steps = 0;     // until then
};

// Rows and how much each counts: weights whose mean is 1, or none if all count the same.
struct WeightedRows {
  Matrix<double> x;
  Vector<double> weights = {};
};

// From so many centres that lie far from one another (k-means++ and a few steps of k-means) until
// validation rows no longer gain or training rows hardly do. Of several starts, the one that is
// likeliest after a few steps goes on.
[[nodiscard]] MixtureFit fit_mixture(const WeightedRows& training, const WeightedRows& validation,
                                     const MixtureFitOptions& options);

// The same with so many steps.
[[nodiscard]] std::vector<MixtureComponent> fit_mixture(const WeightedRows& rows,
                                                        const MixtureFitOptions& options,
                                                        int steps);

}  // namespace jeffreys
