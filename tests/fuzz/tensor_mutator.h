// Changes tensor files so that most of them are still whole outside: the length in front is that of
// the header, and where the header was changed the tensors were not. Otherwise nearly every input
// would be refused by its first eight bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::uint64_t header = 0;
  constexpr std::size_t kPrefix = sizeof header;
  if (size > kPrefix) std::memcpy(&header, bytes, kPrefix);
  const bool whole = size > kPrefix && header > 0 && header <= size - kPrefix;
  if (!whole || size > most || seed % 16 == 0) return LLVMFuzzerMutate(bytes, size, most);
  std::uint8_t* const tensors = bytes + kPrefix + header;
  const std::size_t rest = size - kPrefix - header;
  if (rest > 0 && seed % 4 == 1) {
    return kPrefix + header + LLVMFuzzerMutate(tensors, rest, rest);
  }
  const std::vector<std::uint8_t> kept(tensors, tensors + rest);
  header = LLVMFuzzerMutate(bytes + kPrefix, header, most - kPrefix - rest);
  std::memcpy(bytes, &header, kPrefix);
  if (rest > 0) std::memcpy(bytes + kPrefix + header, kept.data(), rest);
  return kPrefix + header + rest;
}
