#include "jeffreys/train/record_arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <type_traits>

namespace jeffreys {
namespace {

using storage::Array;

// The columns of a history before they were kept in the file. Its first version ended with
// seconds_update.
constexpr const char* kFormerColumns =
    "iteration,nll,reverse_kl,proxy_nll,level_forward,level_reverse,level_proxy,log_zeta,"
    "effective_sample_size,pareto_k,lambda_forward,lambda_reverse,lambda_proxy,lambda_zeta_lower,"
    "lambda_zeta_upper,epsilon_forward,epsilon_reverse,epsilon_proxy,delta_forward,delta_reverse,"
    "delta_proxy,residual_forward,residual_reverse,residual_proxy,balance,main_gradient_norm,"
    "proxy_gradient_norm,skipped,seconds_sampling,seconds_zeta,seconds_scores,seconds_update,"
    "log_zeta_lowest,log_zeta_highest";
constexpr std::int64_t kFewestFormerColumns = 32;

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> all(1);
  for (const char letter : names) {
    if (letter == ',') {
      all.emplace_back();
    } else {
      all.back() += letter;
    }
  }
  return all;
}

// A column named level_forward is of the constraint forward.
std::string constraint_of(const std::string& column) {
  constexpr std::array<std::string_view, 5> kPrefixes{"level_", "lambda_", "epsilon_", "delta_",
                                                      "residual_"};
  for (const std::string_view prefix : kPrefixes) {
    if (column.starts_with(prefix)) return column.substr(prefix.size());
  }
  return {};
}

// Without numbers, but with the constraints that these columns speak of.
StepRecord empty_record(const std::vector<std::string>& columns) {
  StepRecord record;
  for (const std::string& column : columns) {
    const std::string name = constraint_of(column);
    const auto& known = record.constraints;
    if (name.empty() ||
        std::any_of(known.begin(), known.end(), [&](const auto& c) { return c.name == name; })) {
      continue;
    }
    record.constraints.push_back({.name = name});
  }
  return record;
}

template <typename Value>
void set(Value& target, double value) {
  if constexpr (std::is_same_v<Value, std::int64_t>) {
    // Beyond 2^53 no count was ever written; a cast of anything larger would be undefined.
    if (!(value >= 0 && value <= 9007199254740992.0)) {
      throw std::invalid_argument("a record's iteration is not a count");
    }
  }
  target = static_cast<Value>(value);
}

// For each number of a record, in the order of its visitor: its place among the columns, or -1.
template <typename Record, typename Visit>
std::vector<std::ptrdiff_t> places_of(Record record, Visit visit,
                                      const std::vector<std::string>& columns) {
  std::vector<std::ptrdiff_t> places;
  std::size_t found = 0;
  visit(record, [&](const char* name, auto&) {
    const auto at = std::find(columns.begin(), columns.end(), name);
    places.push_back(at == columns.end() ? -1 : at - columns.begin());
    if (at != columns.end()) ++found;
  });
  if (found != columns.size()) {
    throw std::invalid_argument(
        fmt::format("columns: {} of {} are not known", columns.size() - found, columns.size()));
  }
  return places;
}

template <typename Record, typename Visit>
std::vector<Record> read(const Array& array, const Record& empty, Visit visit,
                         const std::vector<std::string>& columns) {
  if (array.shape.size() != 2 || array.shape[1] != static_cast<std::int64_t>(columns.size())) {
    throw std::invalid_argument(fmt::format("expected records of {} numbers", columns.size()));
  }
  const std::vector<std::ptrdiff_t> places = places_of(empty, visit, columns);
  const std::vector<double> values = array.values<double>();
  std::vector<Record> records(static_cast<std::size_t>(array.shape[0]), empty);
  for (std::size_t r = 0; r < records.size(); ++r) {
    std::size_t number = 0;
    visit(records[r], [&](const char*, auto& value) {
      const std::ptrdiff_t place = places[number++];
      if (place >= 0) set(value, values[r * columns.size() + static_cast<std::size_t>(place)]);
    });
  }
  return records;
}

template <typename Record, typename Visit>
std::vector<std::string> names_of(Record record, Visit visit) {
  std::vector<std::string> names;
  visit(record, [&](const char* name, auto&) { names.emplace_back(name); });
  return names;
}

constexpr auto kSteps = [](auto& record, auto&& visit) { visit_step(record, visit); };
constexpr auto kEvaluations = [](auto& record, auto&& visit) { visit_evaluation(record, visit); };

template <typename Record, typename Visit>
Array write(const std::vector<Record>& records, Visit visit,
            const std::vector<std::string>& columns) {
  std::vector<double> values;
  for (const Record& record : records) {
    const std::size_t end = values.size() + columns.size();
    visit(record, [&](const char*, const auto& v) { values.push_back(static_cast<double>(v)); });
    values.resize(end, kNotMeasured);
  }
  return Array::from<double>(
      {static_cast<std::int64_t>(records.size()), static_cast<std::int64_t>(columns.size())},
      values);
}

}  // namespace

const ConstraintRecord& StepRecord::constraint(std::string_view name) const {
  static const ConstraintRecord kNone;
  const auto found = std::find_if(constraints.begin(), constraints.end(),
                                  [&](const ConstraintRecord& c) { return c.name == name; });
  return found == constraints.end() ? kNone : *found;
}

HistoryArray to_array(const std::vector<StepRecord>& records) {
  const std::vector<std::string> columns =
      names_of(records.empty() ? StepRecord() : records.front(), kSteps);
  return {write(records, kSteps, columns), fmt::format("{}", fmt::join(columns, ","))};
}

Array to_array(const std::vector<Evaluation>& records) {
  return write(records, kEvaluations, names_of(Evaluation(), kEvaluations));
}

std::vector<StepRecord> to_step_records(const Array& array, const std::string& columns) {
  std::vector<std::string> names = split(columns.empty() ? kFormerColumns : columns);
  if (columns.empty() && array.shape.size() == 2 && array.shape[1] >= kFewestFormerColumns &&
      array.shape[1] <= static_cast<std::int64_t>(names.size())) {
    names.resize(static_cast<std::size_t>(array.shape[1]));
  }
  return read(array, empty_record(names), kSteps, names);
}

std::vector<Evaluation> to_evaluations(const Array& array) {
  return read(array, Evaluation(), kEvaluations, names_of(Evaluation(), kEvaluations));
}

}  // namespace jeffreys
