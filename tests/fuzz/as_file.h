// Bytes as a file: what every reader takes.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/safetensors.h"

namespace jeffreys::fuzz {

// In memory, the same for every call.
inline std::filesystem::path as_file(const std::uint8_t* bytes, std::size_t size) {
  static const int descriptor = ::memfd_create("input", 0);
  const bool written = ::ftruncate(descriptor, 0) == 0 &&
                       ::pwrite(descriptor, bytes, size, 0) == static_cast<::ssize_t>(size);
  if (descriptor < 0 || !written) std::abort();
  return "/proc/self/fd/" + std::to_string(descriptor);
}

// A tensor file whose checksum, if it has none, is right: no fuzzer finds one, and behind it is
// what has to be read. In memory too.
inline std::filesystem::path with_checksum(const std::filesystem::path& path) {
  static const std::filesystem::path folder =
      "/dev/shm/jeffreys-fuzz-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  storage::write_safetensors(folder / "input", storage::read_safetensors(path));
  return folder / "input";
}

// Runs the reader. A damaged file is an InputError, and nothing else.
template <typename Read>
int expect_clear(const std::uint8_t* bytes, std::size_t size, const Read& read) {
  try {
    read(as_file(bytes, size));
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}

}  // namespace jeffreys::fuzz
