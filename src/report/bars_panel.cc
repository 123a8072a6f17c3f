#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "report/panel.h"
#include "report/text.h"

namespace jeffreys::report {
namespace {

using Series = Bars::Series;

constexpr double kBarsHeight = 220;  // in pixels
constexpr double kLeastWidth = 220;
constexpr double kMostWidth = 720;
constexpr double kLetter = 5.8;
constexpr double kFilled = 0.8;  // of the room of a group

void check_length(const Series& series, const char* part, const std::vector<double>& numbers,
                  std::size_t groups) {
  if (numbers.size() == groups) return;
  throw std::invalid_argument(fmt::format("series '{}': expected as many {} as groups, {}, got {}",
                                          series.name, part, groups, numbers.size()));
}

double deviation_of(const Series& series, std::size_t group) {
  return series.deviation.empty() || !std::isfinite(series.deviation[group])
             ? 0
             : series.deviation[group];
}

int color_of(const Bars& bars, std::size_t s) {
  return bars.series[s].color < 0 ? static_cast<int>(s) : bars.series[s].color;
}

std::size_t longest_name(const Bars& bars) {
  std::size_t longest = 0;
  for (const std::string& name : bars.groups) longest = std::max(longest, letters_in(name));
  return longest;
}

struct Layout {
  double width = 0;
  double slanted = 0;  // room for names that do not fit side by side
  Legend legend = {};
};

Layout layout_of(const Bars& bars) {
  const auto groups = static_cast<double>(std::max<std::size_t>(1, bars.groups.size()));
  const auto series = static_cast<double>(std::max<std::size_t>(1, bars.series.size()));
  const double one = bars.value_labels ? 32 : 17;
  const double name = kLetter * static_cast<double>(longest_name(bars)) + 14;
  const double numbers = groups * series * one / kFilled;
  Layout layout;
  layout.width =
      std::clamp(std::max(numbers, groups * std::min(name, 110.0)), kLeastWidth, kMostWidth);
  if (groups * name > layout.width)
    layout.slanted = std::min(name, static_cast<double>(kSlantedLetters) * kLetter) * 0.57 - 4;
  std::vector<std::string> names;
  for (const Series& each : bars.series) {
    if (!each.name.empty()) names.push_back(each.name);
  }
  for (const Curves::Reference& reference : bars.references) {
    if (!reference.name.empty()) names.push_back(reference.name);
  }
  if (bars.series.size() + bars.references.size() > 1)
    layout.legend = legend_of(names, layout.width);
  return layout;
}

Interval values_of(const Bars& bars) {
  std::vector<double> ends;
  for (const Series& series : bars.series) {
    for (std::size_t g = 0; g < series.values.size(); ++g) {
      if (!std::isfinite(series.values[g])) continue;
      ends.push_back(series.values[g] - deviation_of(series, g));
      ends.push_back(series.values[g] + deviation_of(series, g));
    }
  }
  for (const Curves::Reference& reference : bars.references) ends.push_back(reference.y);
  if (bars.from_zero) ends.push_back(0);
  Interval range = fit({&ends});
  if (bars.value_labels) {
    const double room = 0.08 * (range.max - range.min);
    range.max += room;
    range.min -= room;
  }
  if (bars.from_zero && !ends.empty()) {
    const auto [least, most] = std::minmax_element(ends.begin(), ends.end());
    if (*least >= 0 && *most > 0) range.min = 0;
    if (*most <= 0 && *least < 0) range.max = 0;
  }
  return choose(bars.y_min, bars.y_max, range);
}

class BarParts {
 public:
  explicit BarParts(const Bars& bars)
      : bars_(bars),
        width_(kFilled / static_cast<double>(std::max<std::size_t>(1, bars.series.size()))) {}

  std::vector<std::string> all(Script& script, const Interval& x) const {
    std::vector<std::string> parts;
    for (std::size_t s = 0; s < bars_.series.size(); ++s) add(script, s, parts);
    for (const Curves::Reference& reference : bars_.references) {
      parts.push_back(fmt::format("{} with lines lw 1.3 dt (2,3) lc rgb '#444444' {}",
                                  script.block({{x.min, x.max}, {reference.y, reference.y}}),
                                  title_of(reference.name)));
    }
    if (bars_.from_zero) {
      parts.push_back(fmt::format("{} with lines lw 0.8 lc rgb '#777777' notitle",
                                  script.block({{x.min, x.max}, {0, 0}})));
    }
    return parts;
  }

