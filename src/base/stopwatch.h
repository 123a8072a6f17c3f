// Time that passes, whatever becomes of the date, and time that the processor works.
#pragma once

#include <chrono>
#include <ctime>

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

// Of this thread alone, or of all of the process.
enum class Worker { thread, process };
inline double processor_seconds(Worker worker) {
  std::timespec time{};
  clock_gettime(worker == Worker::thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID,
                &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace jeffreys
