#include "report/axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/text.h"

namespace jeffreys::report {
namespace {

// 20k is read at a glance, 20000 is counted.
std::string short_number(double value) {
  if (std::abs(value) >= 1e6) return fmt::format("{:.6g}M", value / 1e6);
  if (std::abs(value) >= 1e3) return fmt::format("{:.6g}k", value / 1e3);
  return fmt::format("{:.6g}", value);
}

// Marks at multiples of the step; thousands are shortened where the digits suffice.
std::string linear_tics(const Interval& range, double step) {
  const double largest = std::max(std::abs(range.min), std::abs(range.max));
  if (largest < 1e4 || largest >= 1e9 || step < 1e-4 * largest) return number(step);
  std::vector<std::string> tics;
  for (double k = std::ceil(range.min / step); k * step <= range.max; ++k) {
    const double value = k * step + 0.0;  // no -0
    tics.push_back(fmt::format("'{}' {}", short_number(value), number(value)));
  }
  return fmt::format("({})", fmt::join(tics, ", "));
}

// A single number does not tell the scale: so fine that two of its multiples are in the range.
double step_of_two(const Interval& range, double count) {
  const auto marks = [&](double step) {
    return std::floor(range.max / step) - std::ceil(range.min / step) + 1;
  };
  constexpr double kMost = 20;
  double step = tic_step(range, count);
  for (; marks(step) < 2 && count < kMost; count *= 1.25) step = tic_step(range, count);
  return step;
}

void set_axis(Script& script, char axis, const Interval& range, bool logarithmic, bool numbers,
              double pixels) {
  script.line(
      fmt::format("set {}range [{}:{}] noextend", axis, number(range.min), number(range.max)));
  if (logarithmic) script.line(fmt::format("set logscale {}", axis));
  if (!numbers) {
    script.line(fmt::format("set format {} ''", axis));
  } else if (logarithmic && range.max / range.min > 100) {
    script.line(fmt::format("set format {} '10^{{%T}}'", axis));
  }
  const double room = axis == 'x' ? 65 : 40;
  const double step = step_of_two(range, std::clamp(pixels / room, 2.0, 7.0));
  const std::string tics = logarithmic ? "autofreq"
                           : numbers   ? linear_tics(range, step)
                                       : number(step);
  script.line(fmt::format("set {}tics nomirror norotate autojustify enhanced {}", axis, tics));
}

void set_names(Script& script, const Axes& axes, double width) {
  const double count = static_cast<double>(axes.x_names.size());
  const double letters =
      axes.slanted > 0 ? static_cast<double>(kSlantedLetters) : std::max(4.0, width / count / 5.6);
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < axes.x_names.size(); ++i) {
    tics.push_back(
        fmt::format("{} {}", literal(axes.x_names[i], static_cast<std::size_t>(letters)), i));
  }
  script.line(fmt::format("set xtics nomirror {} noenhanced ({})",
                          axes.slanted > 0 ? "rotate by 35 right" : "norotate center",
                          fmt::join(tics, ", ")));
}

std::vector<Mark> without_text(std::vector<Mark> marks) {
  for (Mark& mark : marks) mark.text.clear();
  return marks;
}

void set_marks(Script& script, char axis, const std::vector<Mark>& marks, std::size_t letters,
               const char* turn) {
  if (marks.empty()) return;
  std::vector<std::string> tics;
  for (const Mark& mark : marks) {
    tics.push_back(fmt::format("{} {}", literal(mark.text, letters), number(mark.at)));
  }
  script.line(
      fmt::format("set {}tics nomirror {} noenhanced ({})", axis, turn, fmt::join(tics, ", ")));
}

void set_labels(Script& script, const Axes& axes, const Box& box) {
  const double middle = box.left + 0.5 * box.width;
  const double below = box.top + box.height + 29 + axes.slanted;
  set_text(script, {axes.x_label, middle, below, 9, box.width});
  set_text(script, {axes.y_label, box.left - 50 - axes.y_room, box.top + 0.5 * box.height, 9,
                    box.height, true});
  const double title = box.top - axes.legend - 0.45 * kTitleRoom;
  set_text(script, {axes.title, middle, title, 10, box.width + kLeftRoom});
}

// Viridis from its bright end to its dark one, and white before it, so that an empty plane is as
// white as the paper.
struct Stop {
  double at;
  unsigned color;
};
constexpr std::array<Stop, 9> kMapColors = {{{0, 0xffffff},
                                             {0.06, 0xf4f6c4},
                                             {0.15, 0xd3e26a},
                                             {0.3, 0x7ad151},
                                             {0.45, 0x22a884},
                                             {0.6, 0x2a788e},
                                             {0.75, 0x414487},
                                             {0.9, 0x440154},
                                             {1, 0x2b0036}}};

std::string map_color(double at) {
  std::size_t k = 1;
  while (k + 1 < kMapColors.size() && kMapColors[k].at < at) ++k;
  const Stop& low = kMapColors[k - 1];
  const Stop& high = kMapColors[k];
  const double part = (at - low.at) / (high.at - low.at);
  std::string result = "#";
  for (const unsigned shift : {16U, 8U, 0U}) {
    const double a = (low.color >> shift) & 0xffU;
    const double b = (high.color >> shift) & 0xffU;
    result += fmt::format("{:02x}", std::lround(a + part * (b - a)));
  }
  return result;
}

}  // namespace

// Okabe and Ito's colours: told apart also by those who do not see red or green.
const char* line_color(int color) {
  constexpr std::array<const char*, 8> kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#555555", "#8c510a"};
  return kColors[static_cast<std::size_t>(color) % kColors.size()];
}

double tic_step(const Interval& range, double count) {
  const double rough = (range.max - range.min) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10 * power;
}

