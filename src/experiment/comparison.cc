#include "experiment/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace jeffreys::experiment {
namespace {

// The points of a run that need at most so much processor time; none if its times are unknown.
std::optional<RunResult> part_within(const RunResult& run, double seconds) {
  if (run.seconds.size() != run.curve.iteration.size()) return std::nullopt;
  const auto late = std::upper_bound(run.seconds.begin(), run.seconds.end(), seconds);
  if (late == run.seconds.begin()) return std::nullopt;
  RunResult early;
  early.curve = run.curve;
  early.curve.cut(run.curve.iteration[static_cast<std::size_t>(late - run.seconds.begin()) - 1]);
  return early;
}

// A number of each run as if it had been stopped after so many seconds, by seed.
SeedValues values_within(const Results& results, const std::string& data, const std::string& method,
                         const SeedValues& seconds, const Measure& measure) {
  return values_of(results, data, method, [&](const RunResult& run) {
    const auto budget = seconds.find(run.seed);
    if (budget == seconds.end()) return kNotMeasured;
    const auto part = part_within(run, budget->second);
    return part ? measure(*part) : kNotMeasured;
  });
}

}  // namespace

Measure at(std::string column, Moment moment) {
  return [column = std::move(column), moment](const RunResult& run) {
    return value_at(run, column, moment);
  };
}

Measure validated_nll() {
  return [](const RunResult& run) {
    if (const auto chosen = chosen_by_validation(run)) return chosen->test_nll;
    const bool single = run.curve.iteration.size() == 1;
    return single ? value_at(run, "main.test_nll", Moment::last) : kNotMeasured;
  };
}

Measure seconds_of_run() {
  return
      [](const RunResult& run) { return run.seconds.empty() ? kNotMeasured : run.seconds.back(); };
}

SeedValues values_of(const Results& results, const std::string& data, const std::string& method,
                     const Measure& measure) {
  SeedValues values;
  for (const RunResult* run : results.runs(data, method)) {
    const double value = measure(*run);
    if (std::isfinite(value)) values.emplace(run->seed, value);
  }
  return values;
}

std::optional<SeedSummary> summary_of(const SeedValues& values) {
  std::vector<double> list;
  for (const auto& [seed, value] : values) list.push_back(value);
  if (list.empty()) return std::nullopt;
  return seed_summary(list);
}

std::optional<PairedInterval> difference_of(const SeedValues& a, const SeedValues& b) {
  std::vector<double> first;
  std::vector<double> second;
  for (const auto& [seed, value] : a) {
    const auto found = b.find(seed);
    if (found == b.end()) continue;
    first.push_back(value);
    second.push_back(found->second);
  }
  if (first.empty()) return std::nullopt;
  return paired_interval(first, second);
}

std::optional<PairedInterval> interval_of(const SeedValues& values) {
  SeedValues zeros = values;
  for (auto& [seed, value] : zeros) value = 0;
  return difference_of(zeros, values);
}

SeedValues validated_in_time_of(const Results& results, const std::string& data,
                                const std::string& method, const std::string& other) {
  const SeedValues seconds = values_of(results, data, other, [](const RunResult& run) {
    const auto chosen = chosen_by_validation(run);
    return chosen ? chosen->seconds : kNotMeasured;
  });
  return values_within(results, data, method, seconds, [](const RunResult& part) {
    const auto chosen = chosen_by_validation(part);
    return chosen ? chosen->test_nll : kNotMeasured;
  });
}

SeedValues values_in_time_of(const Results& results, const std::string& data,
                             const std::string& method, const std::string& other,
                             const Measure& measure) {
  return values_within(results, data, method, values_of(results, data, other, seconds_of_run()),
                       measure);
}

bool enough_seeds(const std::optional<PairedInterval>& difference) {
  return difference && difference->n >= kFewestSeeds;
}

void Comparison::add(const std::string& name, const std::optional<PairedInterval>& difference) {
  add(name, difference, lower(difference));
}

void Comparison::add(const std::string& name, const std::optional<PairedInterval>& difference,
                     Finding finding) {
  entries_.push_back({fmt::format("{} {}", name, text_of(difference, digits_)), finding,
                      difference.has_value(), enough_seeds(difference)});
}

bool Comparison::empty() const {
  return std::none_of(entries_.begin(), entries_.end(),
                      [](const Entry& entry) { return entry.known; });
}

bool Comparison::any(Finding finding) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.finding == finding; });
}

Finding Comparison::finding() const {
  if (!any(Finding::holds)) return any(Finding::fails) ? Finding::fails : Finding::not_enough_runs;
  const bool all = std::all_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return entry.finding == Finding::holds || !entry.enough;
  });
  return all ? Finding::holds : Finding::in_part;
}

std::string Comparison::text() const {
  std::vector<std::string> texts;
  for (const Entry& entry : entries_) texts.push_back(entry.text);
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace jeffreys::experiment
