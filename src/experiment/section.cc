#include "experiment/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace jeffreys::experiment {
namespace {

// ASCII would do, but these stand in tables that people read.
constexpr const char* kNothing = "–";

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
  std::vector<Finding> decided;
  std::copy_if(findings.begin(), findings.end(), std::back_inserter(decided),
               [](Finding finding) { return finding != Finding::not_enough_runs; });
  if (decided.empty()) return Finding::not_enough_runs;
  const bool same = std::all_of(decided.begin(), decided.end(),
                                [&](Finding finding) { return finding == decided.front(); });
  return same ? decided.front() : Finding::in_part;
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
  const RunResult* longest =
      *std::max_element(runs.begin(), runs.end(), [](const RunResult* a, const RunResult* b) {
        return a->curve.iteration.size() < b->curve.iteration.size();
      });
  for (std::size_t i = 0; i < longest->curve.iteration.size(); ++i) {
    std::vector<double> values;
    for (const RunResult* run : runs) {
      const std::vector<double> all = run->curve.column(column);
      if (i < all.size() && std::isfinite(all[i])) values.push_back(all[i]);
    }
    if (values.empty()) continue;
    const SeedSummary summary = seed_summary(values);
    line.x.push_back(static_cast<double>(longest->curve.iteration[i]));
    line.y.push_back(summary.mean);
    if (runs.size() < 2) continue;
    const double deviation = values.size() < 2 ? 0 : summary.standard_deviation;
    line.lower.push_back(summary.mean - deviation);
    line.upper.push_back(summary.mean + deviation);
  }
  return line;
}

}  // namespace jeffreys::experiment
