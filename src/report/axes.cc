#include "report/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace jeffreys::report {
namespace {

// A round distance of tic marks, so that there are about `count`.
double tic_step(const Interval& range, double count) {
  const double rough = (range.max - range.min) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10 * power;
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
  const double step = tic_step(range, std::clamp(pixels / room, 2.0, 7.0));
  script.line(logarithmic ? fmt::format("set {}tics nomirror autofreq", axis)
                          : fmt::format("set {}tics nomirror {}", axis, number(step)));
}

void set_labels(Script& script, const Axes& axes, const Box& box) {
  const double middle = box.left + 0.5 * box.width;
  set_text(script, {axes.x_label, middle, box.top + box.height + 29, 9, box.width});
  set_text(script, {axes.y_label, box.left - 50, box.top + 0.5 * box.height, 9, box.height, true});
  const double title = box.top - axes.legend - 0.45 * kTitleRoom;
  set_text(script, {axes.title, middle, title, 10, box.width + kLeftRoom});
}

}  // namespace

void set_axes(Script& script, const Axes& axes, const Box& box, const PanelStyle& style) {
  script.line(
      "unset label\nunset key\nunset colorbox\nunset logscale\nset format '%g'\n"
      "set zero 1e-200");
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
  script.line("set xtics offset 0,0.4\nset ytics offset 0.4,0");
  if (!axes.y_tics) script.line("unset ytics");
  set_labels(script, axes, box);
}

void set_legend(Script& script, const Box& box, double height, int columns) {
  script.line(fmt::format(
      "set key at screen {},{} right top horizontal maxcols {} Left reverse samplen 1.6 "
      "spacing 1.0 width 0 font ',8' noenhanced",
      (box.left + box.width) / script.width(), 1 - (box.top - height - 2) / script.height(),
      columns));
}

// Viridis from its bright end to its dark one, and white before it, so that an empty plane is as
// white as the paper.
void begin_picture(Script& script, const std::string& title) {
  script.line(
      "set palette defined (0 '#ffffff', 0.06 '#f4f6c4', 0.15 '#d3e26a', 0.3 '#7ad151', "
      "0.45 '#22a884', 0.6 '#2a788e', 0.75 '#414487', 0.9 '#440154', 1 '#2b0036')");
  script.line("set style line 7 lc rgb '#777777' lw 0.8");  // of the colour bar
  script.line("set multiplot");
  if (title.empty()) return;
  set_text(script, {title, 0.5 * script.width(), 16, 12, script.width()});
  script.line("set size 1,1\nset origin 0,0\nunset border\nunset tics\nunset key");
  script.line("set xrange [0:1]\nset yrange [0:1]\nplot NaN notitle");
}

void set_color_bar(Script& script, const Box& box) {
  script.line(fmt::format("set colorbox user origin screen {},{} size screen {},{} border 7",
                          box.left / script.width(), 1 - (box.top + box.height) / script.height(),
                          box.width / script.width(), box.height / script.height()));
  script.line("set cbtics in scale 0.3 font ',8'");
}

void set_text(Script& script, const Text& text) {
  if (text.text.empty()) return;
  const double letters = std::max(6.0, text.room / (0.7 * text.font));
  script.line(fmt::format("set label {} at screen {},{} center {} noenhanced font ',{}'",
                          literal(text.text, static_cast<std::size_t>(letters)),
                          text.x / script.width(), 1 - text.y / script.height(),
                          text.upward ? "rotate by 90" : "norotate", text.font));
}

}  // namespace jeffreys::report
