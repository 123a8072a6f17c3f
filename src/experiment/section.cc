#include "experiment/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace jeffreys::experiment {
namespace {

// ASCII would do, but these stand in tables that people read.
constexpr const char* kNothing = "–";

std::pair<std::int64_t, std::size_t> length_of(const RunResult& run) {
  const std::vector<std::int64_t>& points = run.curve.iteration;
  return {points.empty() ? 0 : points.back(), points.size()};
}

// A column at an iteration, between two points on the line that connects them; NaN after the end.
double value_on(const RunResult& run, const std::vector<double>& values, std::int64_t iteration) {
  const std::vector<std::int64_t>& points = run.curve.iteration;
  const auto next = std::lower_bound(points.begin(), points.end(), iteration);
  if (next == points.end() || values.size() != points.size()) return kNotMeasured;
  const auto i = static_cast<std::size_t>(next - points.begin());
  if (*next == iteration) return values[i];
  if (i == 0) return kNotMeasured;
  const double share = static_cast<double>(iteration - points[i - 1]) /
                       static_cast<double>(points[i] - points[i - 1]);
  return values[i - 1] + share * (values[i] - values[i - 1]);
}

}  // namespace

const char* text_of(Finding finding) {
  switch (finding) {
    case Finding::holds: return "holds";
    case Finding::in_part: return "holds in part";
    case Finding::fails: return "does not hold";
    case Finding::not_enough_runs: return "not enough runs";
  }
  return "";
}

Finding lower(const std::optional<PairedInterval>& difference) {
  if (!difference || difference->n < kFewestSeeds) return Finding::not_enough_runs;
  if (difference->upper < 0) return Finding::holds;
  if (difference->lower > 0) return Finding::fails;
  return Finding::not_enough_runs;
}

Finding together(const std::vector<Finding>& findings) {
  const auto any = [&](Finding finding) {
    return std::find(findings.begin(), findings.end(), finding) != findings.end();
  };
  if (any(Finding::in_part)) return Finding::in_part;
  if (any(Finding::fails)) return any(Finding::holds) ? Finding::in_part : Finding::fails;
  const bool open = findings.empty() || any(Finding::not_enough_runs);
  return open ? Finding::not_enough_runs : Finding::holds;
}

std::string text_of(const std::optional<SeedSummary>& summary, int digits) {
  if (!summary) return kNothing;
  if (summary->n < 2) return fmt::format("{:.{}f} (1)", summary->mean, digits);
  return fmt::format("{:.{}f} ± {:.{}f} ({})", summary->mean, digits, summary->standard_deviation,
                     digits, summary->n);
}

std::string text_of(const std::optional<PairedInterval>& difference, int digits) {
  if (!difference) return kNothing;
  if (difference->n < 2) return fmt::format("{:+.{}f}, 1 seed", difference->mean, digits);
  return fmt::format("{:+.{}f} [{:+.{}f}, {:+.{}f}], {} seeds", difference->mean, digits,
                     difference->lower, digits, difference->upper, digits, difference->n);
}

Section::Section(report::Page& page, std::filesystem::path folder, std::string experiment,
                 std::function<void(const std::filesystem::path&)> on_figure)
    : page_(page),
      folder_(std::move(folder)),
      experiment_(std::move(experiment)),
      on_figure_(std::move(on_figure)) {}

void Section::details() {
  if (folded_) return;
  folded_ = true;
  page_.fold("Every claim, more figures and all numbers");
  if (first_detail_) first_detail_(page_);
}

void Section::figure(const std::string& name, const std::vector<std::vector<report::Panel>>& panels,
                     const std::string& caption, const std::string& title) {
  if (!on_figure_) return;
  const std::string stem = "figures/" + experiment_ + "-" + name;
  std::filesystem::create_directories(folder_ / "figures");
  for (const char* extension : {".svg", ".png"}) {
    report::draw(folder_ / (stem + extension), panels, title);
    on_figure_(folder_ / (stem + extension));
  }
  page_.figure({.svg = report::read_svg(folder_ / (stem + ".svg")),
                .caption = caption,
                .link = stem + ".png"});
}

report::Curves::Line mean_line(const Results& results, const std::string& data,
                               const std::string& method, const std::string& column,
                               const std::string& name, int color) {
  report::Curves::Line line{.name = name, .color = color};
  const auto runs = results.runs(data, method);
  if (runs.empty()) return line;
  // A run that diverged is shorter than the others.
  const RunResult* longest = *std::max_element(
      runs.begin(), runs.end(),
      [](const RunResult* a, const RunResult* b) { return length_of(*a) < length_of(*b); });
  std::vector<std::vector<double>> columns;
  for (const RunResult* run : runs) columns.push_back(run->curve.column(column));
  for (const std::int64_t iteration : longest->curve.iteration) {
    std::vector<double> values;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const double value = value_on(*runs[r], columns[r], iteration);
      if (std::isfinite(value)) values.push_back(value);
    }
    if (values.empty()) continue;
    const SeedSummary summary = seed_summary(values);
    line.x.push_back(static_cast<double>(iteration));
    line.y.push_back(summary.mean);
    if (runs.size() < 2) continue;
    const double deviation = values.size() < 2 ? 0 : summary.standard_deviation;
    line.lower.push_back(summary.mean - deviation);
    line.upper.push_back(summary.mean + deviation);
  }
  return line;
}

}  // namespace jeffreys::experiment
