#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys::report {

// More parameters would be too small to read.
inline constexpr int kMostPosteriorParameters = 8;

struct PosteriorPlot {
  std::vector<std::string> names = {};  // of the parameters, 1 to kMostPosteriorParameters
  Matrix<double> samples = {};          // [samples, parameters]
  Vector<double> truth = {};            // [parameters], marked in every panel; may be empty
  // The prior's ends: empty, or [parameters], infinite where there is none. They are the ends of an
  // axis too, unless the samples fill less than half of it.
  Vector<double> lower = {};
  Vector<double> upper = {};
  std::string title = {};
};

// Draws every parameter against every other below the diagonal, and each one alone on it: the
// smallest regions that hold 50 % and 90 % of the samples, by a density whose smoothness predicts
// held-out samples best. Above each diagonal panel are the median and the central 90 % interval.
// The caller chooses the parameters, and should say in the title when there are more. Throws as
// draw() does, and std::invalid_argument for parts that do not fit together or fewer than 20
// samples that are finite.
void draw_posterior(const std::filesystem::path& path, const PosteriorPlot& plot);

}  // namespace jeffreys::report
