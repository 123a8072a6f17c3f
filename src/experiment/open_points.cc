// Which open points of the paper matter: stability and accuracy of the dual method with one setting
// changed at a time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/section.h"

namespace jeffreys::experiment {
namespace {

// A point counts as a spike if the main model is so many nats above what it had reached before.
constexpr double kSpike = 0.3;

// Share of points in the second half of a run that are spikes.
double spike_share(const RunResult& run, const std::string& column) {
  const std::vector<double> values = run.curve.column(column);
  double reached = std::numeric_limits<double>::infinity();
  int spikes = 0;
  int points = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (run.curve.iteration[i] * 2 > run.curve.iteration.back()) {
      ++points;
      if (!(values[i] < reached + kSpike)) ++spikes;
    }
    if (std::isfinite(values[i])) reached = std::min(reached, values[i]);
  }
  return points > 0 ? static_cast<double>(spikes) / points : 0;
}

std::string mean_text(const std::vector<const RunResult*>& runs, const char* column) {
  double sum = 0;
  for (const RunResult* run : runs) sum += spike_share(*run, column);
  return fmt::format("{:.0f} %", 100 * sum / static_cast<double>(runs.size()));
}

}  // namespace

void describe_open_points(const Results& results, Section& section) {
  if (results.empty()) {
    section.page().notice("No runs yet.");
    return;
  }
  section.page().paragraph(fmt::format(
      "A spike is a point of the second half of training where the test NLL is {} nats above the "
      "lowest before it.",
      kSpike));
  for (const std::string& data : results.data()) {
    std::vector<std::vector<report::Cell>> rows;
    report::Curves curves{.title = data, .x_label = "iteration", .y_label = "test NLL, main model"};
    int color = 0;
    for (const std::string& method : results.methods()) {
      const auto runs = results.runs(data, method);
      if (runs.empty()) continue;
      const auto at = [&](const char* column, Moment moment) {
        return text_of(results.summary(data, method, column, moment));
      };
      rows.push_back({results.label(method), at("main.test_nll", Moment::best),
                      at("main.test_nll", Moment::last), mean_text(runs, "main.test_nll"),
                      at("proxy.test_nll", Moment::best), at("proxy.test_nll", Moment::last),
                      mean_text(runs, "proxy.test_nll")});
      curves.lines.push_back(
          mean_line(results, data, method, "main.test_nll", results.label(method), color++));
    }
    if (rows.empty()) continue;
    double low = std::numeric_limits<double>::infinity();
    for (const auto& line : curves.lines) {
      for (const double y : line.y) low = std::min(low, y);
    }
    curves.y_min = low - 0.1;
    curves.y_max = low + 2;
    section.page().table({"setting", "main best", "main last", "main spikes", "proxy best",
                          "proxy last", "proxy spikes"},
                         rows,
                         {.caption = "Test NLL on " + data + ", one setting changed at a time"});
    section.figure(
        data, {{curves}},
        "Test NLL of the main model on " + data + ", one setting of the paper changed at a time.");
  }
}

}  // namespace jeffreys::experiment
