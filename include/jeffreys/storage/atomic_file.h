#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "jeffreys/base/input_error.h"

namespace jeffreys::storage {

// The file would be right, but there is no room for it, or its reader is gone.
class WriteError : public InputError {
 public:
  using InputError::InputError;
};

// Writes a file so that every reader, also after a crash, sees the old content or the new, never a
// part: the bytes go to a temporary file in the same directory, which takes the name in commit().
// What a killed process leaves of one is removed by the next process that writes in the directory.
// An existing file keeps its permissions; a symbolic link stays and its target is replaced.
// Whatever fails throws InputError with the system's reason, WriteError where the disk is full, and
// the old file stays as it was.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  // Removes the temporary file unless commit() succeeded.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  // Brings everything to the disk and puts the new file in place. Call once, last.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

// The whole of an AtomicFile in one call.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace jeffreys::storage
