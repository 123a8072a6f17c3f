// Threads for models, shared by all that ask for as many. After a fork the child has none of its
// parent's threads, so that it gets pools of its own; nothing there ever waits for the parent's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "jeffreys/base/thread_pool.h"

namespace jeffreys::python {

// nullptr for one thread, which needs no pool. Called with the GIL held.
std::shared_ptr<ThreadPool> worker_pool(std::size_t threads);

// How often this process is a fork of the one that loaded the module.
std::uint64_t fork_generation();

// A model with the threads that its caller wants. Calls under way in other Python threads keep
// theirs: a change makes a copy, it does not touch what they use.
template <typename Model>
class Threaded {
 public:
  explicit Threaded(Model model) {
    model.use_threads(nullptr);
    current_ = std::make_shared<const Model>(std::move(model));
  }

  // Called with the GIL held.
  std::shared_ptr<const Model> with(std::size_t threads) {
    if (threads != threads_ || generation_ != fork_generation()) {
      Model copy = *current_;
      copy.use_threads(worker_pool(threads));
      current_ = std::make_shared<const Model>(std::move(copy));
      threads_ = threads;
      generation_ = fork_generation();
    }
    return current_;
  }

  [[nodiscard]] const Model& get() const { return *current_; }

 private:
  std::shared_ptr<const Model> current_;
  std::size_t threads_ = 1;
  std::uint64_t generation_ = fork_generation();
};

}  // namespace jeffreys::python