void set_axes(Script& script, const Axes& axes, const Box& box, const PanelStyle& style) {
  script.line(
      "unset label\nunset key\nunset colorbox\nunset logscale x\nunset logscale y\n"
      "set format '%g'\nset zero 1e-200");
  script.line(fmt::format("set border {} lc rgb '#777777' lw 0.8", axes.boxed ? 15 : 3));
  script.line(fmt::format("set tics out nomirror scale 0.5 font ',{}' textcolor rgb '#333333'",
                          style.font));
  script.line(fmt::format("set lmargin at screen {}\nset rmargin at screen {}",
                          box.left / script.width(), (box.left + box.width) / script.width()));
  script.line(fmt::format("set tmargin at screen {}\nset bmargin at screen {}",
                          1 - box.top / script.height(),
                          1 - (box.top + box.height) / script.height()));
  set_axis(script, 'x', axes.x, axes.log_x, style.x_tics, box.width);
  set_axis(script, 'y', axes.y, axes.log_y, style.y_tics, box.height);
  if (!axes.x_names.empty()) set_names(script, axes, box.width);
  set_marks(script, 'x', style.x_tics ? style.x_marks : without_text(style.x_marks),
            kSlantedLetters, style.slant > 0 ? "rotate by 35 right" : "norotate center");
  set_marks(script, 'y', style.y_tics ? style.y_marks : without_text(style.y_marks),
            kMostMarkLetters, "norotate right");
  script.line("set xtics offset 0,0.4\nset ytics offset 0.4,0");
  if (!axes.y_tics) script.line("unset ytics");
  Axes named = axes;
  named.slanted += style.slant;
  named.y_room = style.y_room;
  set_labels(script, named, box);
}

Legend legend_of(const std::vector<std::string>& names, double width) {
  if (names.empty()) return {};
  std::size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, letters_in(name));
  const int entries = static_cast<int>(names.size());
  const int fitting = static_cast<int>(width / (42 + 7.6 * static_cast<double>(longest)));
  const int columns = std::clamp(fitting, 1, entries);
  const int rows = (entries + columns - 1) / columns;
  return {columns, kLegendRow * rows};
}

void set_legend(Script& script, const Box& box, const Legend& legend) {
  if (legend.height == 0) return;
  script.line(fmt::format(
      "set key at screen {},{} right top horizontal maxcols {} Left reverse samplen 1.6 "
      "spacing 1.15 width 1 font ',8' noenhanced",
      (box.left + box.width) / script.width(), 1 - (box.top - legend.height - 2) / script.height(),
      legend.columns));
}

void begin_picture(Script& script, const std::string& title) {
  script.line("set style line 7 lc rgb '#777777' lw 0.8");  // of the colour bar
  script.line("set multiplot");
  if (title.empty()) return;
  set_text(script, {title, 0.5 * script.width(), 16, 12, script.width()});
  script.line("set size 1,1\nset origin 0,0\nunset border\nunset tics\nunset key");
  script.line("set xrange [0:1]\nset yrange [0:1]\nplot NaN notitle");
}

void set_map_colors(Script& script, double max, int bands) {
  std::vector<std::string> stops;
  for (int i = 0; i < bands; ++i) {
    const std::string color = map_color(bands > 1 ? i / (bands - 1.0) : 1);
    stops.push_back(fmt::format("{0} '{2}', {1} '{2}'", i, i + 1, color));
  }
  for (const Stop& stop : kMapColors) {
    if (bands == 0) stops.push_back(fmt::format("{} '#{:06x}'", stop.at, stop.color));
  }
  script.line(fmt::format("set palette defined ({})", fmt::join(stops, ", ")));
  script.line(fmt::format("unset logscale cb\nset cbrange [0:{}]", number(max)));
  const int every = bands > 7 ? 2 : 1;
  script.line("set cbtics " + (bands == 0 ? "autofreq" : number(max * every / bands)));
}

void set_value_colors(Script& script, const Interval& range, bool logarithmic) {
  script.line(
      "set palette defined (0 '#2546b0', 0.25 '#7d2fb0', 0.5 '#cc4778', 0.75 '#ee8a35', "
      "1 '#e8c533')");
  script.line(fmt::format("{} logscale cb\nset cbtics autofreq", logarithmic ? "set" : "unset"));
  script.line(fmt::format("set cbrange [{}:{}]", number(range.min), number(range.max)));
}

void set_color_bar(Script& script, const Box& panel, const std::string& label) {
  const double left = panel.left + panel.width + 12;
  constexpr double kThickness = 10;
  script.line(fmt::format("set colorbox user origin screen {},{} size screen {},{} border 7",
                          left / script.width(), 1 - (panel.top + panel.height) / script.height(),
                          kThickness / script.width(), panel.height / script.height()));
  script.line("set cbtics in scale 0.3 font ',8'");
  set_text(script, {label, left + 50, panel.top + 0.5 * panel.height, 9, panel.height, true});
}

void set_text(Script& script, const Text& text) {
  if (text.text.empty()) return;
  const double letters = std::max(6.0, text.room / (0.7 * text.font));
  script.line(fmt::format("set label {} at screen {},{} center {} noenhanced font ',{}'",
                          literal(text.text, static_cast<std::size_t>(letters)),
                          text.x / script.width(), 1 - text.y / script.height(),
                          text.upward ? "rotate by 90" : "norotate", text.font));
}

// Each plot begins with nothing, since gnuplot refuses to draw axes alone.
void plot(Script& script, const std::vector<std::string>& parts) {
  script.line(
      fmt::format("plot NaN notitle{}{}", parts.empty() ? "" : ", ", fmt::join(parts, ", ")));
}

}  // namespace jeffreys::report
