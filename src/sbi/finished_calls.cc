#include "sbi/finished_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace jeffreys {

bool FinishedCalls::add(FinishedCall call) {
  const auto after = calls_.lower_bound(call.first);
  if (after != calls_.end() && after->first < call.end()) return false;
  if (after != calls_.begin() && std::prev(after)->second.end() > call.first) return false;
  const std::uint64_t end = std::max(call.first, std::min(call.end(), rows_));
  const auto rows = static_cast<std::int64_t>(end - call.first);
  const auto bad = std::count_if(call.failures.begin(), call.failures.end(),
                                 [&](const Failure& failure) { return failure.row < rows; });
  bad_ += bad;
  good_ += rows - bad;
  calls_.emplace(call.first, std::move(call));
  return true;
}

std::vector<CallRows> FinishedCalls::missing(std::int64_t rows_per_call) const {
  std::vector<CallRows> result;
  const auto per_call = static_cast<std::uint64_t>(rows_per_call);
  auto known = calls_.begin();
  for (std::uint64_t row = 0; row < rows_;) {
    if (known != calls_.end() && known->first == row) {
      row = known->second.end();
      ++known;
      continue;
    }
    std::uint64_t end = row + std::min(rows_ - row, per_call - row % per_call);
    if (known != calls_.end()) end = std::min(end, known->first);
    result.push_back({row, static_cast<std::int64_t>(end - row)});
    row = end;
  }
  return result;
}

std::map<FailureKind, FailureCount> FinishedCalls::failures() const {
  std::map<FailureKind, FailureCount> result;
  for (const auto& [first, call] : calls_) {
    for (const Failure& failure : call.failures) {
      const std::uint64_t row = first + static_cast<std::uint64_t>(failure.row);
      if (row >= rows_) continue;
      FailureCount& count = result[failure.kind];
      if (count.rows++ == 0) count.first_message = fmt::format("row {}: {}", row, failure.message);
    }
  }
  return result;
}

Table FinishedCalls::table(const std::vector<std::string>& names) const {
  Table table{"simulations", {}, {}};
  for (const std::string& name : names) {
    table.columns.push_back({.name = name});
    table.columns.back().numbers.reserve(static_cast<std::size_t>(good_));
  }
  for (const auto& [first, call] : calls_) {
    auto failure = call.failures.begin();
    for (Eigen::Index i = 0; i < call.parameters.rows(); ++i) {
      if (first + static_cast<std::uint64_t>(i) >= rows_) break;
      if (failure != call.failures.end() && failure->row == i) {
        ++failure;
        continue;
      }
      auto column = table.columns.begin();
      for (const double value : call.parameters.row(i)) (column++)->numbers.push_back(value);
      for (const double value : call.outcomes.row(i)) (column++)->numbers.push_back(value);
    }
  }
  return table;
}

}  // namespace jeffreys
