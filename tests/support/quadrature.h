// Cells over a distribution's support for integrals by the midpoint rule.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "jeffreys/base/distribution.h"

namespace jeffreys::testing {

struct Cells {
  std::vector<double> middle;
  std::vector<double> width;
};

// Between two ends: `count` cells of equal width, but within a hundredth of the ends ever narrower
// ones, each `ratio` of the one before it, down to where doubles end. Otherwise `count` cells of
// equal width in normal scores, from -6 to 6.
inline Cells quadrature_cells(const Distribution& distribution, std::size_t count,
                              double ratio = 0.95) {
  const auto [lower, upper] = distribution.support();
  std::vector<double> edges;
  if (std::isfinite(lower) && std::isfinite(upper)) {
    const double width = upper - lower;
    const double outer = 0.01;
    for (double share = 1e-16; share < outer; share /= ratio)
      edges.push_back(lower + width * share);
    for (std::size_t i = 0; i <= count; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(count);
      edges.push_back(lower + width * (outer + (1 - 2 * outer) * share));
    }
    for (double share = outer * ratio; share > 1e-16; share *= ratio) {
      edges.push_back(upper - width * share);
    }
  } else {
    for (std::size_t i = 0; i <= count; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(count);
      edges.push_back(distribution.from_normal_score(12 * share - 6));
    }
  }
  Cells cells;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    cells.middle.push_back(edges[i] + (edges[i + 1] - edges[i]) / 2);
    cells.width.push_back(edges[i + 1] - edges[i]);
  }
  return cells;
}

}  // namespace jeffreys::testing
