#include "sbi/finished_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace jeffreys {
namespace {

FinishedCall part_of(const FinishedCall& call, Eigen::Index first, Eigen::Index rows) {
  return {call.first + static_cast<std::uint64_t>(first),
          call.parameters.middleRows(first, rows),
          call.outcomes.cols() > 0 ? Matrix<double>(call.outcomes.middleRows(first, rows))
                                   : Matrix<double>(),
          {}};
}

std::vector<FinishedCall> runs_of(const FinishedCall& call) {
  std::vector<FinishedCall> runs;
  Eigen::Index begin = 0;
  const auto add_good = [&](Eigen::Index end) {
    if (end > begin) runs.push_back(part_of(call, begin, end - begin));
  };
  for (const Failure& failure : call.failures) {
    add_good(failure.row);
    runs.push_back(part_of(call, failure.row, 1));
    runs.back().failures = {{0, failure.kind, failure.message}};
    begin = failure.row + 1;
  }
  add_good(call.parameters.rows());
  return runs;
}

bool failed(const FinishedCall& run) { return !run.failures.empty(); }

// Of the rows below `limit`.
std::int64_t count_of(const FinishedCall& run, std::uint64_t limit) {
  return static_cast<std::int64_t>(std::clamp(limit, run.first, run.end()) - run.first);
}

}  // namespace

bool FinishedCalls::add(const FinishedCall& call) {
  auto after = runs_.lower_bound(call.first);
  if (after != runs_.begin() && std::prev(after)->second.end() > call.first) return false;
  const auto end = runs_.lower_bound(call.end());
  if (!std::all_of(after, end, [](const auto& run) { return failed(run.second); })) return false;
  while (after != end) after = forget(after);
  for (FinishedCall& run : runs_of(call)) {
    (failed(run) ? bad_ : good_) += count_of(run, rows_);
    runs_.emplace(run.first, std::move(run));
  }
  return true;
}

FinishedCalls::Runs::iterator FinishedCalls::forget(Runs::iterator run) {
  (failed(run->second) ? bad_ : good_) -= count_of(run->second, rows_);
  return runs_.erase(run);
}

void FinishedCalls::forget_failed() {
  for (auto run = runs_.begin(); run != runs_.end();) {
    run = failed(run->second) ? forget(run) : std::next(run);
  }
}

std::vector<CallRows> FinishedCalls::missing(std::int64_t rows_per_call) const {
  std::vector<CallRows> result;
  const auto per_call = static_cast<std::uint64_t>(rows_per_call);
  auto known = runs_.begin();
  for (std::uint64_t row = 0; row < rows_;) {
    if (known != runs_.end() && known->first == row) {
      row = known->second.end();
      ++known;
      continue;
    }
    std::uint64_t end = row + std::min(rows_ - row, per_call - row % per_call);
    if (known != runs_.end()) end = std::min(end, known->first);
    result.push_back({row, static_cast<std::int64_t>(end - row)});
    row = end;
  }
  return result;
}

std::map<FailureKind, FailureCount> FinishedCalls::failures() const {
  std::map<FailureKind, FailureCount> result;
  for (const auto& [row, run] : runs_) {
    if (row >= rows_ || !failed(run)) continue;
    const Failure& failure = run.failures.front();
    FailureCount& count = result[failure.kind];
    if (count.rows++ == 0) count.first_message = fmt::format("row {}: {}", row, failure.message);
  }
  return result;
}

Table FinishedCalls::table(const std::vector<std::string>& names) const {
  Table table{"simulations", {}, {}};
  for (const std::string& name : names) {
    table.columns.push_back({.name = name});
    table.columns.back().numbers.reserve(static_cast<std::size_t>(good_));
  }
  for (const auto& [first, run] : runs_) {
    if (failed(run)) continue;
    for (Eigen::Index i = 0; i < count_of(run, rows_); ++i) {
      auto column = table.columns.begin();
      for (const double value : run.parameters.row(i)) (column++)->numbers.push_back(value);
      for (const double value : run.outcomes.row(i)) (column++)->numbers.push_back(value);
    }
  }
  return table;
}

}  // namespace jeffreys
