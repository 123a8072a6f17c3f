#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "report/panel.h"

namespace jeffreys::report {
namespace {

using Line = Curves::Line;

constexpr double kWidth = 400;  // in pixels
constexpr double kCurvesHeight = 220;

void check_length(const Line& line, const char* part, const std::vector<double>& values) {
  if (values.size() == line.x.size()) return;
  throw std::invalid_argument(fmt::format("line '{}': expected as many {} as x, {}, got {}",
                                          line.name, part, line.x.size(), values.size()));
}

bool has_value(const Line& line) { return std::isfinite(line.value) && !line.emphasis; }

bool has_values(const Curves& curves) {
  return std::any_of(curves.lines.begin(), curves.lines.end(), has_value);
}

// A single line needs no legend: the title names it.
Legend legend_of_curves(const Curves& curves) {
  if (curves.lines.size() + curves.marks.size() + curves.references.size() < 2) return {};
  std::vector<std::string> names;
  const auto add = [&](const auto& entry) {
    if (!entry.name.empty()) names.push_back(entry.name);
  };
  std::for_each(curves.lines.begin(), curves.lines.end(), add);
  std::for_each(curves.marks.begin(), curves.marks.end(), add);
  std::for_each(curves.references.begin(), curves.references.end(), add);
  return legend_of(names, kWidth);
}

struct Ranges {
  Interval x;
  Interval y;
};

Ranges ranges_of(const Curves& curves) {
  std::vector<const std::vector<double>*> x;
  std::vector<double> levels;
  std::vector<const std::vector<double>*> y = {&levels};
  for (const Curves::Reference& reference : curves.references) levels.push_back(reference.y);
  bool filled = false;
  for (const Line& line : curves.lines) {
    x.push_back(&line.x);
    for (const auto* values : {&line.y, &line.lower, &line.upper}) y.push_back(values);
    filled = filled || line.filled;
  }
  if (filled && !curves.log_y) levels.push_back(0);
  Interval fitted = fit(y, curves.log_y);
  // An area stands on the axis.
  const bool negative = std::any_of(y.begin(), y.end(), [](const std::vector<double>* values) {
    return std::any_of(values->begin(), values->end(), [](double value) { return value < 0; });
  });
  if (filled && !curves.log_y && !negative) fitted.min = 0;
  return {fit(x, curves.log_x), choose(curves.y_min, curves.y_max, fitted)};
}

// Draws from the back to the front: areas, bands, references, lines, emphasis, marks.
class CurveParts {
 public:
  CurveParts(Script& script, const Curves& curves, const Ranges& ranges)
      : script_(script), curves_(curves), ranges_(ranges) {}

  std::vector<std::string> all() {
    for (std::size_t i = 0; i < curves_.lines.size(); ++i) {
      if (curves_.lines[i].filled) add_area(i);
    }
    for (std::size_t i = 0; i < curves_.lines.size(); ++i) {
      if (!curves_.lines[i].lower.empty()) add_band(i);
    }
    // The legend keeps the order of the lines, so those with emphasis are drawn once more.
    std::vector<std::string> front;
    for (std::size_t i = 0; i < curves_.lines.size(); ++i) {
      const Line& line = curves_.lines[i];
      const std::string drawn = drawn_line(i);
      parts_.push_back(drawn + (line.filled ? "notitle" : title_of(line.name)));
      if (line.emphasis) front.push_back(drawn + "notitle");
    }
    add_references();
    parts_.insert(parts_.end(), front.begin(), front.end());
    add_marks();
    return parts_;
  }

 private:
  std::string color(std::size_t i) const {
    const Line& line = curves_.lines[i];
    if (line.emphasis && line.color < 0) return "rgb '#000000'";
    if (has_value(line)) return fmt::format("palette cb {}", number(line.value));
    if (line.filled && line.color < 0) return "rgb '#b0b0b0'";
    return fmt::format("rgb '{}'", line_color(line.color < 0 ? static_cast<int>(i) : line.color));
  }

  void add_area(std::size_t i) {
    const Line& line = curves_.lines[i];
    const double ground = curves_.log_y ? ranges_.y.min : 0;
    parts_.push_back(fmt::format(
        "{} with filledcurves y={} fs transparent solid 0.35 noborder lc {} {}",
        script_.block({line.x, line.y}), number(ground), color(i), title_of(line.name)));
  }

