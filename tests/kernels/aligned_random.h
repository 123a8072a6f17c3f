// Random buffers for the tests of the kernels: aligned as tiles are, the same on every machine.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>

#include "kernels/aligned.h"

namespace jeffreys::kernels {

using FloatAndDouble = ::testing::Types<float, double>;

struct FloatOrDoubleName {
  template <typename T>
  static std::string GetName(int) {  // NOLINT(readability-identifier-naming): GoogleTest's name
    return std::is_same_v<T, float> ? "float" : "double";
  }
};

// Numbers from a fixed seed. The standard fixes the engine's numbers, but not those of its
// distributions.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  double uniform(double low = -1, double high = 1) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }

  // One of low, ..., high.
  std::size_t integer(std::size_t low, std::size_t high) {
    return low + static_cast<std::size_t>(engine_() % (high - low + 1));
  }

  template <typename T>
  AlignedVector<T> buffer(std::size_t size, double low = -1, double high = 1) {
    AlignedVector<T> values(size);
    for (T& value : values) value = static_cast<T>(uniform(low, high));
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace jeffreys::kernels
