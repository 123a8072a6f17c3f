// Lines about work under way, and a clean end on Ctrl-C.
#pragma once

#include <chrono>
#include <string>

#include "cli/command.h"
#include "jeffreys/fit/fit.h"

namespace jeffreys::cli {

// While it lives, SIGINT and SIGTERM ask training to stop after the current step.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  [[nodiscard]] static bool requested();
};

// "12 s", "3:05 min", "2:30 h".
[[nodiscard]] std::string duration(double seconds);

// A line about work under way: drawn over on a terminal, written now and then to a log.
class ProgressLine {
 public:
  // silence: between two lines where nobody watches, as on a batch system.
  explicit ProgressLine(const Globals& globals,
                        std::chrono::seconds silence = std::chrono::seconds(10));
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  [[nodiscard]] bool shown() const { return shown_; }
  // Whether the last one is long enough ago.
  [[nodiscard]] bool due() const;
  void draw(const std::string& text);
  void draw_if_due(const std::string& text) {
    if (due()) draw(text);
  }
  // Makes room for another text.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  bool terminal_;
  bool drawn_ = false;
  Clock::duration pause_;
  Clock::time_point last_ = Clock::now();
};

// That of a fit.
class Progress final : public TrainObserver {
 public:
  // label: begins every line.
  Progress(const Globals& globals, std::string label, const FitOptions& options,
           const PreparedTable& table);

  void on_step(const StepRecord& record) override;
  void on_evaluation(const Evaluation& evaluation) override;

 private:
  [[nodiscard]] std::string text(const StepRecord& record) const;

  using Clock = std::chrono::steady_clock;
  ProgressLine line_;
  std::string label_;
  std::int64_t iterations_;
  double shift_;             // what to add to a model's NLL for the user's units
  std::int64_t first_ = -1;  // iteration at the start of this process
  Clock::time_point begin_ = Clock::now();
  Evaluation evaluation_;
};

}  // namespace jeffreys::cli
