// Results that cannot be written: the message, no half-written file, and the old one kept.
#include <sys/mount.h>
#include <unistd.h>

#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class BadOutput : public ProgramTest {
 protected:
  BadOutput() {
    file("t.csv", two_columns());
    fit("t.csv", "m");
  }

  static std::vector<Arguments> commands(const std::string& output) {
    return {Arguments{"fit", "t.csv", "-o", output} + tiny(),
            {"sample", "m", "-n", "3", "-o", output},
            {"sample", "m", "-n", "3", "-o", output + ".npz"},
            {"log_prob", "m", "t.csv", "-o", output},
            {"plot", "m", "-o", output + ".svg"},
            {"plot", "m", "--training", "-o", output + ".png"},
            {"export", "zuko", "m", "-o", output},
            {"demo", "--rows", "30", "--iterations", "2", "-o", output + ".svg"}};
  }
};

TEST_F(BadOutput, InAFolderThatIsNotThere) {
  for (const Arguments& command : commands("none/out")) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, kBadInput) << ::testing::PrintToString(command);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("none/out"), HasSubstr("directory")))
        << ::testing::PrintToString(command);
  }
  EXPECT_EQ(names(), (std::set<std::string>{"t.csv", "m", "m.run.json"}));
}

TEST_F(BadOutput, IsAFolder) {
  for (const char* name : {"out", "out.npz", "out.svg", "out.png"}) {
    std::filesystem::create_directory(path(name));
  }
  const std::set<std::string> before = names();
  for (const Arguments& command : commands("out")) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, kBadInput) << ::testing::PrintToString(command);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("out"), HasSubstr("directory")))
        << ::testing::PrintToString(command);
    EXPECT_EQ(names(), before);
  }
}

TEST_F(BadOutput, IsWhatTheCommandReads) {
  const std::vector<Arguments> all = {Arguments{"fit", "t.csv", "-o", "./t.csv"} + tiny(),
                                      {"sample", "m", "-n", "3", "-o", "m"},
                                      {"log_prob", "m", "t.csv", "-o", "t.csv"},
                                      {"log_prob", "m", "t.csv", "-o", "m"}};
  const std::string table = bytes("t.csv");
  const std::string model = bytes("m");
  for (const Arguments& command : all) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, kUsage) << ::testing::PrintToString(command);
    EXPECT_THAT(outcome.err, HasSubstr("give another name"));
    EXPECT_EQ(bytes("t.csv"), table);
    EXPECT_EQ(bytes("m"), model);
  }
}

TEST_F(BadOutput, MayNotBeWritten) {
  if (::geteuid() == 0) GTEST_SKIP() << "root writes everywhere";
  std::filesystem::create_directory(path("locked"));
  std::filesystem::permissions(
      path("locked"), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  for (const Arguments& command : commands("locked/out")) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, kBadInput) << ::testing::PrintToString(command);
    EXPECT_THAT(outcome.err, HasSubstr("locked/out"));
  }
}

TEST_F(BadOutput, StandardOutputIsFull) {
  for (const Arguments& command :
       {Arguments{"sample", "m", "-n", "3"}, Arguments{"sample", "m", "-n", "20000"},
        Arguments{"log_prob", "m", "t.csv"}, Arguments{"inspect", "m", "--json"},
        Arguments{"evaluate", "m", "t.csv"}}) {
    const Outcome outcome = Process(command, {.folder = folder(), .out_file = "/dev/full"}).wait();
    EXPECT_EQ(outcome.exit_code, kFailed) << ::testing::PrintToString(command);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("standard output"), HasSubstr("disk full")));
  }
}

TEST_F(BadOutput, FilesMayNotGrow) {
  const std::string model = bytes("m");
  const std::string record = bytes("m.run.json");
  file("s.csv", "old\n");
  const std::set<std::string> before = names();
  for (const Arguments& command : {Arguments{"sample", "m", "-n", "20000", "-o", "s.csv"},
                                   Arguments{"sample", "m", "-n", "20000", "-o", "s.npz"},
                                   Arguments{"export", "zuko", "m", "-o", "z.npz"},
                                   Arguments{"fit", "t.csv", "-o", "m", "--seed", "5"} + tiny()}) {
    const Outcome outcome = Process(command, {.folder = folder(), .largest_file = 10000}).wait();
    EXPECT_EQ(outcome.exit_code, kFailed)
        << ::testing::PrintToString(command) << ::testing::PrintToString(outcome);
    EXPECT_THAT(outcome.err, HasSubstr(command[0] == "fit" ? "m" : command.back()));
    EXPECT_EQ(names(), before) << ::testing::PrintToString(command);
  }
  EXPECT_EQ(bytes("s.csv"), "old\n");
  EXPECT_TRUE(bytes("m") == model);
  EXPECT_EQ(bytes("m.run.json"), record);
}

// A file system of 64 kB while it lives.
class TinyDisk {
 public:
  explicit TinyDisk(std::filesystem::path where) : where_(std::move(where)) {
    std::filesystem::create_directory(where_);
    mounted_ = ::mount("none", where_.c_str(), "tmpfs", 0, "size=64k") == 0;
  }
  ~TinyDisk() {
    if (mounted_) ::umount(where_.c_str());
  }
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;
  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  std::filesystem::path where_;
  bool mounted_ = false;
};

TEST_F(BadOutput, DiskIsFull) {
  const TinyDisk disk(path("disk"));
  if (!disk.mounted()) GTEST_SKIP() << "may not mount a small disk";
  for (const Arguments& command :
       {Arguments{"sample", "m", "-n", "20000", "-o", "disk/s.csv"},
        Arguments{"fit", "t.csv", "-o", "disk/m", "--set", "iterations=30"}}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, kFailed);
    EXPECT_THAT(outcome.err, HasSubstr("disk/"));
    EXPECT_TRUE(std::filesystem::is_empty(path("disk"))) << ::testing::PrintToString(command);
  }
}

TEST_F(BadOutput, ReaderThatGoesAwayIsNoCrash) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const std::string writing = "/proc/self/fd/" + std::to_string(ends[1]);
  Process process({"sample", "m", "-n", "60000"}, {.folder = folder(), .out_file = writing});
  ::close(ends[1]);
  char text[100];
  EXPECT_GT(::read(ends[0], text, sizeof text), 0);
  ::close(ends[0]);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.exit_code, kFailed);
}

}  // namespace
}  // namespace jeffreys::testing
