#pragma once

#include <filesystem>

namespace jeffreys::storage {

// A file under a name that nobody reads, open for writing. Its lock says that its writer lives.
struct TemporaryFile {
  std::filesystem::path path;
  int descriptor = -1;
};

// Creates one, readable as the umask allows; throws std::system_error. The first one of a process
// in a directory removes there what killed processes of this machine have left.
TemporaryFile create_temporary(const std::filesystem::path& directory);

}  // namespace jeffreys::storage
