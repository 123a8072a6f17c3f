#include "jeffreys/report/calibration_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "jeffreys/report/figure.h"
#include "report/axes.h"
#include "report/gnuplot.h"
#include "report/range.h"

namespace jeffreys::report {
namespace {

using Ranks = CalibrationPlot::Ranks;
using Coverage = CalibrationPlot::Coverage;

// In pixels.
constexpr double kSide = 230;  // of a coverage panel
constexpr double kRankWidth = 190;
constexpr double kRankHeight = 110;
constexpr double kCaption = 22;  // above each kind of panels
constexpr std::size_t kCoverageInRow = 3;
constexpr std::size_t kRanksInRow = 4;

constexpr const char* kBandColor = "#dddddd";
constexpr const char* kBarColor = "#8fb4d3";

void check_length(const std::string& panel, const char* part, std::size_t actual,
                  std::size_t expected) {
  if (actual == expected) return;
  throw std::invalid_argument(
      fmt::format("{}: expected {} {}, got {}", panel, expected, part, actual));
}

void check(const CalibrationPlot& plot) {
  if (plot.ranks.empty() && plot.coverage.empty()) {
    throw std::invalid_argument("plot: expected ranks or coverage, got neither");
  }
  for (const Ranks& ranks : plot.ranks) {
    const std::string panel = fmt::format("ranks of '{}'", ranks.name);
    if (ranks.count.empty()) throw std::invalid_argument(panel + ": expected counts, got none");
    check_length(panel, "expected counts", ranks.expected.size(), ranks.count.size());
    check_length(panel, "lower ends", ranks.lower.size(), ranks.count.size());
    check_length(panel, "upper ends", ranks.upper.size(), ranks.count.size());
  }
  for (const Coverage& coverage : plot.coverage) {
    const std::string panel = fmt::format("coverage '{}'", coverage.title);
    check_length(panel, "coverages", coverage.coverage.size(), coverage.credibility.size());
  }
}

// Steps over bins of equal width from 0 to 1, as corners: x and one y for each of `heights`.
std::vector<std::vector<double>> steps(const std::vector<std::vector<double>>& heights) {
  const std::size_t bins = heights.front().size();
  std::vector<std::vector<double>> corners(heights.size() + 1);
  for (std::size_t b = 0; b < bins; ++b) {
    for (const std::size_t end : {b, b + 1}) {
      corners[0].push_back(static_cast<double>(end) / static_cast<double>(bins));
      for (std::size_t k = 0; k < heights.size(); ++k) corners[k + 1].push_back(heights[k][b]);
    }
  }
  return corners;
}

std::vector<double> relative(const std::vector<double>& values, const Ranks& to) {
  std::vector<double> shares;
  for (std::size_t b = 0; b < values.size(); ++b) shares.push_back(values[b] / to.expected[b]);
  return shares;
}

// Bars within the band and bars outside it, as two sets with NaN for the other's.
std::vector<std::vector<double>> bars_by_band(const Ranks& ranks) {
  const std::vector<double> height = relative(ranks.count, ranks);
  std::vector<std::vector<double>> sets(2, std::vector<double>(height.size(), kFit));
  for (std::size_t b = 0; b < height.size(); ++b) {
    const bool outside = ranks.count[b] < ranks.lower[b] || ranks.count[b] > ranks.upper[b];
    sets[outside ? 1 : 0][b] = height[b];
  }
  return sets;
}

std::string bar_part(Script& script, const std::vector<double>& heights, const char* color) {
  std::vector<double> middle;
  for (std::size_t b = 0; b < heights.size(); ++b) {
    middle.push_back((static_cast<double>(b) + 0.5) / static_cast<double>(heights.size()));
  }
  return fmt::format(
      "{} with boxes fs transparent solid 0.85 border rgb '#ffffff' lc rgb '{}' notitle",
      script.block({middle, heights}), color);
}

std::string limit_part(Script& script, const std::vector<double>& x, const std::vector<double>& y) {
  return fmt::format("{} with lines lw 0.8 lc rgb '#999999' notitle", script.block({x, y}));
}

void draw_ranks(Script& script, const Ranks& ranks, const Box& box, bool first) {
  const std::vector<std::vector<double>> band =
      steps({relative(ranks.lower, ranks), relative(ranks.upper, ranks)});
  const std::vector<std::vector<double>> bars = bars_by_band(ranks);
  double top = 1.5;
  for (const std::vector<double>& set : {bars[0], bars[1], band[2]}) {
    for (const double height : set) {
      if (height > top) top = height;
    }
  }
  const std::vector<std::string> parts = {
      fmt::format("{} with filledcurves fs solid 1 noborder lc rgb '{}' notitle",
                  script.block(band), kBandColor),
      bar_part(script, bars[0], kBarColor),
      bar_part(script, bars[1], kDataColor),
      limit_part(script, band[0], band[1]),
      limit_part(script, band[0], band[2]),
      fmt::format("{} with lines lw 1 dt (5,4) lc rgb '#555555' notitle",
                  script.block({{0, 1}, {1, 1}}))};
  script.line(fmt::format("set boxwidth {}", 1.0 / static_cast<double>(ranks.count.size())));
  set_axes(script,
           {.title = ranks.name,
            .x_label = "rank / samples",
            .y_label = first ? "share / uniform" : "",
            .x = {0, 1},
            .y = {0, 1.08 * top}},
           box, {.font = 7});
  plot(script, parts);
}

void draw_coverage(Script& script, const Coverage& coverage, const Box& box) {
  std::vector<std::vector<double>> band(3);
  for (const double at : coverage.credibility) {
    band[0].push_back(at);
    band[1].push_back(std::max(0.0, at - coverage.band));
    band[2].push_back(std::min(1.0, at + coverage.band));
  }
  const std::vector<std::string> parts = {
      fmt::format("{} with filledcurves fs solid 1 noborder lc rgb '{}' notitle",
                  script.block(band), kBandColor),
      fmt::format("{} with lines lw 1 dt (5,4) lc rgb '#555555' notitle",
                  script.block({{0, 1}, {0, 1}})),
      fmt::format("{} with lines lw 1.8 lc rgb '{}' notitle",
                  script.block({coverage.credibility, coverage.coverage}), kModelColor)};
  set_axes(script,
           {.title = coverage.title,
            .x_label = "credibility",
            .y_label = "coverage",
            .x = {0, 1},
            .y = {0, 1},
            .boxed = true},
           box, {});
  const auto corner = [&](const std::string& text, double x, double y) {
    if (text.empty()) return;
    script.line(
        fmt::format("set label {} at screen {},{} {} noenhanced font ',8' textcolor rgb '#777777'",
                    literal(text), x / script.width(), 1 - y / script.height(),
                    y < box.top + 0.5 * box.height ? "left" : "right"));
  };
  corner(coverage.above, box.left + 8, box.top + 12);
  corner(coverage.below, box.left + box.width - 8, box.top + box.height - 12);
  plot(script, parts);
}

// Panels of one kind in rows below a caption.
class Section {
 public:
  Section(std::size_t panels, std::size_t in_row, double width, double height)
      : panels_(panels), in_row_(in_row), width_(width), height_(height) {}

