#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "report/panel.h"

namespace jeffreys::report {
namespace {

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

}  // namespace

void check_kind(const Histogram& histogram) {
  if (histogram.bins >= 0) return;
  throw std::invalid_argument(fmt::format("bins: expected 0 or more, got {}", histogram.bins));
}

Size size_of_kind(const Histogram& histogram) {
  const bool both = !histogram.samples.empty() && !histogram.second.empty();
  return {260, 182, both ? kLegendRow : 0};
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

void draw_kind(Script& script, const Histogram& histogram, const Box& box,
               const PanelStyle& style) {
  const Interval x = choose(histogram.x_min, histogram.x_max,
                            histogram_range(histogram.samples, histogram.second));
  const auto first = outline(histogram.samples, x, bin_count(histogram));
  const auto second = outline(histogram.second, x, bin_count(histogram));
  const double top = std::max(*std::max_element(first[1].begin(), first[1].end()),
                              *std::max_element(second[1].begin(), second[1].end()));
  const Legend legend{2, style.legend ? size_of_kind(histogram).legend : 0};
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
            .legend = legend.height},
           box, style);
  set_legend(script, box, legend);
  plot(script, parts);
}

}  // namespace jeffreys::report
