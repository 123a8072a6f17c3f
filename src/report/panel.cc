#include "report/panel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace jeffreys::report {
namespace {

constexpr double kSide = 260;    // of maps, in pixels
constexpr double kWidth = 400;   // of curves
constexpr double kHeight = 220;  // of curves

// Okabe and Ito's colours: told apart also by those who do not see red or green.
constexpr std::array<const char*, 7> kLineColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                    "#e69f00", "#56b4e9", "#555555"};

const char* line_color(int color) {
  return kLineColors[static_cast<std::size_t>(color) % kLineColors.size()];
}

void check_points(const Matrix<double>& points) {
  if (points.size() != 0 && points.cols() != 2) {
    throw std::invalid_argument(fmt::format("points: expected 2 columns, got {}", points.cols()));
  }
}

// Equal scales where that leaves a readable shape.
Size plane_size(const Interval& x, const Interval& y) {
  const double ratio = (y.max - y.min) / (x.max - x.min);
  if (ratio < 0.4 || ratio > 2.5) return {kSide, kSide, 0};
  return ratio < 1 ? Size{kSide, kSide * ratio, 0} : Size{kSide / ratio, kSide, 0};
}

struct Legend {
  int columns = 1;
  double height = 0;
};

// As many columns as fit, by the usual width of letters.
Legend legend_of(const Curves& curves) {
  std::size_t longest = 0;
  const auto measure = [&](const auto& entry) { longest = std::max(longest, entry.name.size()); };
  std::for_each(curves.lines.begin(), curves.lines.end(), measure);
  std::for_each(curves.marks.begin(), curves.marks.end(), measure);
  const int entries = static_cast<int>(curves.lines.size() + curves.marks.size());
  if (entries < 2) return {};
  const int fitting = static_cast<int>(kWidth / (45 + 6 * static_cast<double>(longest)));
  const int columns = std::clamp(fitting, 1, entries);
  const int rows = (entries + columns - 1) / columns;
  return {columns, kLegendRow * rows};
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

std::string point_block(Script& script, const Matrix<double>& points, Eigen::Index most) {
  std::vector<std::vector<double>> columns(2);
  const Eigen::Index stride = std::max<Eigen::Index>(1, (points.rows() + most - 1) / most);
  for (Eigen::Index r = 0; r < points.rows(); r += stride) {
    columns[0].push_back(points(r, 0));
    columns[1].push_back(points(r, 1));
  }
  return script.block(columns);
}

// Each plot begins with nothing, since gnuplot refuses to draw axes alone.
void plot(Script& script, const std::vector<std::string>& parts) {
  script.line(
      fmt::format("plot NaN notitle{}{}", parts.empty() ? "" : ", ", fmt::join(parts, ", ")));
}

void draw_kind(Script& script, const DensityMap& map, const Box& box, const PanelStyle& style) {
  const Plane plane = plane_of(map);
  const std::string cells = script.matrix_block(map.density);
  std::vector<std::string> parts;
  if (map.density.size() != 0) {
    const double dx = (plane.x.max - plane.x.min) / static_cast<double>(map.density.cols());
    const double dy = (plane.y.max - plane.y.min) / static_cast<double>(map.density.rows());
    parts.push_back(fmt::format("{} matrix using ({}+{}*$1):({}+{}*$2):3 with image notitle", cells,
                                plane.x.min + 0.5 * dx, dx, plane.y.min + 0.5 * dy, dy));
  }
  if (map.points.size() != 0) {
    parts.push_back(fmt::format("{} with points pt 7 ps 0.22 lc rgb '#ff7f0e' notitle",
                                point_block(script, map.points, style.most_points)));
  }
  script.line(fmt::format("set cbrange [0:{}]", number(style.color_max)));
  set_axes(script,
           {.title = map.title,
            .x_label = map.x_label,
            .y_label = map.y_label,
            .x = plane.x,
            .y = plane.y,
            .boxed = true},
           box, style);
  if (style.color_bar) set_color_bar(script, {box.left + box.width + 12, box.top, 10, box.height});
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

std::vector<std::string> curve_parts(Script& script, const Curves& curves) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < curves.lines.size(); ++i) {
    const Curves::Line& line = curves.lines[i];
    const int color = line.color < 0 ? static_cast<int>(i) : line.color;
    // A line of a single point would be invisible.
    const char* style = line.x.size() == 1 ? "points pt 7 ps 0.5" : "lines";
    parts.push_back(fmt::format("{} with {} lw 1.4{} lc rgb '{}' title {} noenhanced",
                                script.block({line.x, line.y}), style,
                                line.dashed && line.x.size() > 1 ? " dt (6,4)" : "",
                                line_color(color), literal(line.name)));
  }
  for (const Curves::Mark& mark : curves.marks) {
    parts.push_back(fmt::format("{} with points pt 6 ps 0.9 lw 1.6 lc rgb '{}' title {} noenhanced",
                                script.block({{mark.x}, {mark.y}}),
                                line_color(std::max(mark.color, 0)), literal(mark.name)));
  }
  return parts;
}

void draw_kind(Script& script, const Curves& curves, const Box& box, const PanelStyle& style) {
  std::vector<const std::vector<double>*> x;
  std::vector<const std::vector<double>*> y;
  for (const Curves::Line& line : curves.lines) {
    x.push_back(&line.x);
    y.push_back(&line.y);
  }
  const std::vector<std::string> parts = curve_parts(script, curves);
  const Legend legend = legend_of(curves);
  set_axes(script,
           {.title = curves.title,
            .x_label = curves.x_label,
            .y_label = curves.y_label,
            .x = fit(x, curves.log_x),
            .y = choose(curves.y_min, curves.y_max, fit(y, curves.log_y)),
            .log_x = curves.log_x,
            .log_y = curves.log_y,
            .legend = legend.height},
           box, style);
  if (legend.height > 0) set_legend(script, box, legend.height, legend.columns);
  plot(script, parts);
}

