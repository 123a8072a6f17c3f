// A number by which damage to bytes is seen: XXH3 with 64 bits, which takes no longer than reading
// them from memory. No protection against malice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace jeffreys::storage {

class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  // The same bytes in other pieces have the same checksum.
  void add(std::span<const std::byte> bytes);
  void add(std::uint64_t number);
  // With its length, so that a list of texts is told from one that is divided elsewhere.
  void add_text(std::string_view text);

  // Of everything added so far, as 16 hexadecimal digits.
  [[nodiscard]] std::string digits() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Of the characters alone.
[[nodiscard]] std::string checksum_of(std::string_view text);

}  // namespace jeffreys::storage
