// One run of a comparison: a method on a split of the rows, from the table to its file.
#pragma once

#include <atomic>

#include "base/run_queue.h"
#include "jeffreys/fit/compare.h"
#include "jeffreys/table/split.h"

namespace jeffreys {

// The rows that are compared on.
struct ComparedTable {
  Table table;                      // complete rows, in an order that depends on their content
  std::vector<std::size_t> groups;  // of each row
  std::size_t dropped = 0;
};

struct CompareJob {
  CompareMethod method;
  std::size_t split = 0;
  std::size_t seed = 0;  // its number, from 0

  // METHOD/split-0-seed-0
  [[nodiscard]] std::string name() const;
};

// Its file.
struct CompareRun {
  std::string method;      // its name
  std::string definition;  // what it was
  std::size_t split = 0;
  std::size_t seed = 0;
  std::size_t training_rows = 0;
  std::size_t test_rows = 0;
  std::size_t columns = 0;  // that were modelled
  std::size_t unseen = 0;   // test rows with a label that no training row has
  double nll = 0;           // mean over the test rows; infinite where a method failed
  double standard_error = 0;
  double processor_seconds = 0;
  double wall_seconds = 0;
  bool interrupted = false;  // and taken up again: times are near the truth, not exact
};
// Throws InputError for a file that is none.
[[nodiscard]] CompareRun read_compare_run(const std::filesystem::path& file);

// Rows of the split, by places in the table.
[[nodiscard]] Split compare_split(const ComparedTable& data, const CompareOptions& options,
                                  std::size_t split);

// Throws what goes wrong.
JobEnd run_compare_job(const CompareJob& job, const ComparedTable& data,
                       const CompareOptions& options, const std::atomic<bool>& stop);

}  // namespace jeffreys
