#include "jeffreys/report/posterior_plot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "jeffreys/report/figure.h"
#include "report/axes.h"
#include "report/gnuplot.h"
#include "report/range.h"
#include "report/smooth_density.h"

namespace jeffreys::report {
namespace {

constexpr double kGapBetween = 8;
constexpr Eigen::Index kFewestSamples = 20;
constexpr Eigen::Index kLineCells = 192;

// The regions' colours, from the inner one out: tints of kModelColor.
constexpr const char* kInner = "#7faed2";
constexpr const char* kOuter = "#d3e3f0";

void check_length(const char* argument, Eigen::Index actual, std::size_t parameters) {
  if (actual == 0 || actual == static_cast<Eigen::Index>(parameters)) return;
  throw std::invalid_argument(
      fmt::format("{}: expected nothing or {} numbers, got {}", argument, parameters, actual));
}

void check(const PosteriorPlot& plot) {
  const std::size_t parameters = plot.names.size();
  if (parameters == 0 || parameters > kMostPosteriorParameters) {
    throw std::invalid_argument(fmt::format("names: expected 1 to {} parameters, got {}",
                                            kMostPosteriorParameters, parameters));
  }
  if (plot.samples.cols() != static_cast<Eigen::Index>(parameters)) {
    throw std::invalid_argument(
        fmt::format("samples: expected {} columns, got {}", parameters, plot.samples.cols()));
  }
  check_length("truth", plot.truth.size(), parameters);
  check_length("lower", plot.lower.size(), parameters);
  check_length("upper", plot.upper.size(), parameters);
}

// One parameter's samples and what its axis shows.
struct Parameter {
  std::vector<double> samples;
  Interval range;
  double truth = kFit;
};

// All but the outermost samples, to the prior's ends where they fill much of what lies between.
Interval range_of(const std::vector<double>& samples, double lower, double upper, double truth) {
  const double least = quantile(samples, 0.01);
  const double most = quantile(samples, 0.99);
  const double margin = 0.2 * (most - least);
  Interval range{std::max(least - margin, lower), std::min(most + margin, upper)};
  if (most - least > 0.5 * (upper - lower)) range = {lower, upper};
  if (std::isfinite(truth)) {
    const double room = 0.06 * (range.max - range.min);
    if (truth < range.min) range.min = truth - room;
    if (truth > range.max) range.max = truth + room;
  }
  return choose(range.min, range.max, {});
}

std::vector<Parameter> parameters_of(const PosteriorPlot& plot) {
  std::vector<Eigen::Index> rows;
  for (Eigen::Index r = 0; r < plot.samples.rows(); ++r) {
    if (drawable({plot.samples.row(r).begin(), plot.samples.row(r).end()}).size() ==
        plot.names.size()) {
      rows.push_back(r);
    }
  }
  if (static_cast<Eigen::Index>(rows.size()) < kFewestSamples) {
    throw std::invalid_argument(fmt::format("samples: expected at least {} finite rows, got {}",
                                            kFewestSamples, rows.size()));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<Parameter> parameters;
  for (Eigen::Index c = 0; c < plot.samples.cols(); ++c) {
    Parameter parameter;
    for (const Eigen::Index r : rows) parameter.samples.push_back(plot.samples(r, c));
    if (plot.truth.size() != 0) parameter.truth = plot.truth[c];
    const double lower = plot.lower.size() != 0 ? plot.lower[c] : -infinity;
    const double upper = plot.upper.size() != 0 ? plot.upper[c] : infinity;
    parameter.range = range_of(parameter.samples, lower, upper, parameter.truth);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

// Median and central 90 % interval, with as many digits as the interval's width deserves.
std::string summary_of(const std::vector<double>& samples) {
  const double lower = quantile(samples, 0.05);
  const double upper = quantile(samples, 0.95);
  const double median = quantile(samples, 0.5);
  const double digits = std::ceil(1.9 - std::log10(upper - lower));
  if (!(digits < 6) || std::max(std::abs(lower), std::abs(upper)) >= 1e6) {
    return fmt::format("{:.4g}  [{:.4g}, {:.4g}]", median, lower, upper);
  }
  const int shown = std::max(0, static_cast<int>(digits));
  const auto rounded = [unit = std::pow(10, shown)](double value) {
    return std::round(value * unit) / unit + 0.0;  // no -0
  };
  return fmt::format("{1:.{0}f}  [{2:.{0}f}, {3:.{0}f}]", shown, rounded(median), rounded(lower),
                     rounded(upper));
}

// Two to four numbers well inside the axis, so that those of neighbours do not meet. Where they are
// long every second one is left out.
std::string inner_tics(const Interval& range, bool numbers, std::size_t most_letters) {
  const double room = 0.1 * (range.max - range.min);
  std::vector<double> values;
  for (const double count : {2.0, 3.0, 4.0, 7.0}) {
    const double step = tic_step(range, count);
    values.clear();
    for (double k = std::ceil((range.min + room) / step); k * step <= range.max - room; ++k) {
      values.push_back(k * step + 0.0);  // no -0
    }
    if (values.size() >= 2) break;
  }
  std::size_t letters = 0;
  for (const double value : values) letters += fmt::format("{:.10g}", value).size() + 2;
  const std::size_t every = letters > most_letters ? 2 : 1;
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool labelled = numbers && i % every == 0;
    tics.push_back(fmt::format("'{}' {}", labelled ? fmt::format("{:.10g}", values[i]) : "",
                               number(values[i])));
  }
  return fmt::format("({})", fmt::join(tics, ", "));
}

std::string line_part(Script& script, const std::vector<double>& x, const std::vector<double>& y) {
  return fmt::format("{} with lines lw 1 dt (5,4) lc rgb '{}' notitle", script.block({x, y}),
                     kDataColor);
}

// Fills the area under the curve where the density reaches the threshold.
std::string area_part(Script& script, const std::vector<double>& x, const std::vector<double>& y,
                      double threshold, const char* color) {
  std::vector<double> height;
  for (const double value : y) height.push_back(value >= threshold ? value : 0);
  return fmt::format("{} with filledcurves y=0 fs solid 1 noborder lc rgb '{}' notitle",
                     script.block({x, height}), color);
}

// The filled regions and the lines around them, on axes of their own that count cells. Gnuplot
// finds the lines: it writes them to a block of its own.
std::vector<std::string> region_parts(Script& script, const SmoothDensity& smooth) {
  constexpr Eigen::Index kFiner = 3;
  const auto& [inner, outer] = smooth.thresholds;
  const Matrix<double> regions =
      refined(smooth.density, kFiner).unaryExpr([inner = inner, outer = outer](double height) {
        return height >= inner ? 2.0 : height >= outer ? 1.0 : 0.0;
      });
  const std::string cells = script.matrix_block(regions);
  const std::string heights = script.matrix_block(smooth.density);
  const std::string lines = heights + "lines";
  script.line("set contour base\nunset surface\nunset key");
  script.line(fmt::format("set cntrparam levels discrete {}, {}", number(inner), number(outer)));
  script.line(
      fmt::format("set autoscale x\nset autoscale y\nset format '%g'\nset table {}", lines));
  script.line(
      fmt::format("splot {} matrix with lines\nunset table\nset surface\nunset contour", heights));
  script.line(fmt::format(
      "set palette defined (0 '#ffffff', 1 '{}', 2 '{}')\nunset logscale cb\nset cbrange [0:2]",
      kOuter, kInner));
  const double last = static_cast<double>(regions.cols()) - 0.5;
  script.line(
      fmt::format("set x2range [-0.5:{0}] noextend\nset y2range [-0.5:{0}] noextend", last));
  return {
      fmt::format("{} matrix axes x2y2 with image notitle", cells),
      fmt::format("{0} using ({1}*$1+{2}):({1}*$2+{2}) axes x2y2 with lines lw 0.9 lc rgb '{3}' "
                  "notitle",
                  lines, kFiner, (kFiner - 1) / 2, kModelColor)};
}

class PosteriorPicture {
 public:
  explicit PosteriorPicture(const PosteriorPlot& plot)
      : plot_(plot),
        parameters_(parameters_of(plot)),
        side_(plot.names.size() == 1  ? 240
              : plot.names.size() > 5 ? 100
                                      : 140),
        cells_(plot.names.size() > 5 ? 72 : 120) {}

  Script draw() const {
    const auto count = static_cast<double>(parameters_.size());
    const double all = count * (side_ + kGapBetween);
    const double legend = parameters_.size() == 1 ? 110 : 0;
    const double head = (plot_.title.empty() ? 4 : 30) + 16;
    Script script(kLeftRoom + all + legend + kRightRoom, head + all + kBottomRoom);
    begin_picture(script, plot_.title);
    for (std::size_t row = 0; row < parameters_.size(); ++row) {
      for (std::size_t column = 0; column <= row; ++column) {
        const Box box{kLeftRoom + static_cast<double>(column) * (side_ + kGapBetween),
                      head + static_cast<double>(row) * (side_ + kGapBetween), side_, side_};
        row == column ? draw_alone(script, row, box) : draw_pair(script, row, column, box);
      }
    }
    script.line("unset multiplot");
    return script;
  }

 private:
  PanelStyle style(std::size_t row, std::size_t column) const {
    return {
        .x_tics = row + 1 == parameters_.size(), .y_tics = column == 0 && row != column, .font = 7};
  }

  void set_panel(Script& script, const Axes& axes, const Box& box, const PanelStyle& style) const {
    set_axes(script, axes, box, style);
    constexpr double kLetter = 4.6;  // width in pixels
    const auto letters = static_cast<std::size_t>(box.width / kLetter);
    script.line("set xtics " + inner_tics(axes.x, style.x_tics, letters));
    if (axes.y_tics) script.line("set ytics " + inner_tics(axes.y, style.y_tics, letters));
  }

  Axes axes(std::size_t row, std::size_t column) const {
    const bool below = row + 1 == parameters_.size();
    return {.x_label = below ? plot_.names[column] : "",
            .y_label = column == 0 && row != column ? plot_.names[row] : "",
            .x = parameters_[column].range};
  }

  void draw_alone(Script& script, std::size_t at, const Box& box) const;
  void draw_pair(Script& script, std::size_t row, std::size_t column, const Box& box) const;
  void set_key(Script& script, std::vector<std::string>& parts) const;

  const PosteriorPlot& plot_;
  std::vector<Parameter> parameters_;
  double side_;
  Eigen::Index cells_;  // of a pair, each way
};

// In the upper right, which pairs leave free.
void PosteriorPicture::set_key(Script& script, std::vector<std::string>& parts) const {
  script.line(fmt::format(
      "set key at screen {},{} right top vertical Left reverse samplen 1.4 spacing 1.3 width 0 "
      "font ',8' noenhanced",
      1 - kRightRoom / script.width(), 1 - (plot_.title.empty() ? 18.0 : 44.0) / script.height()));
  const auto area = [&](const char* color, double share) {
    parts.push_back(
        fmt::format("NaN with boxes fs solid 1 border rgb '{}' fc rgb '{}' title '{:g} % region'",
                    kModelColor, color, 100 * share));
  };
  area(kInner, kRegionShares[0]);
  area(kOuter, kRegionShares[1]);
  parts.emplace_back("NaN with dots lc rgb '#ffffff' title 'above: median [90 %]'");
  if (plot_.truth.size() != 0) {
    parts.push_back(fmt::format(
        "NaN with linespoints lw 1 dt (5,4) pt 2 ps 0.8 lc rgb '{}' title 'true parameter'",
        kDataColor));
  }
}

void PosteriorPicture::draw_alone(Script& script, std::size_t at, const Box& box) const {
  const Parameter& parameter = parameters_[at];
  const SmoothDensity smooth = smooth_density(parameter.samples, parameter.range, kLineCells);
  std::vector<double> x;
  std::vector<double> y;
  for (Eigen::Index c = 0; c < kLineCells; ++c) {
    x.push_back(parameter.range.min + (static_cast<double>(c) + 0.5) / kLineCells *
                                          (parameter.range.max - parameter.range.min));
    y.push_back(smooth.density(0, c));
  }
  std::vector<std::string> parts = {
      area_part(script, x, y, smooth.thresholds[1], kOuter),
      area_part(script, x, y, smooth.thresholds[0], kInner),
      fmt::format("{} with lines lw 1.2 lc rgb '{}' notitle", script.block({x, y}), kModelColor)};
  if (std::isfinite(parameter.truth)) {
    parts.push_back(line_part(script, {parameter.truth, parameter.truth}, {0, 1.1}));
  }
  Axes around = axes(at, at);
  around.y = {0, 1.1};
  around.y_tics = false;
  set_panel(script, around, box, style(at, at));
  script.line("set border 1");
  set_text(script, {summary_of(parameter.samples), box.left + 0.5 * box.width, box.top - 7, 7.5,
                    2 * box.width});
  if (at == 0) set_key(script, parts);
  plot(script, parts);
}

// Regions as cells of plain colours, and lines over their edges.
void PosteriorPicture::draw_pair(Script& script, std::size_t row, std::size_t column,
                                 const Box& box) const {
  const Parameter& across = parameters_[column];
  const Parameter& up = parameters_[row];
  const SmoothDensity smooth =
      smooth_density(across.samples, across.range, up.samples, up.range, cells_);
  std::vector<std::string> parts = region_parts(script, smooth);
  if (std::isfinite(across.truth) && std::isfinite(up.truth)) {
    parts.push_back(line_part(script, {across.truth, across.truth}, {up.range.min, up.range.max}));
    parts.push_back(line_part(script, {across.range.min, across.range.max}, {up.truth, up.truth}));
    parts.push_back(fmt::format("{} with points pt 2 ps 0.8 lw 1.8 lc rgb '{}' notitle",
                                script.block({{across.truth}, {up.truth}}), kDataColor));
  }
  Axes around = axes(row, column);
  around.y = up.range;
  around.boxed = true;
  set_panel(script, around, box, style(row, column));
  plot(script, parts);
}

}  // namespace

void draw_posterior(const std::filesystem::path& path, const PosteriorPlot& plot) {
  check_extension(path);
  check(plot);
  render(path, PosteriorPicture(plot).draw());
}

}  // namespace jeffreys::report
