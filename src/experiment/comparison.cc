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
  return run_until(run,
                   run.curve.iteration[static_cast<std::size_t>(late - run.seconds.begin()) - 1]);
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

// "two moons 1000, 3000, gaussian mixture 1000": a name without what it has in common with the one
// before it.
std::string in_short(const std::vector<std::string>& names) {
  std::string text;
  std::string before;
  for (const std::string& name : names) {
    const std::size_t space = name.rfind(' ');
    const std::string first = space == std::string::npos ? "" : name.substr(0, space + 1);
    const bool same = !first.empty() && first == before;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", same ? name.substr(space + 1) : name);
    before = first;
  }
  return text;
}

}  // namespace

Measure at(std::string column, Moment moment) {
  return [column = std::move(column), moment](const RunResult& run) {
    return value_at(run, column, moment);
  };
}

Measure at_iteration(std::string column, std::int64_t iteration) {
  return [column = std::move(column), iteration](const RunResult& run) {
    return value_at(run_until(run, iteration), column, Moment::last);
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
    if (!std::isnan(value)) values.emplace(run->seed, value);
  }
  return values;
}

std::optional<SeedSummary> summary_of(const SeedValues& values) {
  std::vector<double> list;
  for (const auto& [seed, value] : values) {
    if (std::isfinite(value)) list.push_back(value);
  }
  if (list.empty()) return std::nullopt;
  return seed_summary(list);
}

std::size_t Difference::seeds() const { return (interval ? interval->n : 0) + lost + won + both; }

bool Difference::enough() const { return seeds() - both >= kFewestSeeds; }

Difference difference_of(const SeedValues& a, const SeedValues& b) {
  Difference difference;
  std::vector<double> first;
  std::vector<double> second;
  for (const auto& [seed, value] : a) {
    const auto found = b.find(seed);
    if (found == b.end()) continue;
    const bool a_ended = std::isfinite(value);
    const bool b_ended = std::isfinite(found->second);
    if (a_ended && b_ended) {
      first.push_back(value);
      second.push_back(found->second);
    } else {
      ++(a_ended ? difference.lost : b_ended ? difference.won : difference.both);
    }
  }
  if (!first.empty()) difference.interval = paired_interval(first, second);
  return difference;
}

Difference interval_of(const SeedValues& values) {
  SeedValues zeros = values;
  for (auto& [seed, value] : zeros) value = 0;
  return difference_of(zeros, values);
}

Finding lower(const Difference& difference) {
  if (difference.lost > 0) return Finding::fails;
  if (!difference.enough()) return Finding::not_enough_runs;
  if (!difference.interval || difference.interval->upper < 0) return Finding::holds;
  // Seeds that contradict each other decide nothing.
  if (difference.interval->lower > 0 && difference.won == 0) return Finding::fails;
  return Finding::not_enough_runs;
}

std::string text_of(const Difference& difference, int digits) {
  std::vector<std::string> notes;
  const std::size_t all = difference.seeds();
  if (difference.lost > 0) {
    notes.push_back(fmt::format("{} of {} seeds diverged", difference.lost, all));
  }
  if (difference.won > 0) {
    notes.push_back(fmt::format("only the other diverged with {} of {} seeds, which count as won",
                                difference.won, all));
  }
  if (difference.both > 0) {
    notes.push_back(fmt::format("both diverged with {} of {} seeds", difference.both, all));
  }
  if (notes.empty()) return text_of(difference.interval, digits);
  if (!difference.interval) return fmt::format("{}", fmt::join(notes, ", "));
  return fmt::format("{} ({})", text_of(difference.interval, digits), fmt::join(notes, ", "));
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

void Comparison::add(const std::string& name, const Difference& difference) {
  add(name, difference, lower(difference));
}

void Comparison::add(const std::string& name, const Difference& difference, Finding finding,
                     const std::string& note) {
  const std::string before = note.empty() ? "" : fmt::format(" ({})", note);
  entries_.push_back({name, fmt::format("{}{}: {}", name, before, text_of(difference, digits_)),
                      finding, difference.seeds() > 0, difference.enough()});
}

void Comparison::add(const std::string& name, const std::string& text, Finding finding,
                     bool enough) {
  entries_.push_back({name, fmt::format("{}: {}", name, text), finding, true, enough});
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
  std::vector<Finding> findings;
  for (const Entry& entry : entries_) findings.push_back(entry.finding);
  const Finding all = together(findings);
  const bool complete = std::all_of(entries_.begin(), entries_.end(),
                                    [](const Entry& entry) { return entry.enough; });
  const bool some = all == Finding::not_enough_runs && any(Finding::holds) && complete;
  return some ? Finding::in_part : all;
}

std::string Comparison::text() const {
  std::vector<std::string> texts;
  for (const Entry& entry : entries_) texts.push_back(entry.text);
  return fmt::format("{}", fmt::join(texts, "; "));
}

bool Comparison::has_too_few() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return entry.finding == Finding::not_enough_runs && !entry.enough;
  });
}

std::string Comparison::counts() const {
  std::size_t holds = 0;
  std::vector<std::string> fails;
  std::vector<std::string> undecided;
  std::vector<std::string> few;
  for (const Entry& entry : entries_) {
    switch (entry.finding) {
      case Finding::holds: ++holds; break;
      case Finding::fails: fails.push_back(entry.name); break;
      case Finding::in_part:
      case Finding::not_enough_runs: (entry.enough ? undecided : few).push_back(entry.name);
    }
  }
  std::string result = fmt::format("{} of {} data sets", holds, entries_.size());
  const auto list = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) result += fmt::format("; {} {}", what, in_short(names));
  };
  list("fails on", fails);
  list("undecided on", undecided);
  list("too few runs on", few);
  return result;
}

std::string Comparison::brief() const { return has_too_few() ? "" : counts(); }

std::string Comparison::numbers() const {
  if (entries_.size() < 2) return text();
  return fmt::format("{}. Holds on {}", text(), counts());
}

}  // namespace jeffreys::experiment
