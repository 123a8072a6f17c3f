// Simulators turn parameters into outcomes. A row that fails does not affect the outcomes of the
// other rows.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

enum class FailureKind {
  failed,        // an exit code, a signal or an exception
  timed_out,     // the call took longer than it may
  garbage,       // a line that is not numbers, not as many as it should be, or one too many
  missing_line,  // the call ended well, with fewer lines than rows
  not_finite,    // an outcome is empty, NaN or infinite
  stopped,       // not the simulator's fault: the caller asked to stop
};

// "failed", "timed_out", "garbage", "missing_line", "not_finite", "stopped".
std::string_view name_of(FailureKind kind);
// Throws std::invalid_argument for another name, listing the known ones.
FailureKind parse_failure_kind(std::string_view name);

struct Failure {
  Eigen::Index row = 0;  // in the batch, from 0
  FailureKind kind = FailureKind::failed;
  std::string message = {};  // one line
};

struct SimulatedBatch {
  Matrix<double> outcomes = {};        // [rows, outcomes], finite; NaN in all of a row that failed
  std::vector<Failure> failures = {};  // by row, at most one for each
  std::int64_t calls = 0;              // how often the simulator was started
};

class Simulator {
 public:
  Simulator() = default;
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;
  virtual ~Simulator() = default;

  // Outcomes [rows, outcomes] of parameters [rows, parameters] that are rows first_row,
  // first_row + 1, ... of a larger whole: a simulator draws the noise of a row from the seed and
  // the row's number alone if it can, and then any split into batches gives the same outcomes.
  //
  // First all rows are simulated in one call. Rows that it failed to deliver are tried once more,
  // each in a call of its own. If the first 20 of these all fail (or the first 3, if they run out
  // of time), the others are not tried. Rows whose outcomes are not finite, and garbage in a call
  // with one line for each row, are not tried again. Several threads may call at the same time.
  // Throws InputError where no row can succeed, for example because the command does not exist.
  // Throws std::invalid_argument for parameters that are not finite.
  SimulatedBatch simulate(const MatrixView<double>& parameters, std::uint64_t seed,
                          std::uint64_t first_row = 0, const std::stop_token& stop = {}) const;

  // 0 as long as it is unknown: a command shows it by the first good line that it writes.
  virtual Eigen::Index outcomes() const = 0;

 protected:
  // What one call gave. Rows that are neither delivered nor wrong failed for the call's reason.
  struct Call {
    Matrix<double> outcomes = {};      // [rows, outcomes]; rows that have none hold anything
    std::vector<bool> delivered = {};  // for each row; its outcomes may be NaN or infinite
    std::vector<Failure> wrong = {};   // rows for which another try is of no use
    FailureKind reason = FailureKind::failed;
    std::string message = {};
  };

 private:
  virtual Call call(const MatrixView<double>& parameters, std::uint64_t seed,
                    std::uint64_t first_row, const std::stop_token& stop) const = 0;
};

// A built-in task (jeffreys/truth/task.h). A row's noise depends on the seed and the row's number
// alone: the row is the task's iteration, so the noise is not that of Task::simulate for the whole.
// Throws std::invalid_argument for an unknown name.
std::unique_ptr<Simulator> make_task_simulator(const std::string& name,
                                               Eigen::Index dimension = 10);

// Outcomes [rows, outcomes] of parameters [rows, parameters], given the seed and the number of the
// first row. An exception fails the call, but another shape throws std::invalid_argument.
using SimulatorFunction = std::function<Matrix<double>(
    const MatrixView<double>& parameters, std::uint64_t seed, std::uint64_t first_row)>;

// `function` may be called by several threads at the same time.
std::unique_ptr<Simulator> make_function_simulator(SimulatorFunction function,
                                                   Eigen::Index outcomes);

struct ProcessOptions {
  std::string command = {};  // for /bin/sh -c
  double seconds = 60;       // that one call may take, of however many rows
  Eigen::Index outcomes =
      0;  // numbers in a line; 0: as many as in the first good line of all calls

  // Throws std::invalid_argument for an empty command, a time that is not positive and finite, or
  // a negative number of outcomes.
  void validate() const;
};

// A program in any language. It reads one line for each row on its standard input, the parameters
// separated by commas, with digits enough to be exact; there is no header. It writes one line for
// each, in the same order, with the outcomes separated by commas or blanks. Outcomes that it cannot
// give are "nan" or an empty line. JEFFREYS_SEED and JEFFREYS_FIRST_ROW (the number of the first
// row, from 0) are in its environment. Exit codes other than 0 fail the call; what it wrote before
// counts. Its standard error shows in messages. When the time is over, it and all processes that it
// started are killed.
std::unique_ptr<Simulator> make_command_simulator(const ProcessOptions& options);

}  // namespace jeffreys