  double whole_width() const {
    return static_cast<double>(std::min(panels_, in_row_)) * (kLeftRoom + width_ + kRightRoom);
  }
  double whole_height() const {
    const std::size_t rows = (panels_ + in_row_ - 1) / in_row_;
    return panels_ == 0
               ? 0
               : kCaption + static_cast<double>(rows) * (kTitleRoom + height_ + kBottomRoom);
  }

  void draw_caption(Script& script, const std::string& text, double top) const {
    if (panels_ == 0) return;
    script.line("unset label");
    set_text(script, {text, 0.5 * script.width(), top + 0.5 * kCaption, 9, script.width()});
    script.line("set lmargin at screen 0\nset rmargin at screen 1\nset tmargin at screen 1");
    script.line("set bmargin at screen 0\nunset border\nunset tics\nunset key\nset xrange [0:1]");
    script.line("set yrange [0:1]\nplot NaN notitle");
  }
  bool begins_row(std::size_t i) const { return i % in_row_ == 0; }
  // Sections stand in the middle of the picture.
  Box box(std::size_t i, double top, double picture_width) const {
    const std::size_t above = i / in_row_;
    const auto row = static_cast<double>(above);
    const auto column = static_cast<double>(i % in_row_);
    const double left = 0.5 * (picture_width - whole_width()) + kLeftRoom;
    return {left + column * (kLeftRoom + width_ + kRightRoom),
            top + kCaption + kTitleRoom + row * (kTitleRoom + height_ + kBottomRoom), width_,
            height_};
  }

 private:
  std::size_t panels_;
  std::size_t in_row_;
  double width_;
  double height_;
};

Script picture_of(const CalibrationPlot& plot) {
  const Section curves(plot.coverage.size(), kCoverageInRow, kSide, kSide);
  const Section histograms(plot.ranks.size(), kRanksInRow, kRankWidth, kRankHeight);
  const double head = plot.title.empty() ? 4 : 30;
  Script script(std::max(curves.whole_width(), histograms.whole_width()),
                head + curves.whole_height() + histograms.whole_height());
  begin_picture(script, plot.title);
  curves.draw_caption(script, "coverage of regions; grey: calibrated", head);
  for (std::size_t i = 0; i < plot.coverage.size(); ++i) {
    draw_coverage(script, plot.coverage[i], curves.box(i, head, script.width()));
  }
  const double top = head + curves.whole_height();
  histograms.draw_caption(script, "ranks of the truth among samples; grey: uniform", top);
  for (std::size_t i = 0; i < plot.ranks.size(); ++i) {
    draw_ranks(script, plot.ranks[i], histograms.box(i, top, script.width()),
               histograms.begins_row(i));
  }
  script.line("unset multiplot");
  return script;
}

}  // namespace

void draw_calibration(const std::filesystem::path& path, const CalibrationPlot& plot) {
  check_extension(path);
  check(plot);
  render(path, picture_of(plot));
}

}  // namespace jeffreys::report
