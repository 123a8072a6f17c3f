// Small models of rows with categories, and rows for them.
#pragma once

#include <memory>
#include <vector>

#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/mixed_density.h"
#include "jeffreys/model/spline_flow.h"

namespace jeffreys::testing {

// Writes codes into the last columns: row by row through all classes, and now and then the code for
// a class that was never seen.
inline void fill_codes(const std::vector<Eigen::Index>& categories, Matrix<double>& x) {
  const auto count = static_cast<Eigen::Index>(categories.size());
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    for (Eigen::Index j = 0; j < count; ++j) {
      const Eigen::Index size = categories[static_cast<std::size_t>(j)];
      const Eigen::Index code =
          (r * (2 * j + 1) + r / 7) % 11 == 10 ? size : (r + r / 3 * j) % size;
      x(r, x.cols() - count + j) = static_cast<double>(code);
    }
  }
}

// With a flow for the continuous features, if there are any.
template <typename T>
std::unique_ptr<MixedDensity<T>> mixed_flow(const MixedDensityOptions& options) {
  if (options.features == 0) return std::make_unique<MixedDensity<T>>(options);
  return std::make_unique<MixedDensity<T>>(
      options, std::make_unique<SplineFlow<T>>(
                   SplineFlowOptions{.features = options.features,
                                     .context_features = options.given_context_features(),
                                     .transforms = 2,
                                     .bins = 5,
                                     .hidden = {12}}));
}

template <typename T>
std::unique_ptr<MixedEnergy<T>> mixed_energy(const MixedEnergyOptions& options,
                                             Eigen::Index context_features) {
  if (context_features == 0) {
    return std::make_unique<MixedEnergy<T>>(
        options, std::make_unique<ResidualEnergy<T>>(ResidualEnergyOptions{
                     .features = options.inner_features(), .hidden = 9, .blocks = 1}));
  }
  return std::make_unique<MixedEnergy<T>>(
      options,
      std::make_unique<FilmEnergy<T>>(FilmEnergyOptions{.features = options.inner_features(),
                                                        .context_features = context_features,
                                                        .hidden = 10,
                                                        .blocks = 1}));
}

}  // namespace jeffreys::testing