  // Points that cannot be drawn would tear the band, so they are left out. On a logarithmic axis it
  // ends at the bottom, since mean - deviation may be below 0.
  void add_band(std::size_t i) {
    const Line& line = curves_.lines[i];
    std::vector<std::vector<double>> band(3);
    for (std::size_t k = 0; k < line.x.size(); ++k) {
      if (!std::isfinite(line.x[k] + line.lower[k] + line.upper[k])) continue;
      const double ground = ranges_.y.min;
      band[0].push_back(line.x[k]);
      band[1].push_back(curves_.log_y ? std::max(line.lower[k], ground) : line.lower[k]);
      band[2].push_back(curves_.log_y ? std::max(line.upper[k], ground) : line.upper[k]);
    }
    if (band[0].size() < 2) return;
    parts_.push_back(
        fmt::format("{} with filledcurves fs transparent solid 0.18 noborder lc {} notitle",
                    script_.block(band), color(i)));
  }

  // A line of a single point would be invisible.
  std::string drawn_line(std::size_t i) {
    const Line& line = curves_.lines[i];
    const bool single = line.x.size() == 1;
    const double width = line.emphasis ? 2.6 : line.filled ? 0.8 : 1.4;
    return fmt::format("{} with {} lw {}{} lc {} ", script_.block({line.x, line.y}),
                       single ? "points pt 7 ps 0.5" : "lines", width,
                       line.dashed && !line.emphasis && !single ? " dt (6,4)" : "", color(i));
  }

  void add_references() {
    constexpr std::array<const char*, 3> kDashes = {"(2,3)", "(10,3,2,3)", "(10,6)"};
    for (std::size_t i = 0; i < curves_.references.size(); ++i) {
      const Curves::Reference& reference = curves_.references[i];
      parts_.push_back(
          fmt::format("{} with lines lw 1.3 dt {} lc rgb '#444444' {}",
                      script_.block({{ranges_.x.min, ranges_.x.max}, {reference.y, reference.y}}),
                      kDashes[i % kDashes.size()], title_of(reference.name)));
    }
  }

  void add_marks() {
    for (const Curves::Mark& mark : curves_.marks) {
      parts_.push_back(fmt::format("{} with points pt 6 ps 0.9 lw 1.6 lc rgb '{}' {}",
                                   script_.block({{mark.x}, {mark.y}}),
                                   line_color(std::max(mark.color, 0)), title_of(mark.name)));
    }
  }

  Script& script_;
  const Curves& curves_;
  const Ranges& ranges_;
  std::vector<std::string> parts_;
};

// The values themselves, without the margin of an axis.
Interval value_range(const Curves& curves) {
  std::vector<double> values;
  for (const Line& line : curves.lines) {
    if (has_value(line) && (!curves.log_values || line.value > 0)) values.push_back(line.value);
  }
  if (values.empty()) return {1, 10};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least == *most && curves.log_values) return {*least / 2, *most * 2};
  return choose(*least, *most, {});
}

}  // namespace

void check_kind(const Curves& curves) {
  for (const Line& line : curves.lines) {
    check_length(line, "y", line.y);
    if (line.lower.empty() && line.upper.empty()) continue;
    check_length(line, "lower", line.lower);
    check_length(line, "upper", line.upper);
  }
}

Size size_of_kind(const Curves& curves) {
  Size size{kWidth, kCurvesHeight, legend_of_curves(curves).height};
  if (has_values(curves)) size.right = kColorBarRoom + (curves.value_label.empty() ? 0 : 14);
  return size;
}

void draw_kind(Script& script, const Curves& curves, const Box& box, const PanelStyle& style) {
  const Ranges ranges = ranges_of(curves);
  const Legend legend = legend_of_curves(curves);
  if (has_values(curves)) set_value_colors(script, value_range(curves), curves.log_values);
  const std::vector<std::string> parts = CurveParts(script, curves, ranges).all();
  set_axes(script,
           {.title = curves.title,
            .x_label = curves.x_label,
            .y_label = curves.y_label,
            .x = ranges.x,
            .y = ranges.y,
            .log_x = curves.log_x,
            .log_y = curves.log_y,
            .legend = legend.height},
           box, style);
  set_legend(script, box, legend);
  if (has_values(curves)) set_color_bar(script, box, curves.value_label);
  plot(script, parts);
}

}  // namespace jeffreys::report
