// Panels of the plane: density maps and scatters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "report/panel.h"

namespace jeffreys::report {
namespace {

constexpr double kSide = 260;  // in pixels

void check_points(const Matrix<double>& points) {
  if (points.size() != 0 && points.cols() != 2) {
    throw std::invalid_argument(fmt::format("points: expected 2 columns, got {}", points.cols()));
  }
}

struct Plane {
  Interval x;
  Interval y;
};

Plane plane_of(const DensityMap& map) {
  return {choose(map.x_min, map.x_max, {}), choose(map.y_min, map.y_max, {})};
}

Plane plane_of(const Scatter& scatter) {
  std::vector<double> x;
  std::vector<double> y;
  if (scatter.points.size() != 0) {
    x = column_of(scatter.points, 0);
    y = column_of(scatter.points, 1);
  }
  return {choose(scatter.x_min, scatter.x_max, fit({&x})),
          choose(scatter.y_min, scatter.y_max, fit({&y}))};
}

// Equal scales where that leaves a readable shape.
Size plane_size(const Plane& plane) {
  const double ratio = (plane.y.max - plane.y.min) / (plane.x.max - plane.x.min);
  if (ratio < 0.4 || ratio > 2.5) return {kSide, kSide};
  return ratio < 1 ? Size{kSide, kSide * ratio} : Size{kSide / ratio, kSide};
}

std::string point_block(Script& script, const Matrix<double>& points, Eigen::Index most) {
  std::vector<std::vector<double>> columns(2);
  const Eigen::Index stride = std::max<Eigen::Index>(1, (points.rows() + most - 1) / most);
  for (Eigen::Index r = 0; r < points.rows(); r += stride) {
    columns[0].push_back(points(r, 0));
    columns[1].push_back(points(r, 1));
  }
  return script.block(columns);
}

// Plain colours between round densities, at most 14.
struct Bands {
  double step = 1;
  int count = 1;
};

Bands bands_of(double color_max) {
  const double step = tic_step({0, color_max}, 14);
  return {step, static_cast<int>(std::ceil(color_max / step - 1e-9))};
}

// Where on the old axis a cell of the finer one lies: between which centers, and how far.
struct Place {
  Eigen::Index low = 0;
  Eigen::Index high = 0;
  double part = 0;
};

Place place_of(Eigen::Index fine, Eigen::Index factor, Eigen::Index cells) {
  const double at = (static_cast<double>(fine) + 0.5) / static_cast<double>(factor) - 0.5;
  const double inside = std::clamp(at, 0.0, static_cast<double>(cells - 1));
  const auto low = static_cast<Eigen::Index>(inside);
  return {low, std::min(low + 1, cells - 1), inside - static_cast<double>(low)};
}

// The middle density of the band at each of many more cells, between the centers bilinearly. So
// many cells that their edges cannot be seen at twice the resolution of the picture.
Matrix<double> banded(const Matrix<double>& density, const Bands& bands) {
  const Eigen::Index most = std::max(density.rows(), density.cols());
  const auto factor = std::max<Eigen::Index>(1, static_cast<Eigen::Index>(2 * kSide) / most);
  Matrix<double> fine(factor * density.rows(), factor * density.cols());
  for (Eigen::Index r = 0; r < fine.rows(); ++r) {
    const Place y = place_of(r, factor, density.rows());
    for (Eigen::Index c = 0; c < fine.cols(); ++c) {
      const Place x = place_of(c, factor, density.cols());
      const double low = (1 - x.part) * density(y.low, x.low) + x.part * density(y.low, x.high);
      const double high = (1 - x.part) * density(y.high, x.low) + x.part * density(y.high, x.high);
      const double band = std::floor(((1 - y.part) * low + y.part * high) / bands.step);
      fine(r, c) = bands.step * (std::min(band, bands.count - 1.0) + 0.5);
    }
  }
  return fine;
}

// Cells fill the plane. They have axes of their own, that count cells: gnuplot is slow at computing
// where each one lies.
std::string map_part(Script& script, const Matrix<double>& cells) {
  script.line(fmt::format("set x2range [-0.5:{}] noextend\nset y2range [-0.5:{}] noextend",
                          static_cast<double>(cells.cols()) - 0.5,
                          static_cast<double>(cells.rows()) - 0.5));
  return fmt::format("{} matrix axes x2y2 with image notitle", script.matrix_block(cells));
}

}  // namespace

void check_kind(const DensityMap& map) { check_points(map.points); }

void check_kind(const Scatter& scatter) { check_points(scatter.points); }

Size size_of_kind(const DensityMap& map) { return plane_size(plane_of(map)); }

Size size_of_kind(const Scatter& scatter) { return plane_size(plane_of(scatter)); }

double color_max_of(const Panel& panel) {
  const auto* map = std::get_if<DensityMap>(&panel);
  if (!map) return 0;
  const double* first = map->density.data();
  const std::vector<double> values = drawable({first, first + map->density.size()});
  if (values.empty()) return 0;
  const double common = quantile(values, 0.999);
  return common > 0 ? common : std::max(0.0, quantile(values, 1));
}

void draw_kind(Script& script, const DensityMap& map, const Box& box, const PanelStyle& style) {
  const Plane plane = plane_of(map);
  std::vector<std::string> parts;
  if (map.contours) {
    const Bands bands = bands_of(style.color_max);
    set_map_colors(script, bands.count * bands.step, bands.count);
    if (map.density.size() != 0) {
      parts.push_back(map_part(script, banded(map.density, bands)));
    }
  } else {
    set_map_colors(script, style.color_max);
    if (map.density.size() != 0) parts.push_back(map_part(script, map.density));
  }
  if (map.points.size() != 0) {
    parts.push_back(fmt::format("{} with points pt 7 ps 0.22 lc rgb '#ff7f0e' notitle",
                                point_block(script, map.points, style.most_points)));
  }
  set_axes(script,
           {.title = map.title,
            .x_label = map.x_label,
            .y_label = map.y_label,
            .x = plane.x,
            .y = plane.y,
            .boxed = true},
           box, style);
  if (style.color_bar) set_color_bar(script, box, map.value_label);
  plot(script, parts);
}

void draw_kind(Script& script, const Scatter& scatter, const Box& box, const PanelStyle& style) {
  const Plane plane = plane_of(scatter);
  const std::string points = point_block(script, scatter.points, style.most_points);
  set_axes(script,
           {.title = scatter.title,
            .x_label = scatter.x_label,
            .y_label = scatter.y_label,
            .x = plane.x,
            .y = plane.y,
            .boxed = true},
           box, style);
  plot(script, {fmt::format("{} with points pt 7 ps {} lc rgb '#60{}' notitle", points,
                            style.point_size, style.color + 1)});
}

}  // namespace jeffreys::report
