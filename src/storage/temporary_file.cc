#include "storage/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <system_error>

namespace jeffreys::storage {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".tmp";

// Names the machine: on a network disk the locks of others may not be seen.
const std::string& prefix() {
  static const std::string kPrefix = [] {
    std::array<char, 65> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host.fill('\0');
    return fmt::format(".jeffreys-{}-", host.data());
  }();
  return kPrefix;
}

bool is_same_file(const fs::path& path, int descriptor) {
  struct stat named {};
  struct stat opened {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(descriptor, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

void remove_if_abandoned(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  // Under the lock nobody else removes or renames it, so that the name means this very file.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_same_file(path, descriptor)) {
    ::unlink(path.c_str());
  }
  ::close(descriptor);
}

// Once for each directory: whoever was killed before this process wrote here is dead by then.
void remove_abandoned(const fs::path& directory) {
  static std::mutex mutex;
  static std::set<fs::path> visited;
  std::error_code error;
  const fs::path absolute = fs::absolute(directory, error);
  const std::scoped_lock lock(mutex);
  if (error || !visited.insert(absolute).second) return;
  for (fs::directory_iterator entry(absolute, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(prefix()) && name.ends_with(kEnding)) remove_if_abandoned(entry->path());
  }
}

}  // namespace

TemporaryFile create_temporary(const fs::path& directory) {
  remove_abandoned(directory);
  static std::atomic<std::uint64_t> counter{0};
  for (int attempt = 0; attempt < 1000; ++attempt) {
    // mkstemp would give mode 0600 whatever the umask says, so the name is made here. It is
    // independent of the target's name, which may already be as long as the file system allows.
    const fs::path path =
        directory / fmt::format("{}{}-{}{}", prefix(), ::getpid(), counter++, kEnding);
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      if (errno == EEXIST || errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category());
    }
    // Whoever has the lock took the file for abandoned before it had one, and removes it. A disk
    // without locks serves as well: there, nothing counts as abandoned.
    const bool taken = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && is_same_file(path, descriptor)) return {path, descriptor};
    ::close(descriptor);
  }
  throw std::system_error(EEXIST, std::generic_category());
}

}  // namespace jeffreys::storage
