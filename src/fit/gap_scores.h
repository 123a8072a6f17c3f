// Rows with gaps under a density: completions from a GapMixture with weights p(row) / g(gaps),
// whose mean is the density of what is known.
#pragma once

#include <functional>
#include <optional>

#include "fit/cell_scores.h"
#include "fit/gap_mixture.h"
#include "jeffreys/fit/tabular_density.h"

namespace jeffreys {

// Below this many effective samples neither a density nor draws can be trusted.
inline constexpr double kLeastEffectiveSamples = 30;

// Completions of one row; a known value on a lattice is somewhere in its cell.
struct Completions {
  Matrix<double> x;            // [points, features]
  Vector<double> log_weights;  // with the Jacobian of what is known

  // Of the mean weight: its logarithm, the standard error of that, and the effective sample size.
  [[nodiscard]] double log_mean() const;
  [[nodiscard]] double error() const;
  [[nodiscard]] double effective_samples() const;
};

class GapSampler {
 public:
  // log_density outlives it; the mixture is its own.
  GapSampler(GapMixture mixture, const RowLogDensity& log_density);

  // Of row `row`. Even points, the same for every row, or random ones of a stream.
  [[nodiscard]] Completions complete(const EncodedRows& rows, Eigen::Index row, Eigen::Index points,
                                     std::optional<RandomStream> stream = {}) const;

  // Log densities of what is known, in the user's units, with their errors.
  [[nodiscard]] RowScores score(const EncodedRows& rows) const;

 private:
  GapMixture mixture_;
  const RowLogDensity& log_density_;
};

// Scores of all rows: score_cells where nothing is missing, else those of a GapSampler, for which
// `mixture` makes proposals.
[[nodiscard]] RowScores score_rows(const EncodedRows& rows, const RowLogDensity& log_density,
                                   const std::function<GapMixture()>& mixture);

// Fitted to samples of the model at some of these conditions.
template <typename T>
[[nodiscard]] GapMixture mixture_of_samples(const Density<T>& model, const RowShape& shape,
                                            const Matrix<double>& context);

// The rows without gaps: their numbers.
[[nodiscard]] std::vector<std::size_t> complete_rows(const EncodedRows& rows);

}  // namespace jeffreys
