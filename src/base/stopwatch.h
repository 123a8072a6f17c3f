// Time that passes, whatever becomes of the date.
#pragma once

#include <chrono>

namespace jeffreys {

// Seconds since it was made, or since the last lap.
class Stopwatch {
 public:
  double lap() {
    const auto now = Clock::now();
    const std::chrono::duration<double> passed = now - begin_;
    begin_ = now;
    return passed.count();
  }
  [[nodiscard]] double read() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace jeffreys
