#include "sbi/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/quote.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/storage/atomic_file.h"
#include "sbi/journal_text.h"

namespace jeffreys {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* attempt, int error) {
  std::string problem = fmt::format("{}: {}", attempt, std::generic_category().message(error));
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    throw storage::WriteError(
        path.string(), problem + "; free some space and start again: what is in the journal stays");
  }
  if (error == ENOENT || error == ENOTDIR) problem += "; create the directory first";
  if (error == EACCES || error == EROFS) problem += "; choose a directory that you may write to";
  if (error == EISDIR) problem += "; give the name of a file in it";
  throw InputError(path.string(), problem);
}

// As it stands in a message.
std::string shown(const std::string& value) { return quote(value); }
std::string shown(const std::vector<std::string>& values) {
  return quote(fmt::format("{}", fmt::join(values, ", ")));
}
template <typename Number>
std::string shown(Number value) {
  return fmt::to_string(value);
}

template <typename T>
void require_same(const std::filesystem::path& path, std::string_view what, const T& found,
                  const T& expected) {
  if (found == expected) return;
  throw InputError(
      path.string(),
      fmt::format(
          "holds simulations with another {0}: {1} instead of {2}. To go on with them, give "
          "the former {0} again; to start anew, delete it or write to a file of another name",
          what, shown(found), shown(expected)));
}

std::string read_all(const std::filesystem::path& path, int descriptor) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ::ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, "cannot read", errno);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

// A simulator that a killed run had just started holds its lock until it becomes another program.
bool lock_soon(int descriptor) {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    ::usleep(50'000);
  }
  return false;
}

int open_for_one(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(path, "cannot open", errno);
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && lock_soon(descriptor)) {
    return descriptor;
  }
  ::close(descriptor);
  throw InputError(path.string(), S_ISREG(status.st_mode)
                                      ? "is in use by another run; wait for its end, or write "
                                        "to a file of another name"
                                      : "is not a regular file; give another name");
}

}  // namespace

Journal::Journal(std::filesystem::path path, JournalHeader expected)
    : path_(std::move(path)), header_(std::move(expected)), descriptor_(open_for_one(path_)) {
  try {
    read();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Journal::~Journal() { ::close(descriptor_); }

void Journal::require_same_header(const JournalHeader& found) const {
  // As it would come back from a file: JSON replaces bytes that are not UTF-8.
  const std::string text = text_of(header_);
  const JournalHeader expected = JournalText(path_, text).read_header();
  require_same(path_, "parameters' names", found.parameter_names, expected.parameter_names);
  if (!expected.outcome_names.empty()) {
    require_same(path_, "outcomes' names", found.outcome_names, expected.outcome_names);
  }
  require_same(path_, "seed", found.seed, expected.seed);
  require_same(path_, "number of rows for each call", found.rows_per_call, expected.rows_per_call);
  for (const auto& [what, value] : expected.identity) {
    const auto was = found.identity.find(what);
    require_same(path_, what, was == found.identity.end() ? "unknown" : was->second, value);
  }
}

void Journal::read() {
  const std::string text = read_all(path_, descriptor_);
  const bool title = std::string_view(text).substr(0, kJournalTitle.size()) ==
                     kJournalTitle.substr(0, std::min(text.size(), kJournalTitle.size()));
  if (!title) {
    throw InputError(path_.string(), "is not a journal of simulations; give another name");
  }
  std::size_t whole = 0;
  if (std::count(text.begin(), text.end(), '\n') >= 2) {
    JournalText reader(path_, text);
    JournalHeader found = reader.read_header();
    require_same_header(found);
    header_ = std::move(found);
    found_ = reader.read_calls(header_);
    whole = reader.whole();
    begun_ = true;
  }
  if (whole < text.size() && ::ftruncate(descriptor_, static_cast<::off_t>(whole)) != 0) {
    fail(path_, "cannot write", errno);
  }
}

void Journal::append(const FinishedCall& call) {
  std::string text = begun_ ? std::string() : text_of(header_);
  text += text_of(call, header_.outcome_names.size());
  write(text);
  begun_ = true;
  // A disk takes milliseconds for it, which a fast simulator cannot wait for after every call.
  if (!since_synchronized_ || since_synchronized_->read() > 1) synchronize();
}

void Journal::write(std::string_view text) {
  while (!text.empty()) {
    const ::ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path_, "cannot write", errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Journal::synchronize() {
  while (::fdatasync(descriptor_) != 0) {
    if (errno != EINTR) fail(path_, "cannot write", errno);
  }
  since_synchronized_.emplace();
}

}  // namespace jeffreys
