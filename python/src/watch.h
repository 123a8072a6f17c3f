// How Python watches and stops what takes long: signals, and a function that is told how far it is.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "jeffreys/fit/fit.h"
#include "python/src/binding.h"

namespace jeffreys::python {

// Used without the GIL, which it takes when it needs it. An exception of a signal handler (Ctrl-C)
// or of the function stops the work; rethrow() raises it once the work has ended.
class Watch {
 public:
  // tell(dict) is called at most ten times a second; None: nobody is told.
  explicit Watch(py::object tell) : tell_(std::move(tell)) {}

  // Whether to stop. Looks for signals twenty times a second.
  bool should_stop();

  // Whether it is time to tell again.
  [[nodiscard]] bool due() const;
  // Fills the dict and calls the function.
  void tell(const std::function<void(py::dict&)>& fill);

  // With the GIL.
  void rethrow();

 private:
  using Clock = std::chrono::steady_clock;

  void keep(py::error_already_set& error);

  py::object tell_;
  std::unique_ptr<py::error_already_set> error_;
  Clock::time_point asked_ = Clock::now();
  Clock::time_point told_ = {};
};

// For FitRun::observe.
std::unique_ptr<TrainObserver> watch_fit(Watch& watch, const std::string& label,
                                         const FitOptions& options, const PreparedTable& table);

// How fits run for Python: threads, what an interrupted run leaves, whether to resume from it.
FitRun fit_run(Watch& watch, std::size_t threads, const std::string& checkpoint, bool resume);

// How one of several fits runs by itself, which is left in the folder.
FitRun member_run(Watch& watch, std::size_t threads, const std::string& folder, int member);

}  // namespace jeffreys::python
