// What the files of a comparison say.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "fit/compare_job.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys {
namespace {

// Of one method.
using Runs = std::vector<CompareRun>;

std::map<std::string, Runs> read_runs(const std::filesystem::path& folder) {
  std::map<std::string, Runs> runs;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("split-") || !name.ends_with(".json") || name.ends_with(".spent.json") ||
        !entry.is_regular_file()) {
      continue;
    }
    const CompareRun run = read_compare_run(entry.path());
    runs[run.method].push_back(run);
  }
  for (auto& [method, list] : runs) {
    std::sort(list.begin(), list.end(), [](const CompareRun& a, const CompareRun& b) {
      return std::pair(a.split, a.seed) < std::pair(b.split, b.seed);
    });
  }
  return runs;
}

// Those asked for, then all kinds in their own order, then others by name.
std::vector<std::string> order_of(const std::map<std::string, Runs>& runs,
                                  const std::vector<std::string>& first) {
  std::vector<std::string> order = first;
  for (const CompareKind& kind : compare_kinds()) order.push_back(kind.name);
  for (const auto& [name, list] : runs) order.push_back(name);
  std::vector<std::string> result;
  for (const std::string& name : order) {
    const bool known = std::find(result.begin(), result.end(), name) != result.end();
    if (runs.contains(name) && !known) result.push_back(name);
  }
  return result;
}

// By split, averaged over its seeds.
std::map<std::size_t, double> by_split(const Runs& runs) {
  std::map<std::size_t, SeedSummary> sums;
  for (const CompareRun& run : runs) {
    sums[run.split].mean += run.nll;
    ++sums[run.split].n;
  }
  std::map<std::size_t, double> nlls;
  for (const auto& [split, sum] : sums) nlls[split] = sum.mean / static_cast<double>(sum.n);
  return nlls;
}

template <typename Number>
double mean_of(const Runs& runs, Number number) {
  double sum = 0;
  for (const CompareRun& run : runs) sum += number(run);
  return sum / static_cast<double>(runs.size());
}

MethodResult result_of(const Runs& runs, const Runs& reference, double rows) {
  MethodResult result{.method = parse_compare_method(runs.front().definition)};
  result.method.name = runs.front().method;
  const std::map<std::size_t, double> own = by_split(runs);
  const std::map<std::size_t, double> other = by_split(reference);
  std::vector<double> nlls;
  std::vector<double> differences;
  for (const auto& [split, nll] : own) {
    nlls.push_back(nll);
    if (const auto found = other.find(split); found != other.end() && &runs != &reference) {
      differences.push_back(nll - found->second);
    }
  }
  result.nll = seed_summary(nlls);
  if (!differences.empty()) {
    const auto tests = static_cast<double>(runs.front().test_rows);
    result.difference = resampled_difference(differences, tests / rows);
  }
  result.processor_seconds = mean_of(runs, [](const auto& run) { return run.processor_seconds; });
  result.wall_seconds = mean_of(runs, [](const auto& run) { return run.wall_seconds; });
  return result;
}

std::string interval_text(double mean, double lower, double upper) {
  return fmt::format("{:.3f} nats a row (95 % interval {:.3f} to {:.3f})", mean, lower, upper);
}

