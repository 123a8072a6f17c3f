// Memory for one tile's trip through a model: a stack of blocks for each thread, kept for the next
// trip, because fresh pages would cost more than the arithmetic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernels/aligned.h"

namespace jeffreys {

class Scratch {
 public:
  // Everything taken while a frame lives is given back when it dies.
  class Frame {
   public:
    Frame();
    ~Frame();
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    // `count` elements with any content, aligned for vectors.
    template <typename T>
    T* take(std::size_t count) {
      return static_cast<T*>(scratch_.take_bytes(count * sizeof(T)));
    }

    template <typename T>
    T* take_zeros(std::size_t count) {
      T* memory = take<T>(count);
      std::fill(memory, memory + count, T(0));
      return memory;
    }

   private:
    Scratch& scratch_;
    std::size_t block_;
    std::size_t used_;
  };

 private:
  void* take_bytes(std::size_t size);
  static Scratch& of_this_thread();

  std::vector<kernels::AlignedVector<std::byte>> blocks_;
  std::size_t block_ = 0;  // the one in use
  std::size_t used_ = 0;   // bytes of it
};

}  // namespace jeffreys
