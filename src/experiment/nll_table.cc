#include "experiment/nll_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace jeffreys::experiment {
namespace {

constexpr double kLogStart = 1e-3;  // of the iterations
// How far a line may lie above the lowest values, in heights of the middle one.
constexpr double kMostHeights = 3;

bool nearer(double a, double b, double ideal) {
  return std::isfinite(ideal) ? std::abs(a - ideal) < std::abs(b - ideal) : a < b;
}

bool best_of_column(const std::vector<TableRow>& rows, const TableRow& row, std::size_t column,
                    double ideal) {
  if (row.reference || !row.values[column]) return false;
  std::size_t compared = 0;
  for (const TableRow& other : rows) {
    if (other.reference || other.taken != row.taken || !other.values[column]) continue;
    if (nearer(other.values[column]->mean, row.values[column]->mean, ideal)) return false;
    ++compared;
  }
  return compared > 1;
}

bool has_value(const TableRow& row) {
  return std::any_of(row.values.begin(), row.values.end(),
                     [](const std::optional<SeedSummary>& value) { return value.has_value(); });
}

// Below which 95 % of the late values of a line lie, so that spikes leave the picture; NaN if there
// are none.
double usual_height(const report::Curves::Line& line, double late) {
  std::vector<double> values;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (line.x[i] >= late && std::isfinite(line.y[i])) values.push_back(line.y[i]);
  }
  if (values.empty()) return kNotMeasured;
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) * 95 / 100];
}

struct Ends {
  double low = kNotMeasured;
  double high = kNotMeasured;
};

// Of the dots of these series with their whiskers.
Ends ends_of(std::span<const report::Bars::Series> list) {
  Ends ends;
  for (const report::Bars::Series& series : list) {
    for (std::size_t g = 0; g < series.values.size(); ++g) {
      const bool known = !series.deviation.empty() && std::isfinite(series.deviation[g]);
      const double deviation = known ? series.deviation[g] : 0;
      ends.low = std::fmin(ends.low, series.values[g] - deviation);
      ends.high = std::fmax(ends.high, series.values[g] + deviation);
    }
  }
  return ends;
}

}  // namespace

void value_table(report::Page& page, const std::vector<std::string>& data,
                 const std::vector<TableRow>& rows, const std::string& caption, double ideal) {
  std::vector<TableRow> kept;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), has_value);
  if (kept.empty()) return;
  std::vector<std::size_t> columns;
  std::vector<std::string> header = {"model", "taken"};
  for (std::size_t d = 0; d < data.size(); ++d) {
    const auto known = [d](const TableRow& row) { return row.values[d] && !row.reference; };
    if (!std::any_of(kept.begin(), kept.end(), known)) continue;
    columns.push_back(d);
    header.push_back(data[d]);
  }
  std::vector<std::vector<report::Cell>> cells;
  for (const TableRow& row : kept) {
    cells.push_back({row.model, row.taken});
    for (const std::size_t d : columns) {
      const std::string text = row.reference && row.values[d]
                                   ? fmt::format("{:.3f}", row.values[d]->mean)
                                   : text_of(row.values[d]);
      cells.back().emplace_back(text, report::Verdict::none, best_of_column(kept, row, d, ideal));
    }
  }
  page.table(header, cells, {.caption = caption});
}

void chosen_table(const Results& results, const std::vector<std::string>& methods,
                  report::Page& page) {
  std::vector<std::vector<report::Cell>> rows;
  for (const std::string& data : results.data()) {
    for (const std::string& method : methods) {
      std::map<std::string, int> models;
      std::vector<double> iterations;
      std::vector<double> seconds;
      for (const RunResult* run : results.runs(data, method)) {
        const auto chosen = chosen_by_validation(*run);
        if (!chosen) continue;
        ++models[chosen->model];
        iterations.push_back(static_cast<double>(chosen->iteration));
        if (std::isfinite(chosen->seconds)) seconds.push_back(chosen->seconds);
      }
      if (iterations.empty()) continue;
      std::vector<std::string> names;
      for (const auto& [model, times] : models) {
        names.push_back(fmt::format("{} x {}", times, model));
      }
      rows.push_back({data, results.label(method), fmt::format("{}", fmt::join(names, ", ")),
                      fmt::format("{:.0f}", seed_summary(iterations).mean),
                      seconds.empty() ? "–" : fmt::format("{:.1f}", seed_summary(seconds).mean)});
    }
  }
  if (rows.empty()) return;
  page.table({"data", "method", "chosen", "iteration", "processor seconds"}, rows,
             {.caption = "What validation chooses, how often, and when on average."});
}

void hide_start(report::Curves& curves, double start) {
  double last = 0;
  for (const auto& line : curves.lines) {
    if (!line.x.empty()) last = std::max(last, line.x.back());
  }
  double low = std::numeric_limits<double>::infinity();
  std::vector<double> heights;
  for (const auto& line : curves.lines) {
    for (const double y : line.y) low = std::fmin(low, y);
    const double height = usual_height(line, start * last);
    if (std::isfinite(height)) heights.push_back(height);
  }
  for (const auto& reference : curves.references) low = std::min(low, reference.y);
  if (heights.empty() || !std::isfinite(low)) return;
  std::sort(heights.begin(), heights.end());
  const double middle = heights[heights.size() / 2];
  const double high = std::min(heights.back(), low + kMostHeights * (middle - low));
  if (!(high > low)) return;
  curves.y_min = low - 0.05 * (high - low);
  curves.y_max = high + 0.05 * (high - low);
}

void hide_high(report::Bars& bars, std::size_t kept) {
  Ends all = ends_of(bars.series);
  for (const auto& reference : bars.references) all.low = std::fmin(all.low, reference.y);
  const Ends shown = ends_of(std::span(bars.series).first(std::min(kept, bars.series.size())));
  const double limit = shown.high + (shown.high - all.low);
  if (!(all.high > limit)) return;
  bars.y_min = all.low - 0.05 * (limit - all.low);
  bars.y_max = limit;
  for (report::Bars::Series& series : bars.series) {
    const auto above = [&](double value) { return value > limit; };
    if (std::any_of(series.values.begin(), series.values.end(), above)) series.name += " (above)";
  }
}

void shorten_start(report::Curves::Line& line) {
  if (line.x.empty()) return;
  const auto begin = std::lower_bound(line.x.begin(), line.x.end(), kLogStart * line.x.back());
  const auto count = begin - line.x.begin();
  for (std::vector<double>* values : {&line.x, &line.y, &line.lower, &line.upper}) {
    if (!values->empty()) values->erase(values->begin(), values->begin() + count);
  }
}

void note_diverged(const Results& results, report::Page& page) {
  std::vector<std::string> names;
  for (const std::string& data : results.data()) {
    for (const std::string& method : results.methods()) {
      for (const RunResult* run : results.runs(data, method)) {
        if (!has_diverged(*run)) continue;
        names.push_back(fmt::format("{}, {}, seed {}{}", data, results.label(method), run->seed,
                                    run->stop == "lost" ? " (lost)" : ""));
      }
    }
  }
  if (names.empty()) return;
  page.notice(fmt::format("Runs that diverged have no last value: tables of last values lack them, "
                          "and claims about the end of a run count them against their method. {}.",
                          fmt::join(names, "; ")),
              report::Notice::warning);
}

}  // namespace jeffreys::experiment
