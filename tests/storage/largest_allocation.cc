#include "storage/largest_allocation.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> largest{0};
}  // namespace

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  std::size_t known = largest;
  while (size > known && !largest.compare_exchange_weak(known, size)) {
  }
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size) {
  if (void* const memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace jeffreys::storage {

std::size_t take_largest_allocation() { return largest.exchange(0); }

}  // namespace jeffreys::storage
