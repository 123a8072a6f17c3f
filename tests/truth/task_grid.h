// Integrals over the posterior of a task with two parameters.
#pragma once

#include <cmath>

#include "jeffreys/truth/task.h"

namespace jeffreys::testing {

struct PosteriorIntegrals {
  double mass = 0;
  double entropy = 0;
};

// By the midpoint rule on points of the posterior's range, `lines` in one direction, in the other
// more by the golden ratio: an edge at 45 degrees, such as crescents have, then cuts its cells at
// evenly spread places.
inline PosteriorIntegrals integrate_posterior(const Task& task, const Vector<double>& observation,
                                              Eigen::Index lines) {
  const ParameterRange range = task.posterior_range(observation);
  const Eigen::Index across = lines * 1618 / 1000 + 1;
  const double dx = (range.upper[0] - range.lower[0]) / static_cast<double>(lines);
  const double dy = (range.upper[1] - range.lower[1]) / static_cast<double>(across);
  Matrix<double> points(lines * across, 2);
  for (Eigen::Index i = 0; i < lines; ++i) {
    for (Eigen::Index j = 0; j < across; ++j) {
      points.row(i * across + j) << range.lower[0] + dx * (static_cast<double>(i) + 0.5),
          range.lower[1] + dy * (static_cast<double>(j) + 0.5);
    }
  }
  PosteriorIntegrals result;
  for (const double log_p : task.posterior_log_prob(points, observation)) {
    if (log_p < -700) continue;
    const double mass = std::exp(log_p) * dx * dy;
    result.mass += mass;
    result.entropy -= mass * log_p;
  }
  return result;
}

}  // namespace jeffreys::testing
