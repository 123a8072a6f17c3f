#include "jeffreys/train/record_arrays.h"

#include <fmt/format.h>

#include <stdexcept>
#include <type_traits>

namespace jeffreys {
namespace {

using storage::Array;

constexpr auto kSteps = [](auto& record, auto&& visit) { visit_step(record, visit); };
constexpr auto kEvaluations = [](auto& record, auto&& visit) { visit_evaluation(record, visit); };

constexpr std::int64_t fields_of_version_1(const StepRecord&) { return 32; }
constexpr std::int64_t fields_of_version_1(const Evaluation&) { return 5; }

template <typename Record, typename Visit>
std::int64_t field_count(Visit visit) {
  Record empty;
  std::int64_t fields = 0;
  visit(empty, [&](const char*, auto&) { ++fields; });
  return fields;
}

template <typename Record, typename Visit>
Array write(const std::vector<Record>& records, Visit visit) {
  std::vector<double> values;
  for (const Record& record : records) {
    visit(record, [&](const char*, const auto& v) { values.push_back(static_cast<double>(v)); });
  }
  return Array::from<double>(
      {static_cast<std::int64_t>(records.size()), field_count<Record>(visit)}, values);
}

template <typename Record, typename Visit>
std::vector<Record> read(const Array& array, Visit visit) {
  const std::int64_t fields = field_count<Record>(visit);
  const std::int64_t found = array.shape.size() == 2 ? array.shape[1] : 0;
  // Earlier versions wrote fewer: what they lack is not measured.
  if (found > fields || found < fields_of_version_1(Record())) {
    throw std::invalid_argument(fmt::format("expected records of {} numbers", fields));
  }
  const std::vector<double> values = array.values<double>();
  std::vector<Record> records(static_cast<std::size_t>(array.shape[0]));
  std::size_t next = 0;
  for (Record& record : records) {
    std::int64_t field = 0;
    visit(record, [&](const char*, auto& v) {
      if (field++ >= found) return;
      const double value = values[next++];
      using Value = std::remove_reference_t<decltype(v)>;
      if constexpr (std::is_same_v<Value, std::int64_t>) {
        // Beyond 2^53 no count was ever written; a cast of anything larger would be undefined.
        if (!(value >= 0 && value <= 9007199254740992.0)) {
          throw std::invalid_argument("a record's iteration is not a count");
        }
      }
      v = static_cast<Value>(value);
    });
  }
  return records;
}

}  // namespace

Array to_array(const std::vector<StepRecord>& records) { return write(records, kSteps); }
Array to_array(const std::vector<Evaluation>& records) { return write(records, kEvaluations); }

std::vector<StepRecord> to_step_records(const Array& array) {
  return read<StepRecord>(array, kSteps);
}
std::vector<Evaluation> to_evaluations(const Array& array) {
  return read<Evaluation>(array, kEvaluations);
}

}  // namespace jeffreys
