#include "python/src/workers.h"

#include <pthread.h>

#include <map>

namespace jeffreys::python {
namespace {

using Pools = std::map<std::size_t, std::shared_ptr<ThreadPool>>;

struct State {
  // Never deleted: in a child it would wait for threads that are not there.
  Pools* pools = new Pools;
  std::uint64_t generation = 0;
};

State& state() {
  static State* const shared = [] {
    pthread_atfork(nullptr, nullptr, [] {
      state().pools = new Pools;
      ++state().generation;
    });
    return new State;
  }();
  return *shared;
}

}  // namespace

std::shared_ptr<ThreadPool> worker_pool(std::size_t threads) {
  if (threads <= 1) return nullptr;
  std::shared_ptr<ThreadPool>& pool = (*state().pools)[threads];
  if (pool == nullptr) pool = std::make_shared<ThreadPool>(threads);
  return pool;
}

std::uint64_t fork_generation() { return state().generation; }

}  // namespace jeffreys::python
