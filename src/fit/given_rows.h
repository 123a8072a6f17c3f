// Completions of encoded rows under a density, as many as are needed.
#pragma once

#include <memory>
#include <optional>

#include "fit/gap_scores.h"

namespace jeffreys {

// Throws std::invalid_argument for rows in which more than 200 columns are open: the weights of
// proposals are hopeless there, after minutes of work.
void require_few_open(const EncodedRows& rows);

template <typename T>
class GivenRows {
 public:
  // The density and the rows outlive it. Throws std::invalid_argument for a posterior, whose
  // parameters have a prior, and as require_few_open does.
  GivenRows(const TabularDensity<T>& density, const EncodedRows& rows, From from);

  // More of them until so many count; nothing if that does not help. Of a row without a known cell
  // they are plain samples.
  [[nodiscard]] std::optional<Completions> complete(Eigen::Index row, double effective_samples,
                                                    Eigen::Index first_points,
                                                    const RandomStream& stream) const;
  // Draws `count` of the completions by their weights.
  [[nodiscard]] static Matrix<double> draw(const Completions& completions, Eigen::Index count,
                                           const RandomStream& stream);

 private:
  [[nodiscard]] Completions samples(Eigen::Index row, Eigen::Index points,
                                    const RandomStream& stream) const;

  const EncodedRows& rows_;
  const Density<T>* samples_from_;  // the model that is asked; nothing if it has no samples
  RowLogDensity log_density_;
  GapSampler sampler_;
};

}  // namespace jeffreys
