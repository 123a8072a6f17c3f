// Many simulations by several processes, kept in a journal so that none is done twice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "jeffreys/base/matrix.h"
#include "jeffreys/sbi/simulator.h"
#include "jeffreys/table/table.h"

namespace jeffreys {

struct SimulateOptions {
  std::int64_t rows = 10000;
  std::int64_t rows_per_call = 100;
  int processes = 1;  // calls at the same time; changes nothing in the result
  std::uint64_t seed = 0;
  std::vector<std::string> parameter_names = {};
  std::vector<std::string> outcome_names = {};  // empty: x1, x2, ...
  std::filesystem::path journal = {};           // empty: none
  bool retry_failed = false;                    // simulate failed rows of the journal again
  // Whatever else has to be the same for a journal to be continued, by name: the text of the
  // "prior", the command of the "simulator".
  std::map<std::string, std::string> identity = {};

  // Throws std::invalid_argument for numbers below 1 and for names that are missing, empty or not
  // different.
  void validate() const;
};

// Parameters [count, parameters] of rows first, first + 1, ...: each a function of its row's number
// and of the seed alone. Several threads may call at the same time.
using DrawParameters = std::function<Matrix<double>(std::uint64_t first, std::int64_t count)>;

struct FailureCount {
  std::int64_t rows = 0;
  std::string first_message = {};  // of the lowest row
};

struct SimulateReport {
  std::int64_t requested = 0;
  std::int64_t finished = 0;  // rows of the table
  std::int64_t resumed = 0;   // rows that were in the journal, failed ones too
  std::int64_t calls = 0;     // of this run, not those behind the journal
  bool stopped = false;       // the observer asked for it, and rows are missing
  double seconds = 0;
  std::map<FailureKind, FailureCount> failures = {};

  std::int64_t failed() const;
};

struct Simulations {
  // Parameters, then outcomes; in order of rows, without those that failed.
  Table table = {};
  SimulateReport report = {};
};

struct SimulateProgress {
  std::int64_t requested = 0;
  std::int64_t finished = 0;
  std::int64_t failed = 0;
  double seconds = 0;
};

// Called by the thread that called simulate().
class SimulateObserver {
 public:
  virtual ~SimulateObserver() = default;
  virtual void on_progress(const SimulateProgress&) {}
  // Asked at least ten times a second; true kills the calls under way and ends with what there is.
  virtual bool should_stop() { return false; }
};

// Simulates rows 0 to rows - 1 of the seed. The same table comes out, bit for bit, for any number
// of processes and after a resume, if simulator and draw keep their promises.
//
// Every call is appended to the journal as soon as it is done, so that whatever ends this process
// loses only the calls under way. Rows in the journal are not simulated again; those that failed
// are, if options.retry_failed says so. A larger number of rows continues the journal of a smaller
// one.
//
// Throws InputError for a journal of other names, seed, identity or rows_per_call, a damaged one,
// one in use, and a disk that is full; when more than half of at least 200 rows failed, or all of
// fewer; when the simulator cannot run at all or its outcomes do not fit the names. The journal
// stays.
Simulations simulate(const Simulator& simulator, const DrawParameters& draw,
                     const SimulateOptions& options, SimulateObserver* observer = nullptr);

}  // namespace jeffreys
