// Which open points of the paper matter: stability and accuracy of the dual method with one setting
// changed at a time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/section.h"

namespace jeffreys::experiment {
namespace {

// Share of points in the second half of a run that are so far above what it had reached before.
double spike_share(const RunResult& run, const std::string& column, double spike) {
  const std::vector<double> values = run.curve.column(column);
  double reached = std::numeric_limits<double>::infinity();
  int spikes = 0;
  int points = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (run.curve.iteration[i] * 2 > run.curve.iteration.back()) {
      ++points;
      if (!(values[i] < reached + spike)) ++spikes;
    }
    if (std::isfinite(values[i])) reached = std::min(reached, values[i]);
  }
  return points > 0 ? static_cast<double>(spikes) / points : 0;
}

std::string mean_text(const std::vector<const RunResult*>& runs, const std::string& column,
                      double spike) {
  if (runs.front()->curve.column(column).empty()) return "";
  double sum = 0;
  for (const RunResult* run : runs) sum += spike_share(*run, column, spike);
  return fmt::format("{:.0f} %", 100 * sum / static_cast<double>(runs.size()));
}

struct MeasuredColumn {
  const char* column;  // of main. and proxy.
  const char* name;
  double range;  // of the figure, above the lowest value
  double spike;
};
constexpr MeasuredColumn kMeasuredColumns[] = {{"test_nll", "Test NLL", 2, 0.3},
                                               {"c2st", "C2ST", 0.35, 0.05}};

void describe(const Results& results, const std::string& data, const MeasuredColumn& quantity,
              Section& section) {
  const std::string main = std::string("main.") + quantity.column;
  const std::string proxy = std::string("proxy.") + quantity.column;
  std::vector<std::vector<report::Cell>> rows;
  report::Curves curves{.title = data,
                        .x_label = "iteration",
                        .y_label = fmt::format("{}, main model", quantity.name)};
  int color = 0;
  for (const std::string& method : results.methods()) {
    const auto runs = results.runs(data, method);
    if (runs.empty() || !results.summary(data, method, main, Moment::best)) continue;
    const auto at = [&](const std::string& column, Moment moment) {
      return text_of(results.summary(data, method, column, moment));
    };
    rows.push_back({results.label(method), at(main, Moment::best), at(main, Moment::last),
                    mean_text(runs, main, quantity.spike), at(proxy, Moment::best),
                    at(proxy, Moment::last), mean_text(runs, proxy, quantity.spike)});
    curves.lines.push_back(mean_line(results, data, method, main, results.label(method), color++));
  }
  if (rows.empty()) return;
  double low = std::numeric_limits<double>::infinity();
  for (const auto& line : curves.lines) {
    for (const double y : line.y) low = std::min(low, y);
  }
  curves.y_min = low - quantity.range / 20;
  curves.y_max = low + quantity.range;
  section.page().table(
      {"setting", "main best", "main last", "main spikes", "proxy best", "proxy last",
       "proxy spikes"},
      rows,
      {.caption = fmt::format("{} on {}, one setting changed at a time; a spike is a point of the "
                              "second half of training that is {} above the lowest before it",
                              quantity.name, data, quantity.spike)});
  section.figure(&quantity == kMeasuredColumns ? data : data + "-" + quantity.column, {{curves}},
                 fmt::format("{} of the main model on {}, one setting of the paper changed at a "
                             "time.",
                             quantity.name, data));
}

}  // namespace

void describe_open_points(const Results& results, Section& section) {
  if (results.empty()) {
    section.page().notice("No runs yet.");
    return;
  }
  for (const std::string& data : results.data()) {
    for (const MeasuredColumn& quantity : kMeasuredColumns)
      describe(results, data, quantity, section);
  }
}

}  // namespace jeffreys::experiment
