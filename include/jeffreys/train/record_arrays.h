// The course of a training run as arrays for a file: one row for each record, columns in the order
// of visit_step and visit_evaluation.
#pragma once

#include <vector>

#include "jeffreys/storage/array.h"
#include "jeffreys/train/record.h"

namespace jeffreys {

[[nodiscard]] storage::Array to_array(const std::vector<StepRecord>& records);
[[nodiscard]] storage::Array to_array(const std::vector<Evaluation>& records);

// Throw std::invalid_argument for an array of another form.
[[nodiscard]] std::vector<StepRecord> to_step_records(const storage::Array& array);
[[nodiscard]] std::vector<Evaluation> to_evaluations(const storage::Array& array);

}  // namespace jeffreys
