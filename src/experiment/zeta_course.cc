#include "experiment/zeta_course.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/comparison.h"
#include "experiment/measured.h"

namespace jeffreys::experiment {
namespace {

constexpr double kAllowed = 1;        // nats that log zeta may leave its constraints
constexpr double kSmallChange = 0.1;  // nats
constexpr double kTrendErrors = 2;
constexpr std::size_t kFewestPoints = 3;

// At every point; empty without an energy proxy. With a condition it is the mean over conditions.
std::vector<double> log_zeta_of(const RunResult& run) {
  std::vector<double> values = run.curve.column("proxy.log_zeta");
  if (!values.empty()) return values;
  values = run.curve.column("proxy.zeta");
  for (double& value : values) value = std::log(value);
  return values;
}

// Sets change and error of the course by least squares.
void fit_line(const std::vector<double>& x, const std::vector<double>& y, ZetaCourse& course) {
  const double mean_x = seed_summary(x).mean;
  const double mean_y = seed_summary(y).mean;
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    squares += (x[i] - mean_x) * (x[i] - mean_x);
    products += (x[i] - mean_x) * (y[i] - mean_y);
  }
  const double slope = products / squares;
  double residuals = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double residual = y[i] - mean_y - slope * (x[i] - mean_x);
    residuals += residual * residual;
  }
  const double length = x.back() - x.front();
  course.change = slope * length;
  course.error = length * std::sqrt(residuals / static_cast<double>(x.size() - 2) / squares);
}

// The courses of some runs together.
struct Courses {
  std::size_t runs = 0;
  std::size_t measured = 0;
  std::size_t diverged = 0;
  std::size_t outside = 0;             // runs that leave the allowed range
  std::size_t trending = 0;            // runs with a trend
  std::optional<ZetaCourse> all = {};  // lowest, highest, and the largest change

  void add(const RunResult& run) {
    ++runs;
    if (has_diverged(run)) ++diverged;
    const auto course = zeta_course(run);
    if (!course) return;
    ++measured;
    if (!course->within()) ++outside;
    if (course->has_trend()) ++trending;
    if (!all) all = course;
    all->lowest = std::min(all->lowest, course->lowest);
    all->highest = std::max(all->highest, course->highest);
    if (std::abs(course->change) <= std::abs(all->change)) return;
    all->change = course->change;
    all->error = course->error;
  }
};

std::string range_text(double low, double high) {
  return fmt::format("{:.2f} to {:.2f}", low, high);
}

std::string text_of(const Courses& courses) {
  if (courses.runs == 0) return "–";
  if (!courses.all)
    return fmt::format("not measured, {} of {} runs diverged", courses.diverged, courses.runs);
  const ZetaCourse& all = *courses.all;
  std::string text = fmt::format("{} (allowed {}), largest change {:+.2f} ± {:.2f}, {} runs",
                                 range_text(all.lowest, all.highest),
                                 range_text(all.least_allowed(), all.most_allowed()), all.change,
                                 all.error, courses.runs);
  const auto note = [&](std::size_t count, const char* what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  note(courses.outside, "outside");
  note(courses.trending, "with a trend");
  note(courses.diverged, "diverged");
  return text;
}

}  // namespace

double ZetaCourse::least_allowed() const { return -kAllowed; }
double ZetaCourse::most_allowed() const { return std::log1p(slack) + kAllowed; }
bool ZetaCourse::within() const { return lowest >= least_allowed() && highest <= most_allowed(); }

bool ZetaCourse::has_trend() const {
  return std::abs(change) >= kTrendErrors * error && std::abs(change) >= kSmallChange;
}

std::optional<ZetaCourse> zeta_course(const RunResult& run) {
  const std::vector<double> values = log_zeta_of(run);
  ZetaCourse course{
      .lowest = INFINITY, .highest = -INFINITY, .slack = setting_of(run, "zeta.slack")};
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (2 * run.curve.iteration[i] < run.curve.iteration.back()) continue;
    if (!std::isfinite(values[i])) {
      // It is measured at every point, so it was not finite.
      course.highest = INFINITY;
      continue;
    }
    x.push_back(static_cast<double>(run.curve.iteration[i]));
    y.push_back(values[i]);
    course.lowest = std::min(course.lowest, values[i]);
    course.highest = std::max(course.highest, values[i]);
  }
  if (x.size() < kFewestPoints || std::isnan(course.slack)) return std::nullopt;
  fit_line(x, y, course);
  return course;
}

void zeta_table(const Results& results, const std::vector<std::string>& methods,
                const std::string& samples, report::Page& page) {
  std::vector<std::vector<report::Cell>> rows;
  for (const std::string& data : results.data()) {
    for (const std::string& method : methods) {
      Courses courses;
      for (const RunResult* run : results.runs(data, method)) courses.add(*run);
      if (!courses.all) continue;
      const ZetaCourse& all = *courses.all;
      rows.push_back({data, results.label(method), fmt::format("{}", courses.runs),
                      fmt::format("{}", courses.diverged), range_text(all.lowest, all.highest),
                      range_text(all.least_allowed(), all.most_allowed()),
                      fmt::format("{}", courses.outside),
                      fmt::format("{:+.2f} ± {:.2f}", all.change, all.error),
                      fmt::format("{}", courses.trending)});
    }
  }
  if (rows.empty()) return;
  page.table({"data", "method", "runs", "diverged", "log zeta", "allowed", "runs outside",
              "largest change", "runs with a trend"},
             rows,
             {.caption = fmt::format(
                  "log zeta of the proxy in the second half of the iterations, {}. The constraints "
                  "ask for 0 to log(1 + slack); allowed is one nat more on either side, a limit of "
                  "ours. Change: along the line of least squares through that half, ± its standard "
                  "error, of the run that changes most. A trend: a change of at least two standard "
                  "errors and {} nats.",
                  samples, kSmallChange)});
}

void zeta_claims(const Results& results, const std::vector<std::string>& methods,
                 Section& section) {
  Comparison range;
  Comparison end;
  for (const std::string& data : results.data()) {
    Courses courses;
    for (const std::string& method : methods) {
      for (const RunResult* run : results.runs(data, method)) courses.add(*run);
    }
    const bool enough = results.runs(data, methods.front()).size() >= kFewestSeeds;
    const bool known = enough && courses.measured == courses.runs;
    const auto judge = [](bool bad, bool decides) {
      return bad ? Finding::fails : decides ? Finding::holds : Finding::not_enough_runs;
    };
    const bool left = courses.outside + courses.trending + courses.diverged > 0;
    range.add(data, text_of(courses), judge(left, known), known);
    end.add(data, fmt::format("{} of {} runs", courses.diverged, courses.runs),
            judge(courses.diverged > 0, enough), enough);
  }
  section.claim({"beyond the paper",
                 "In the stable form log zeta stays within [-1, log(1 + slack) + 1] in the second "
                 "half of every run, and has no trend there.",
                 "log zeta in the second half of all runs: " + range.numbers(),
                 range.finding(),
                 range.brief(),
                 "",
                 Form::stable,
                 {methods.front()}});
  section.claim({"beyond the paper",
                 "No run in the stable form diverges.",
                 "Runs that diverged: " + end.numbers(),
                 end.finding(),
                 end.brief(),
                 "",
                 Form::stable,
                 {methods.front()}});
}

}  // namespace jeffreys::experiment
