// A line about a running fit, and a clean end on Ctrl-C.
#pragma once

#include <chrono>
#include <string>

#include "cli/command.h"
#include "jeffreys/train/trainer.h"

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

class Progress final : public TrainObserver {
 public:
  // label: begins every line. shift: what to add to a model's NLL for the user's units.
  Progress(const Globals& globals, std::string label, std::int64_t iterations, double shift);
  ~Progress() override;

  void on_step(const StepRecord& record) override;
  void on_evaluation(const Evaluation& evaluation) override;
  bool should_stop() override { return StopOnSignal::requested(); }

 private:
  void draw(const StepRecord& record, double seconds);

  using Clock = std::chrono::steady_clock;
  bool shown_;
  bool terminal_;
  std::string label_;
  std::int64_t iterations_;
  double shift_;
  std::int64_t first_ = -1;  // iteration at the start of this process
  Clock::time_point begin_ = Clock::now();
  double last_drawn_ = 0;
  bool drawn_ = false;
  Evaluation evaluation_;
};

}  // namespace jeffreys::cli