  // On the far side of the whisker.
  void set_value_labels(Script& script) const {
    for (std::size_t s = 0; s < bars_.series.size(); ++s) {
      const Series& series = bars_.series[s];
      for (std::size_t g = 0; g < series.values.size(); ++g) {
        const double value = series.values[g];
        if (!std::isfinite(value)) continue;
        const bool downward = bars_.from_zero && value < 0;
        const double end = value + (downward ? -1 : 1) * deviation_of(series, g);
        script.line(fmt::format(
            "set label '{:.3g}' at first {},first {} center offset 0,{} font ',7' noenhanced",
            value, number(center(s, g)), number(end), downward ? -0.6 : 0.55));
      }
    }
  }

 private:
  double center(std::size_t s, std::size_t group) const {
    return static_cast<double>(group) - 0.5 * kFilled + (static_cast<double>(s) + 0.5) * width_;
  }

  void add(Script& script, std::size_t s, std::vector<std::string>& parts) const {
    const Series& series = bars_.series[s];
    std::vector<std::vector<double>> bars(6);
    std::vector<std::vector<double>> whiskers(4);
    for (std::size_t g = 0; g < series.values.size(); ++g) {
      const double value = series.values[g];
      const double at = center(s, g);
      const double row[] = {at, value, at - 0.46 * width_, at + 0.46 * width_, 0, value};
      for (std::size_t k = 0; k < 6; ++k) bars[k].push_back(row[k]);
      if (!std::isfinite(value) || deviation_of(series, g) == 0) continue;
      whiskers[0].push_back(at);
      whiskers[1].push_back(value - deviation_of(series, g));
      whiskers[2].push_back(0);
      whiskers[3].push_back(2 * deviation_of(series, g));
    }
    const char* color = line_color(color_of(bars_, s));
    parts.push_back(fmt::format(
        "{} {} lc rgb '{}' {}", script.block(bars),
        bars_.from_zero ? "with boxxyerror fs solid 0.8 noborder" : "with points pt 7 ps 0.75",
        color, title_of(series.name)));
    if (whiskers[0].empty()) return;
    // Arrows with flat heads: gnuplot's error bars blot out what is under their middle.
    parts.push_back(fmt::format("{} with vectors heads size first {},90 lw 1.2 lc rgb '{}' notitle",
                                script.block(whiskers), 0.17 * width_,
                                bars_.from_zero ? "#222222" : color));
  }

  const Bars& bars_;
  double width_;  // of a bar; groups are 1 apart
};

}  // namespace

void check_kind(const Bars& bars) {
  for (const Series& series : bars.series) {
    check_length(series, "values", series.values, bars.groups.size());
    if (series.deviation.empty()) continue;
    check_length(series, "deviation", series.deviation, bars.groups.size());
    const auto negative = [](double deviation) { return deviation < 0; };
    const auto found = std::find_if(series.deviation.begin(), series.deviation.end(), negative);
    if (found == series.deviation.end()) continue;
    throw std::invalid_argument(
        fmt::format("series '{}': expected a deviation of 0 or more, got {}", series.name, *found));
  }
}

Size size_of_kind(const Bars& bars) {
  const Layout layout = layout_of(bars);
  return {layout.width, kBarsHeight, layout.legend.height, kRightRoom,
          kBottomRoom + layout.slanted};
}

void draw_kind(Script& script, const Bars& bars, const Box& box, const PanelStyle& style) {
  const Layout layout = layout_of(bars);
  const Interval x{-0.6, static_cast<double>(bars.groups.size()) - 0.4};
  const BarParts drawn(bars);
  const std::vector<std::string> parts = drawn.all(script, x);
  set_axes(script,
           {.title = bars.title,
            .x_label = bars.x_label,
            .y_label = bars.y_label,
            .x = x,
            .y = values_of(bars),
            .legend = layout.legend.height,
            .x_names = bars.groups,
            .slanted = layout.slanted},
           box, style);
  set_legend(script, box, layout.legend);
  if (bars.value_labels) drawn.set_value_labels(script);
  plot(script, parts);
}

}  // namespace jeffreys::report