int bin_count(const Histogram& histogram) {
  if (histogram.bins > 0) return histogram.bins;
  std::size_t fewest = histogram.samples.size();
  if (!histogram.second.empty() && (fewest == 0 || histogram.second.size() < fewest)) {
    fewest = histogram.second.size();
  }
  return std::clamp(static_cast<int>(2 * std::cbrt(static_cast<double>(fewest))), 8, 50);
}

// Corners of the outline, from and to height 0.
std::vector<std::vector<double>> outline(const std::vector<double>& samples, const Interval& range,
                                         int bins) {
  const double width = (range.max - range.min) / bins;
  std::vector<double> height(static_cast<std::size_t>(bins));
  const std::vector<double> values = drawable(samples);
  for (const double value : values) {
    const double bin = std::floor((value - range.min) / width);
    if (bin < 0 || bin >= bins) continue;
    height[static_cast<std::size_t>(bin)] += 1 / (width * static_cast<double>(values.size()));
  }
  std::vector<double> x = {range.min};
  std::vector<double> y = {0};
  for (std::size_t i = 0; i < height.size(); ++i) {
    const double left = range.min + width * static_cast<double>(i);
    x.insert(x.end(), {left, left + width});
    y.insert(y.end(), {height[i], height[i]});
  }
  x.push_back(range.max);
  y.push_back(0);
  return {x, y};
}

void draw_kind(Script& script, const Histogram& histogram, const Box& box,
               const PanelStyle& style) {
  const Interval x = choose(histogram.x_min, histogram.x_max,
                            histogram_range(histogram.samples, histogram.second));
  const auto first = outline(histogram.samples, x, bin_count(histogram));
  const auto second = outline(histogram.second, x, bin_count(histogram));
  const double top = std::max(*std::max_element(first[1].begin(), first[1].end()),
                              *std::max_element(second[1].begin(), second[1].end()));
  const double legend = style.legend ? size_of(histogram).legend : 0;
  std::vector<std::string> parts;
  if (!histogram.samples.empty()) {
    parts.push_back(fmt::format(
        "{} with filledcurves y=0 fs solid 0.45 noborder lc rgb '{}' title {} noenhanced",
        script.block(first), kDataColor, literal(histogram.name)));
  }
  if (!histogram.second.empty()) {
    parts.push_back(fmt::format("{} with lines lw 1.4 lc rgb '{}' title {} noenhanced",
                                script.block(second), kModelColor, literal(histogram.second_name)));
  }
  set_axes(script,
           {.title = histogram.title,
            .x_label = histogram.x_label,
            .x = x,
            .y = choose(0, 1.06 * top, {}),
            .y_tics = style.y_tics,
            .legend = legend},
           box, style);
  if (legend > 0) set_legend(script, box, legend, 2);
  plot(script, parts);
}

}  // namespace

void check_panel(const Panel& panel) {
  if (const auto* map = std::get_if<DensityMap>(&panel)) check_points(map->points);
  if (const auto* scatter = std::get_if<Scatter>(&panel)) check_points(scatter->points);
  if (const auto* curves = std::get_if<Curves>(&panel)) {
    for (const Curves::Line& line : curves->lines) {
      if (line.x.size() == line.y.size()) continue;
      throw std::invalid_argument(fmt::format("line '{}': expected as many x as y, got {} and {}",
                                              line.name, line.x.size(), line.y.size()));
    }
  }
  if (const auto* histogram = std::get_if<Histogram>(&panel); histogram && histogram->bins < 0) {
    throw std::invalid_argument(fmt::format("bins: expected 0 or more, got {}", histogram->bins));
  }
}

Size size_of(const Panel& panel) {
  if (const auto* curves = std::get_if<Curves>(&panel)) {
    return {kWidth, kHeight, legend_of(*curves).height};
  }
  if (const auto* histogram = std::get_if<Histogram>(&panel)) {
    const bool both = !histogram->samples.empty() && !histogram->second.empty();
    return {kSide, 0.7 * kSide, both ? kLegendRow : 0};
  }
  const auto* map = std::get_if<DensityMap>(&panel);
  const Plane plane = map ? plane_of(*map) : plane_of(std::get<Scatter>(panel));
  return plane_size(plane.x, plane.y);
}

Interval histogram_range(const std::vector<double>& samples, const std::vector<double>& second) {
  std::vector<double> ends = drawable(samples);
  const std::vector<double> others = drawable(second);
  if (!others.empty()) {
    ends.push_back(quantile(others, 0.005));
    ends.push_back(quantile(others, 0.995));
  }
  return fit({&ends});
}

double color_max_of(const Panel& panel) {
  const auto* map = std::get_if<DensityMap>(&panel);
  if (!map) return 0;
  const double* first = map->density.data();
  const std::vector<double> values = drawable({first, first + map->density.size()});
  if (values.empty()) return 0;
  const double common = quantile(values, 0.999);
  return common > 0 ? common : std::max(0.0, quantile(values, 1));
}

void draw_panel(Script& script, const Panel& panel, const Box& box, const PanelStyle& style) {
  std::visit([&](const auto& kind) { draw_kind(script, kind, box, style); }, panel);
}

}  // namespace jeffreys::report