std::string verdict_of(const std::vector<MethodResult>& methods) {
  const MethodResult& first = methods.front();
  std::vector<const MethodResult*> others;
  for (std::size_t i = 1; i < methods.size(); ++i) {
    const bool known = methods[i].difference.splits > 0 && std::isfinite(methods[i].nll.mean);
    if (known) others.push_back(&methods[i]);
  }
  const std::string& name = first.method.name;
  if (others.empty()) return fmt::format("There is nothing yet to compare {} with.", name);
  const MethodResult& best = **std::min_element(
      others.begin(), others.end(),
      [](const auto* a, const auto* b) { return a->difference.mean < b->difference.mean; });
  const std::string& rival = best.method.name;
  const ResampledDifference& d = best.difference;
  if (d.splits == 1) {
    return fmt::format(
        "On one split {} is better than {} by {:.3f} nats a row, which says nothing about others: "
        "use more --splits.",
        d.mean < 0 ? rival : name, d.mean < 0 ? name : rival, std::abs(d.mean));
  }
  if (d.lower > 0) {
    return fmt::format("{} fits this table best of {} methods: the next, {}, is worse by {}.", name,
                       others.size() + 1, rival, interval_text(d.mean, d.lower, d.upper));
  }
  if (d.upper < 0) {
    return fmt::format("{} fits this table better than {}, by {}.", rival, name,
                       interval_text(-d.mean, -d.upper, -d.lower));
  }
  return d.mean >= 0
             ? fmt::format(
                   "{} has the lowest NLL of {} methods, but {} is not shown to be worse: {}.",
                   name, others.size() + 1, rival, interval_text(d.mean, d.lower, d.upper))
             : fmt::format(
                   "{} has the lowest NLL of {} methods, but is not shown to be better than {}: "
                   "{}.",
                   rival, others.size() + 1, name, interval_text(-d.mean, -d.upper, -d.lower));
}

void add_notes(const std::map<std::string, Runs>& runs, Comparison& result) {
  std::vector<std::string>& notes = result.notes;
  if (result.dropped > 0) {
    notes.push_back(
        fmt::format("{} rows with missing cells were left out of all splits.", result.dropped));
  }
  std::set<std::pair<std::size_t, std::size_t>> all;
  std::set<std::size_t> unseen;
  std::set<std::size_t> columns;
  std::size_t interrupted = 0;
  for (const auto& [method, list] : runs) {
    for (const CompareRun& run : list) {
      all.insert({run.split, run.seed});
      columns.insert(run.columns);
      if (run.unseen > 0) unseen.insert(run.split);
      if (run.interrupted) ++interrupted;
    }
  }
  for (const MethodResult& method : result.methods) {
    const Runs& list = runs.at(method.method.name);
    if (list.size() < all.size()) {
      notes.push_back(fmt::format("{}: {} of {} runs are done; the same command makes the others.",
                                  method.method.name, list.size(), all.size()));
    }
    const auto failed = std::count_if(list.begin(), list.end(),
                                      [](const auto& run) { return !std::isfinite(run.nll); });
    if (failed > 0) {
      notes.push_back(fmt::format("{}: in {} of {} runs a test row has no finite density.",
                                  method.method.name, failed, list.size()));
    }
  }
  if (!unseen.empty()) {
    notes.push_back(
        fmt::format("In {} splits test rows have labels that no training row has; they count with "
                    "the probability of all such labels.",
                    unseen.size()));
  }
  if (columns.size() > 1) {
    notes.push_back(
        fmt::format("Splits model {} to {} columns: some are constant, or names, in few rows.",
                    *columns.begin(), *columns.rbegin()));
  }
  if (interrupted > 0) {
    notes.push_back(
        fmt::format("The times of {} runs that were interrupted and taken up again are not exact.",
                    interrupted));
  }
}

}  // namespace

Comparison read_comparison(const std::filesystem::path& folder,
                           const std::vector<std::string>& first) {
  const std::filesystem::path file = folder / "comparison.json";
  std::ifstream stream(file);
  const auto json = nlohmann::json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("rows")) {
    throw InputError(file.string(),
                     "holds no comparison: name the folder of one, or a table to make one of");
  }
  Comparison result{.source = json.value("table", ""),
                    .rows = json.at("rows"),
                    .dropped = json.value("dropped", std::size_t{0})};
  const std::map<std::string, Runs> runs = read_runs(folder);
  const std::vector<std::string> order = order_of(runs, first);
  if (order.empty()) {
    result.verdict = "There are no results yet.";
    return result;
  }
  const Runs& reference = runs.at(order.front());
  result.training_rows = reference.front().training_rows;
  result.test_rows = reference.front().test_rows;
  for (const std::string& name : order) {
    result.methods.push_back(result_of(runs.at(name), reference, static_cast<double>(result.rows)));
  }
  result.verdict = verdict_of(result.methods);
  add_notes(runs, result);
  return result;
}

}  // namespace jeffreys
