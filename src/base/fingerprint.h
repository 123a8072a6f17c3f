// A short number that tells two sets of data apart: FNV-1a over their bytes. It recognises a
// mistake, such as a checkpoint of another table, and is no protection against malice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

class Fingerprint {
 public:
  template <typename T>
  void add(std::span<const T> values) {
    for (const std::byte byte : std::as_bytes(values)) {
      value_ = (value_ ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ULL;
    }
  }
  template <typename T>
  void add(const Matrix<T>& values) {
    add(std::span<const T>(values.data(), static_cast<std::size_t>(values.size())));
  }

  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace jeffreys
