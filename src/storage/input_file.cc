#include "jeffreys/storage/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "jeffreys/base/input_error.h"

namespace jeffreys::storage {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& attempt, int error) {
  std::string problem = attempt + ": " + std::generic_category().message(error);
  if (error == ENOENT) problem += "; check the name and the directory";
  if (error == EACCES) problem += "; check the permissions";
  throw InputError(name, problem);
}

// Size of the regular file behind the descriptor.
std::size_t checked_size(const std::string& name, int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail(name, "cannot read", errno);
  if (S_ISDIR(status.st_mode)) {
    throw InputError(name, "is a directory; give the name of a file in it");
  }
  if (!S_ISREG(status.st_mode)) {
    throw InputError(name, "is not a regular file; save the data to a file first");
  }
  if (status.st_size == 0) throw InputError(name, "is empty; write or copy it again");
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path) : name_(path.string()) {
  // Without O_NONBLOCK the opening of a named pipe would wait for a writer, before it can be
  // refused.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail(name_, "cannot open", errno);
  try {
    size_ = checked_size(name_, descriptor_);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

InputFile::~InputFile() { ::close(descriptor_); }

std::size_t InputFile::read(std::span<std::byte> buffer) {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ::ssize_t count = ::read(descriptor_, buffer.data() + done, buffer.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(name_, "cannot read", errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace jeffreys::storage
