#include "jeffreys/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace jeffreys {
namespace {

// A batch is often shorter than the time to wake a sleeping thread, so waiting starts with a short
// spin (tens of microseconds).
constexpr int kSpins = 4000;

inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

class ThreadPool::State {
 public:
  explicit State(std::size_t threads) {
    workers_.reserve(threads - 1);
    for (std::size_t i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
  }

  ~State() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] std::size_t threads() const { return workers_.size() + 1; }

  void run(std::size_t count, const std::function<void(std::size_t)>& job) {
    const std::unique_lock<std::mutex> turn(busy_, std::try_to_lock);
    if (workers_.empty() || count < 2 || !turn.owns_lock()) {
      for (std::size_t i = 0; i < count; ++i) job(i);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      job_ = &job;
      count_ = count;
      next_.store(0, std::memory_order_relaxed);
      active_.store(workers_.size(), std::memory_order_relaxed);
      error_ = nullptr;
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    take_jobs();
    wait_for_workers();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void take_jobs() {
    for (std::size_t i = next_.fetch_add(1); i < count_; i = next_.fetch_add(1)) {
      try {
        (*job_)(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        next_.store(count_);
      }
    }
  }

  void wait_for_workers() {
    for (int i = 0; i < kSpins && active_.load(std::memory_order_acquire) != 0; ++i)
      pause_briefly();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return active_.load(std::memory_order_acquire) == 0; });
  }

  void work() {
    std::size_t seen = 0;
    for (;;) {
      for (int i = 0; i < kSpins && generation_.load(std::memory_order_acquire) == seen; ++i) {
        pause_briefly();
      }
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return generation_.load(std::memory_order_acquire) != seen; });
        seen = generation_.load(std::memory_order_acquire);
        if (stopping_) return;
      }
      take_jobs();
      if (active_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        const std::lock_guard lock(mutex_);
        done_.notify_one();
      }
    }
  }

  std::vector<std::thread> workers_;
  std::mutex busy_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::atomic<std::size_t> generation_{0};
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> active_{0};
  const std::function<void(std::size_t)>* job_ = nullptr;
  std::size_t count_ = 0;
  std::exception_ptr error_;
  bool stopping_ = false;
};

ThreadPool::ThreadPool(std::size_t threads) {
  if (threads < 1 || threads > 4096) {
    throw std::invalid_argument("ThreadPool: threads must be between 1 and 4096, not " +
                                std::to_string(threads));
  }
  state_ = std::make_unique<State>(threads);
}

ThreadPool::~ThreadPool() = default;

std::size_t ThreadPool::threads() const { return state_->threads(); }

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& job) {
  state_->run(count, job);
}

}  // namespace jeffreys
