// Pictures of fitted densities, for `plot` and `demo`.
#pragma once

#include <filesystem>
#include <string>

#include "jeffreys/fit/tabular_density.h"
#include "jeffreys/report/figure.h"
#include "jeffreys/table/table.h"

namespace jeffreys::cli {

struct PlaneBox {
  double x_min = 0;
  double x_max = 1;
  double y_min = 0;
  double y_max = 1;
};

// The density of a model with two numeric features on a grid over the box. context: [1, ...] or
// nothing.
report::DensityMap density_map(const TabularDensity<float>& density, From from,
                               const Matrix<double>& context, const PlaneBox& box,
                               const std::string& title);

// Points over the same box.
report::Scatter scatter_panel(const Matrix<double>& points, const std::string& x_label,
                              const std::string& y_label, const PlaneBox& box,
                              const std::string& title);

// Data (may be nullptr), main model and proxy side by side.
void draw_plane(const TabularDensity<float>& density, const Table* table,
                const Matrix<double>& context, const std::filesystem::path& path);

void draw_training_of(const TabularDensity<float>& density, const std::filesystem::path& path);

}  // namespace jeffreys::cli
