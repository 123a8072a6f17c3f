#include "jeffreys/storage/atomic_file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/scratch_folder.h"

namespace jeffreys::storage {
namespace {

using jeffreys::testing::bytes_of;
using jeffreys::testing::problem_of;
using jeffreys::testing::ScratchTest;
namespace fs = std::filesystem;
using ::testing::HasSubstr;

class AtomicWrite : public ScratchTest {};

void write(const fs::path& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

// Files of this process cannot grow beyond `bytes` while it lives, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : old_action_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_action_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit old_limit_{};
  void (*old_action_)(int);
};

TEST_F(AtomicWrite, CreatesAndReplaces) {
  write(path("a"), "old");
  EXPECT_EQ(bytes_of(path("a")), "old");
  write(path("a"), "");
  EXPECT_EQ(bytes_of(path("a")), "");
  const std::string large(3'000'000, 'x');
  write(path("a"), large);
  EXPECT_EQ(bytes_of(path("a")), large);
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(AtomicWrite, WorksInTheCurrentDirectory) {
  const fs::path before = fs::current_path();
  fs::current_path(path(""));
  write("a", "text");
  fs::current_path(before);
  EXPECT_EQ(bytes_of(path("a")), "text");
}

TEST_F(AtomicWrite, TakesNamesAsLongAsTheFileSystemAllows) {
  const std::string name(255, 'n');
  write(path(name), "text");
  EXPECT_EQ(bytes_of(path(name)), "text");
}

TEST_F(AtomicWrite, FullDiskKeepsTheOldFile) {
  write(path("a"), "old");
  const std::string large(100'000, 'x');
  std::string problem;
  {
    const FullDisk full(5000);
    problem = problem_of(path("a"), [&](const fs::path& name) { write(name, large); });
  }
  EXPECT_THAT(problem, HasSubstr("cannot write: File too large; free some space"));
  EXPECT_EQ(bytes_of(path("a")), "old");
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(AtomicWrite, AnAbandonedWriteLeavesNothing) {
  write(path("a"), "old");
  {
    AtomicFile file(path("a"));
    file.write(std::as_bytes(std::span("new", 3)));
    EXPECT_EQ(files_in_folder(), 2u);
  }
  EXPECT_EQ(bytes_of(path("a")), "old");
  EXPECT_EQ(files_in_folder(), 1u);
}

// Another process that writes "new" to a file, up to the last moment before it is in place.
class Writer {
 public:
  explicit Writer(const fs::path& path) {
    if (::pipe(begun_) != 0 || ::pipe(go_on_) != 0) throw std::runtime_error("no pipe");
    child_ = ::fork();
    if (child_ == 0) {
      AtomicFile file(path);
      file.write(std::as_bytes(std::span("new", 3)));
      char byte = 0;
      if (::write(begun_[1], &byte, 1) == 1 && ::read(go_on_[0], &byte, 1) == 1) file.commit();
      ::_exit(0);
    }
    char byte = 0;
    if (::read(begun_[0], &byte, 1) != 1) throw std::runtime_error("no writer");
  }

  void kill() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  void finish() {
    EXPECT_EQ(::write(go_on_[1], "", 1), 1);
    ::waitpid(child_, nullptr, 0);
  }

 private:
  int begun_[2]{};
  int go_on_[2]{};
  pid_t child_ = -1;
};

TEST_F(AtomicWrite, TheNextProcessRemovesWhatAKilledOneLeft) {
  file("a", "old");
  file(".jeffreys-elsewhere-1-0.tmp", "of a machine whose locks may not be seen");
  Writer(path("a")).kill();
  EXPECT_EQ(bytes_of(path("a")), "old");
  EXPECT_EQ(files_in_folder(), 3u);
  write(path("b"), "text");
  EXPECT_EQ(files_in_folder(), 3u);
  EXPECT_TRUE(fs::exists(path(".jeffreys-elsewhere-1-0.tmp")));
}

TEST_F(AtomicWrite, LeavesWhatALivingProcessWrites) {
  Writer living(path("a"));
  write(path("b"), "text");
  EXPECT_EQ(files_in_folder(), 2u);
  living.finish();
  EXPECT_EQ(bytes_of(path("a")), "new");
  EXPECT_EQ(files_in_folder(), 2u);
}

TEST_F(AtomicWrite, ProcessesThatBeginTogetherDoNotDisturbEachOther) {
  constexpr int kProcesses = 8;
  for (int round = 0; round < 20; ++round) {
    const fs::path folder = path(std::to_string(round));
    fs::create_directory(folder);
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
      children.push_back(::fork());
      if (children.back() != 0) continue;
      try {
        write(folder / std::to_string(i), "text");
      } catch (...) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    for (const pid_t child : children) {
      int status = 1;
      ::waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), kProcesses);
  }
}

TEST_F(AtomicWrite, RefusesWhatItCannotReplace) {
  const auto attempt = [](const fs::path& name) { write(name, "text"); };
  EXPECT_THAT(problem_of(path("none/a"), attempt),
              HasSubstr("No such file or directory; create the directory first"));
  file("plain", "old");
  EXPECT_THAT(problem_of(path("plain/a"), attempt), HasSubstr("create the directory first"));
  fs::create_directory(path("folder"));
  EXPECT_THAT(problem_of(path("folder"), attempt), HasSubstr("is a directory"));
  EXPECT_THAT(problem_of(path("folder/"), attempt), HasSubstr("the file name is missing"));
  EXPECT_THAT(problem_of("", attempt), HasSubstr("the file name is missing"));
  EXPECT_THAT(problem_of("/dev/full", attempt), HasSubstr("is not a regular file"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_TRUE(fs::is_empty(path("folder")));
  EXPECT_EQ(files_in_folder(), 2u);
}

TEST_F(AtomicWrite, FollowsSymbolicLinks) {
  fs::create_directory(path("folder"));
  file("folder/a", "old");
  fs::create_symlink("folder/a", path("link"));
  write(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(bytes_of(path("folder/a")), "new");
}

TEST_F(AtomicWrite, PermissionsFollowTheOldFileOrTheUmask) {
  const auto mode = [](const fs::path& name) {
    return static_cast<unsigned>(fs::status(name).permissions());
  };
  const mode_t before = ::umask(027);
  write(path("new"), "text");
  EXPECT_EQ(mode(path("new")), 0640u);
  fs::permissions(path("new"), fs::perms(0604));
  write(path("new"), "text");
  EXPECT_EQ(mode(path("new")), 0604u);
  ::umask(before);
}

TEST_F(AtomicWrite, ReadersSeeTheOldOrTheNew) {
  const std::vector<std::string> contents{std::string(200'000, 'a'), std::string(100'000, 'b')};
  write(path("a"), contents[0]);
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  readers.reserve(2);
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      while (!done) {
        const std::string seen = bytes_of(path("a"));
        if (seen != contents[0] && seen != contents[1]) ++wrong;
      }
    });
  }
  for (std::size_t round = 0; round < 100; ++round) write(path("a"), contents[round % 2]);
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(AtomicWrite, ConcurrentWritersDoNotMix) {
  std::vector<std::thread> writers;
  writers.reserve(4);
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([this, writer] {
      const std::string text(50'000, static_cast<char>('a' + writer));
      for (int round = 0; round < 10; ++round) write(path("a"), text);
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string last = bytes_of(path("a"));
  EXPECT_EQ(last, std::string(50'000, last.at(0)));
  EXPECT_EQ(files_in_folder(), 1u);
}

}  // namespace
}  // namespace jeffreys::storage
