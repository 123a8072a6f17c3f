#include "cli/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "jeffreys/report/figure.h"
#include "jeffreys/report/page.h"

namespace jeffreys::cli {
namespace {

constexpr const char* kCorrected =
    "95 % intervals by Student's t over splits, whose variance is corrected for rows that splits "
    "have in common (Nadeau and Bengio)";

std::string head(const Comparison& c) {
  std::size_t splits = 0;
  for (const MethodResult& each : c.methods) splits = std::max(splits, each.nll.n);
  return fmt::format("{}: {} split{} of {} rows, {} to learn from and {} to judge by", c.source,
                     splits, splits == 1 ? "" : "s", c.rows, c.training_rows, c.test_rows);
}

std::string mean_text(const SeedSummary& nll) {
  return std::isfinite(nll.mean) ? fmt::format("{:.3f}", nll.mean) : "not finite";
}

// That of the first method is none.
std::string difference_text(const ResampledDifference& d) {
  if (d.splits == 0 || !std::isfinite(d.mean)) return "";
  if (d.splits == 1) return fmt::format("{:+.3f}", d.mean);
  return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", d.mean, d.lower, d.upper);
}

std::string seconds_text(double seconds) {
  return seconds < 9.95 ? fmt::format("{:.2g}", seconds) : fmt::format("{:.0f}", seconds);
}

void draw_comparison(const Comparison& c, const std::filesystem::path& path) {
  std::vector<const MethodResult*> order;
  for (const MethodResult& each : c.methods) {
    if (std::isfinite(each.nll.mean)) order.push_back(&each);
  }
  if (order.empty()) return;
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->difference.mean < b->difference.mean;
  });
  report::Bars::Series differences;
  report::Bars::Series seconds;
  std::vector<std::string> names;
  for (const MethodResult* each : order) {
    const ResampledDifference& d = each->difference;
    names.push_back(each->method.name);
    differences.values.push_back(d.mean);
    differences.deviation.push_back(d.splits > 1 ? 0.5 * (d.upper - d.lower) : 0);
    seconds.values.push_back(each->processor_seconds);
  }
  const std::string first = c.methods.front().method.name;
  report::draw(path,
               {{report::Bars{.title = fmt::format("NLL less that of {}; lower is better", first),
                              .y_label = "nats a row",
                              .from_zero = false,
                              .groups = names,
                              .series = {differences}},
                 report::Bars{.title = "processor time of a fit",
                              .y_label = "seconds",
                              .value_labels = true,
                              .groups = names,
                              .series = {seconds}}}},
               c.source);
}

}  // namespace

std::string comparison_text(const Comparison& c) {
  std::size_t width = 6;
  std::size_t wide = 8;
  for (const MethodResult& each : c.methods) {
    width = std::max(width, each.method.name.size());
    wide = std::max(wide, difference_text(each.difference).size());
  }
  const std::string first = c.methods.empty() ? "" : c.methods.front().method.name;
  wide = std::max(wide, first.size() + 5);
  std::string text =
      fmt::format("{}\nnegative log density of test rows, nats a row (lower is better)\n", head(c));
  text += fmt::format("  {:<{}}  {:>10}  {:<{}}  {:>11}  {:>7}\n", "method", width, "NLL",
                      "less " + first, wide, "processor s", "wall s");
  for (const MethodResult& each : c.methods) {
    text += fmt::format("  {:<{}}  {:>10}  {:<{}}  {:>11}  {:>7}\n", each.method.name, width,
                        mean_text(each.nll), difference_text(each.difference), wide,
                        seconds_text(each.processor_seconds), seconds_text(each.wall_seconds));
  }
  text += fmt::format("{}\n", kCorrected);
  for (const std::string& note : c.notes) text += fmt::format("note: {}\n", note);
  return text + "verdict: " + c.verdict;
}

Json comparison_json(const Comparison& c) {
  Json methods = Json::array();
  for (const MethodResult& each : c.methods) {
    Json json = {{"name", each.method.name},
                 {"definition", each.method.definition()},
                 {"splits", each.nll.n},
                 {"nll", number(each.nll.mean)},
                 {"deviation", number(each.nll.standard_deviation)}};
    if (each.difference.splits > 0) {
      json["difference"] = {{"mean", number(each.difference.mean)},
                            {"standard_error", number(each.difference.standard_error)},
                            {"lower", number(each.difference.lower)},
                            {"upper", number(each.difference.upper)},
                            {"splits", each.difference.splits}};
    }
    json["processor_seconds"] = each.processor_seconds;
    json["wall_seconds"] = each.wall_seconds;
    methods.push_back(json);
  }
  return {{"table", c.source},         {"rows", c.rows},
          {"dropped_rows", c.dropped}, {"training_rows", c.training_rows},
          {"test_rows", c.test_rows},  {"methods", methods},
          {"verdict", c.verdict},      {"notes", c.notes}};
}

void write_comparison(const Comparison& c, const std::filesystem::path& folder) {
  if (c.methods.empty()) return;
  report::Page page("Which method fits " + c.source + " best", "made by jeffreys compare");
  page.paragraph(c.verdict);
  page.paragraph(head(c) + ".");
  double lowest = INFINITY;
  for (const MethodResult& each : c.methods) lowest = std::min(lowest, each.nll.mean);
  std::vector<std::vector<report::Cell>> rows;
  for (const MethodResult& each : c.methods) {
    rows.push_back({each.method.name,
                    {mean_text(each.nll), report::Verdict::none, each.nll.mean == lowest},
                    difference_text(each.difference),
                    fmt::format("{}", each.nll.n),
                    seconds_text(each.processor_seconds),
                    seconds_text(each.wall_seconds),
                    each.method.definition()});
  }
  page.table({"method", "NLL", "less " + c.methods.front().method.name, "splits", "processor s",
              "wall s", "what it is"},
             rows,
             {.caption = fmt::format("Negative log density of test rows, nats a row; {}. Times are "
                                     "those of one fit.",
                                     kCorrected),
              .numeric = {false, true, true, true, true, true, false}});
  const std::filesystem::path figure = folder / "comparison.svg";
  draw_comparison(c, figure);
  if (std::filesystem::exists(figure)) {
    page.figure({.svg = report::read_svg(figure),
                 .caption = fmt::format("Differences with their 95 % intervals, and times."),
                 .link = "comparison.svg"});
  }
  for (const std::string& note : c.notes) page.notice(note);
  page.save(folder / "comparison.md");
  page.save(folder / "index.html");
}

}  // namespace jeffreys::cli
