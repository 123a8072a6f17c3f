#include "jeffreys/storage/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "jeffreys/base/input_error.h"

namespace jeffreys::storage {

FileLock::FileLock(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    throw InputError(path_.string(), "cannot be made: " + std::generic_category().message(errno));
  }
  held_ = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
}

FileLock::~FileLock() {
  // Removed while it is held, so that nobody waits on a name that is gone.
  std::error_code ignored;
  if (held_) std::filesystem::remove(path_, ignored);
  close(descriptor_);
}

}  // namespace jeffreys::storage
