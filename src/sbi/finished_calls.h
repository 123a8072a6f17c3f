// Simulations that are done, in order of their rows, whatever the order in which they came.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "jeffreys/base/matrix.h"
#include "jeffreys/sbi/simulate.h"
#include "jeffreys/table/table.h"

namespace jeffreys {

struct FinishedCall {
  std::uint64_t first = 0;         // its first row
  Matrix<double> parameters = {};  // [rows, parameters]
  Matrix<double> outcomes = {};    // [rows, outcomes]; without columns while they are unknown
  std::vector<Failure> failures = {};

  std::uint64_t end() const { return first + static_cast<std::uint64_t>(parameters.rows()); }
};

// Rows of a call that is to be made.
struct CallRows {
  std::uint64_t first = 0;
  std::int64_t count = 0;
};

// Counts and gives rows 0 to rows - 1; a journal may hold more.
class FinishedCalls {
 public:
  explicit FinishedCalls(std::int64_t rows) : rows_(static_cast<std::uint64_t>(rows)) {}

  // Takes the place of rows that failed before. False if some of the rows are there already and did
  // not fail.
  bool add(const FinishedCall& call);
  // Rows that failed are missing again.
  void forget_failed();

  std::int64_t good() const { return good_; }
  std::int64_t bad() const { return bad_; }
  std::int64_t all() const { return good_ + bad_; }

  // The calls that are missing, in order. Each begins at a multiple of rows_per_call, or where the
  // last call of a journal for fewer rows ended.
  std::vector<CallRows> missing(std::int64_t rows_per_call) const;
  std::map<FailureKind, FailureCount> failures() const;
  // Without rows that failed. The names are those of the parameters, then of the outcomes.
  Table table(const std::vector<std::string>& names) const;

 private:
  using Runs = std::map<std::uint64_t, FinishedCall>;  // by first row
  Runs::iterator forget(Runs::iterator run);

  std::uint64_t rows_;
  Runs runs_;  // parts of calls: each a failed row, or as many good ones as follow each other
  std::int64_t good_ = 0;
  std::int64_t bad_ = 0;
};

}  // namespace jeffreys
