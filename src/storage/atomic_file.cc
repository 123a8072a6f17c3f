#include "jeffreys/storage/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "jeffreys/base/input_error.h"
#include "storage/temporary_file.h"

namespace jeffreys::storage {
namespace {

namespace fs = std::filesystem;

std::string advice(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return "; create the directory first";
    case EACCES:
    case EPERM:
    case EROFS: return "; choose a directory that you may write to";
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "; free some space or choose another disk";
    default: return "";
  }
}

[[noreturn]] void fail(const fs::path& path, int error) {
  const std::string problem =
      "cannot write: " + std::generic_category().message(error) + advice(error);
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EIO:
    case EPIPE: throw WriteError(path.string(), problem);
    default: throw InputError(path.string(), problem);
  }
}

// The file that is to be replaced, behind any symbolic links. Refuses everything but a regular
// file: a rename onto a device such as /dev/null would put a file in its place.
fs::path replaceable(const fs::path& path) {
  if (!path.has_filename())
    throw InputError(path.string(), "cannot write: the file name is missing");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return path;
  if (error) fail(path, error.value());
  if (status.type() == fs::file_type::directory) {
    throw InputError(path.string(), "cannot write: is a directory; give the name of a file in it");
  }
  if (status.type() != fs::file_type::regular) {
    throw InputError(path.string(), "cannot write: is not a regular file; give another name");
  }
  fs::path target = fs::canonical(path, error);
  if (error) fail(path, error.value());
  return target;
}

fs::path directory_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

int synchronize(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) : path_(path), target_(replaceable(path)) {
  try {
    TemporaryFile temporary = create_temporary(directory_of(target_));
    temporary_ = std::move(temporary.path);
    descriptor_ = temporary.descriptor;
  } catch (const std::system_error& error) {
    fail(path_, error.code().value());
  }
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ::ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void AtomicFile::commit() {
  struct stat old {};
  if (::stat(target_.c_str(), &old) == 0 && ::fchmod(descriptor_, old.st_mode & 0777) != 0) {
    fail(path_, errno);
  }
  if (const int error = synchronize(descriptor_); error != 0) fail(path_, error);
  // Closed last: with it goes the lock, which keeps the temporary file from being tidied away.
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(path_, errno);
  temporary_.clear();
  ::close(std::exchange(descriptor_, -1));

  // Some file systems cannot synchronise a directory, and one may be writable but not readable: the
  // file is in place all the same, only a failing disk is worth an error.
  const int directory = ::open(directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  const int error = synchronize(directory);
  ::close(directory);
  if (error == EIO) fail(path_, error);
}

void write_file_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace jeffreys::storage
