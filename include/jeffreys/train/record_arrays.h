// The course of a training run as arrays for a file: one row for each record, one column for each
// of its numbers. Which constraints a step had differs from problem to problem, so the names of a
// history's columns are kept beside it.
#pragma once

#include <string>
#include <vector>

#include "jeffreys/storage/array.h"
#include "jeffreys/train/record.h"

namespace jeffreys {

struct HistoryArray {
  storage::Array numbers;  // [records, columns]
  std::string columns;     // their names, with commas between them
};

// A record without a constraint that the first one has gets NaN for its numbers.
[[nodiscard]] HistoryArray to_array(const std::vector<StepRecord>& records);
[[nodiscard]] storage::Array to_array(const std::vector<Evaluation>& records);

// Throw std::invalid_argument for an array of another form. columns: empty for files of versions
// that had always the same ones.
[[nodiscard]] std::vector<StepRecord> to_step_records(const storage::Array& array,
                                                      const std::string& columns);
[[nodiscard]] std::vector<Evaluation> to_evaluations(const storage::Array& array);

}  // namespace jeffreys
