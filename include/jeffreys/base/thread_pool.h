// Threads for a model's operations. Results are the same bits for any number of threads: work is
// cut by rows, never by threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace jeffreys {

class ThreadPool {
 public:
  // The calling thread works too: `threads` - 1 workers are started.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] std::size_t threads() const;

  // Calls job(i) once for every i in [0, count), and returns when all are done. The first exception
  // of a job is rethrown here. A call while the pool is busy (from a job, or from another thread)
  // does its work on the calling thread.
  void run(std::size_t count, const std::function<void(std::size_t)>& job);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace jeffreys
