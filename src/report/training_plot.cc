#include "jeffreys/report/training_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "jeffreys/report/figure.h"
#include "report/range.h"

namespace jeffreys::report {
namespace {

using Series = TrainingCurves::Series;

// Colours of lines by their meaning, the same in all panels.
enum Color { main_color = 0, proxy_color = 1 };

void add(Curves& curves, const Series& series, const std::string& name, int color,
         bool dashed = false) {
  if (series.step.size() != series.value.size()) {
    throw std::invalid_argument(fmt::format("{}: expected as many steps as values, got {} and {}",
                                            name, series.step.size(), series.value.size()));
  }
  if (series.step.empty()) return;
  curves.lines.push_back({name, series.step, series.value, dashed, color});
}

void mark_best(Curves& curves, const std::optional<double>& step, const Series& validation,
               const Series& train, const std::string& name, int color) {
  const Series& series = validation.step.empty() ? train : validation;
  if (!step || series.step.empty()) return;
  const auto nearer = [&](double a, double b) { return std::abs(a - *step) < std::abs(b - *step); };
  const auto found = std::min_element(series.step.begin(), series.step.end(), nearer);
  const double value = series.value[static_cast<std::size_t>(found - series.step.begin())];
  curves.marks.push_back({fmt::format("{} (step {:g})", name, *step), *found, value, color});
}

// Training begins far from where it ends: the first tenth of the steps may leave the picture.
void hide_start(Curves& curves) {
  std::vector<double> late;
  std::vector<double> all;
  for (const Curves::Line& line : curves.lines) {
    const double last = line.x.back();
    const double first = line.x.front();
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      all.push_back(line.y[i]);
      if (line.x[i] >= first + 0.1 * (last - first)) late.push_back(line.y[i]);
    }
  }
  const Interval whole = fit({&all});
  const Interval end = fit({&late});
  curves.y_max = std::min(whole.max, end.max + 0.25 * (end.max - end.min));
  curves.y_min = std::max(whole.min, end.min - 0.25 * (end.max - end.min));
}

Curves likelihood(const TrainingCurves& run) {
  Curves curves{.title = "negative log likelihood", .x_label = "step", .y_label = run.unit};
  add(curves, run.main_train, "main, train", main_color, true);
  add(curves, run.main_validation, "main, validation", main_color);
  add(curves, run.proxy_train, "proxy, train", proxy_color, true);
  add(curves, run.proxy_validation, "proxy, validation", proxy_color);
  mark_best(curves, run.best_main_step, run.main_validation, run.main_train, "best main",
            main_color);
  mark_best(curves, run.best_proxy_step, run.proxy_validation, run.proxy_train, "best proxy",
            proxy_color);
  if (!curves.lines.empty()) hide_start(curves);
  return curves;
}

// Whether the first would hide the second: it is nearly the same. Dashed, it does not.
bool covers(const Series& upper, const Series& lower) {
  if (upper.value.size() != lower.value.size() || upper.value.empty()) return false;
  const auto [least, most] = std::minmax_element(lower.value.begin(), lower.value.end());
  double apart = 0;
  for (std::size_t i = 0; i < upper.value.size(); ++i) {
    apart = std::max(apart, std::abs(upper.value[i] - lower.value[i]));
  }
  constexpr double kSeen = 0.02;
  return apart <= kSeen * (*most - *least);
}

Curves multipliers(const TrainingCurves& run) {
  Curves curves{.title = "multipliers", .x_label = "step"};
  for (std::size_t i = 0; i < run.multipliers.size(); ++i) {
    std::string name = run.multipliers[i].first;
    std::replace(name.begin(), name.end(), '_', ' ');
    add(curves, run.multipliers[i].second, name, static_cast<int>(i),
        std::any_of(
            run.multipliers.begin(), run.multipliers.begin() + static_cast<std::ptrdiff_t>(i),
            [&](const auto& other) { return covers(run.multipliers[i].second, other.second); }));
  }
  return curves;
}

Curves single(const std::string& title, const Series& series, bool fraction) {
  Curves curves{.title = title, .x_label = "step"};
  add(curves, series, title, main_color);
  if (fraction) {
    curves.y_min = 0;
    curves.y_max = 1;
  } else if (!curves.lines.empty()) {
    hide_start(curves);
  }
  return curves;
}

}  // namespace

void draw_training(const std::filesystem::path& path, const TrainingCurves& run) {
  std::vector<std::vector<Panel>> grid;
  for (Curves& curves : std::vector<Curves>{
           likelihood(run), multipliers(run), single("log zeta", run.log_zeta, false),
           single("effective sample size", run.effective_sample_size, true),
           single("balance: forward / (forward + reverse)", run.balance, true)}) {
    if (curves.lines.empty()) continue;
    if (grid.empty() || grid.back().size() == 2) grid.emplace_back();
    grid.back().emplace_back(std::move(curves));
  }
  if (grid.empty()) throw std::invalid_argument("curves: expected at least one series");
  draw(path, grid, run.title);
}

}  // namespace jeffreys::report
