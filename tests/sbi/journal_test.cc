// Simulations that are interrupted, and the file from which they go on.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <regex>
#include <stdexcept>
#include <thread>

#include "jeffreys/base/input_error.h"
#include "jeffreys/sbi/simulate.h"
#include "sbi/small_simulations.h"
#include "support/damaged_files.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using ::testing::AllOf;
using testing::bytes_of;
using testing::csv_of;
using testing::draw;
using ::testing::HasSubstr;
using testing::make_sums;
using testing::options;
using testing::problem_of;
using testing::with_flipped_bit;

// Runs f in a child that ends without cleaning up, and gives its exit code, or the signal's number
// below zero. Waits for its end for 60 s at most.
template <typename F>
int in_child(const F& f) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    // The test's own handling of exceptions must not go on in the child.
    try {
      ::_exit(f());
    } catch (const std::exception& error) {
      std::cerr << error.what() << std::endl;
    }
    ::_exit(99);
  }
  int status = 0;
  for (int i = 0; ::waitpid(child, &status, WNOHANG) == 0; ++i) {
    if (i == 60000) {
      ADD_FAILURE() << "the child does not end";
      ::kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// A simulator that a killed process had just forked shares the lock until it has become its
// command, or its parent's death reaches it: on a busy machine some milliseconds after that death.
void wait_until_unlocked(const std::filesystem::path& journal) {
  const int descriptor = ::open(journal.c_str(), O_RDONLY | O_CLOEXEC);
  int tries = 0;
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && ++tries < 30000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LT(tries, 30000);
  ::close(descriptor);
}

// Ends its own process as soon as so many rows are there, while other calls are under way.
class KillAt final : public SimulateObserver {
 public:
  explicit KillAt(std::int64_t rows) : rows_(rows) {}
  void on_progress(const SimulateProgress& progress) override {
    if (progress.finished >= rows_) ::kill(::getpid(), SIGKILL);
  }

 private:
  std::int64_t rows_;
};

std::size_t calls_in(const std::filesystem::path& journal) {
  const std::string text = bytes_of(journal);
  std::size_t calls = 0;
  for (std::size_t at = text.find("# end"); at != std::string::npos;
       at = text.find("# end", at + 1)) {
    ++calls;
  }
  return calls;
}

// A journal as it was before there were checksums.
std::string earlier(const std::string& journal) {
  const std::string old =
      std::regex_replace(journal, std::regex(", checksum [0-9a-f]{16}\n"), "\n");
  return std::regex_replace(old, std::regex("\"format\":2"), "\"format\":1");
}

class JournalFile : public testing::ScratchTest {
 protected:
  SimulateOptions with_journal(std::int64_t rows, std::int64_t rows_per_call) const {
    SimulateOptions result = options(rows, rows_per_call);
    result.journal = path("journal");
    return result;
  }

  // The problem of continuing the journal with other options.
  std::string refused(const SimulateOptions& other) const {
    return problem_of(other.journal, [&](const auto&) { simulate(*make_sums(), draw, other); });
  }
};

TEST_F(JournalFile, RowsInTheJournalAreNotSimulatedAgain) {
  const Simulations first = simulate(*make_sums(), draw, with_journal(50, 8));
  const std::string journal = bytes_of(path("journal"));
  const Simulations again = simulate(*make_sums(), draw, with_journal(50, 8));
  EXPECT_EQ(csv_of(again), csv_of(first));
  EXPECT_EQ(again.report.calls, 0);
  EXPECT_EQ(again.report.resumed, 50);
  EXPECT_EQ(again.report.failed(), 5);
  EXPECT_EQ(again.report.failures.at(FailureKind::not_finite).first_message,
            first.report.failures.at(FailureKind::not_finite).first_message);
  EXPECT_EQ(bytes_of(path("journal")), journal);
}

TEST_F(JournalFile, AJournalIsGoodForMoreAndFewerRows) {
  simulate(*make_sums(), draw, with_journal(50, 8));
  for (const std::int64_t rows : {9, 16, 50, 51, 70}) {
    const Simulations result = simulate(*make_sums(), draw, with_journal(rows, 8));
    const Simulations fresh = simulate(*make_sums(), draw, options(rows, 8));
    EXPECT_EQ(csv_of(result), csv_of(fresh)) << rows;
    EXPECT_EQ(result.report.failed(), fresh.report.failed()) << rows;
  }
}

TEST_F(JournalFile, FailedRowsAreTriedAgainOnRequest) {
  simulate(*make_sums(), draw, with_journal(50, 8));
  SimulateOptions retry = with_journal(30, 8);
  retry.retry_failed = true;
  const Simulations some = simulate(*make_sums(true), draw, retry);
  EXPECT_EQ(csv_of(some), csv_of(simulate(*make_sums(true), draw, options(30, 8))));
  EXPECT_EQ(some.report.failed(), 0);
  EXPECT_EQ(some.report.resumed, 27);
  // What failed beyond these rows still has, and what was tried again has not.
  const Simulations all = simulate(*make_sums(), draw, with_journal(50, 8));
  EXPECT_EQ(all.report.calls, 0);
  EXPECT_EQ(all.report.failed(), 2);
  // Rows that fail again may be tried once more.
  retry.rows = 50;
  EXPECT_EQ(simulate(*make_sums(), draw, retry).report.failed(), 2);
  EXPECT_EQ(csv_of(simulate(*make_sums(true), draw, retry)),
            csv_of(simulate(*make_sums(true), draw, options(50, 8))));
}

TEST_F(JournalFile, AJournalCutAnywhereIsContinued) {
  const std::string whole = csv_of(simulate(*make_sums(), draw, with_journal(20, 5)));
  const std::string journal = bytes_of(path("journal"));
  for (std::size_t size = 0; size < journal.size(); size += 11) {
    file("journal", journal.substr(0, size));
    const Simulations result = simulate(*make_sums(), draw, with_journal(20, 5));
    EXPECT_EQ(csv_of(result), whole) << size;
    EXPECT_EQ(bytes_of(path("journal")), journal) << size;
    EXPECT_EQ(result.report.calls, (20 - result.report.resumed) / 5) << size;
  }
}

TEST_F(JournalFile, AKilledProcessCostsOnlyTheCallsUnderWay) {
  // Every call takes 20 ms; the noise depends on seed and row alone.
  const std::string command =
      "awk -F, '{srand(ENVIRON[\"JEFFREYS_SEED\"] + ENVIRON[\"JEFFREYS_FIRST_ROW\"] + NR); "
      "print $1 + rand(), $2}'; sleep 0.02";
  const auto run = [&](const SimulateOptions& chosen, SimulateObserver* observer = nullptr) {
    return simulate(*make_command_simulator({.command = command}), draw, chosen, observer);
  };
  const std::string whole = csv_of(run(options(120, 3)));
  SimulateOptions two = with_journal(120, 3);
  two.processes = 2;
  std::size_t calls = 0;
  for (const std::size_t enough : {3U, 9U, 20U}) {
    KillAt killer(static_cast<std::int64_t>(3 * enough));
    EXPECT_EQ(in_child([&] { return run(two, &killer).report.finished == 120 ? 0 : 1; }), -SIGKILL);
    wait_until_unlocked(path("journal"));
    // What there was stays, and what was finished is there.
    EXPECT_GE(calls_in(path("journal")), std::max(enough, calls));
    calls = calls_in(path("journal"));
  }
  const Simulations result = run(two);
  EXPECT_EQ(csv_of(result), whole);
  EXPECT_EQ(result.report.resumed, static_cast<std::int64_t>(3 * calls));
  EXPECT_EQ(result.report.calls, 40 - static_cast<std::int64_t>(calls));
}

TEST_F(JournalFile, AStoppedRunIsContinued) {
  class StopEarly final : public SimulateObserver {
   public:
    void on_progress(const SimulateProgress& progress) override { finished_ = progress.finished; }
    bool should_stop() override { return finished_ >= 6; }

   private:
    std::int64_t finished_ = 0;
  };
  const auto simulator = make_command_simulator({.command = "sleep 0.05; cat"});
  StopEarly observer;
  const Simulations part = simulate(*simulator, draw, with_journal(40, 2), &observer);
  EXPECT_TRUE(part.report.stopped);
  EXPECT_GE(part.report.finished, 6);
  EXPECT_LT(part.report.finished, 40);
  EXPECT_EQ(part.table.rows(), static_cast<std::size_t>(part.report.finished));
  const Simulations rest = simulate(*simulator, draw, with_journal(40, 2));
  EXPECT_EQ(rest.report.resumed, part.report.finished);
  EXPECT_EQ(csv_of(rest), csv_of(simulate(*simulator, draw, options(40, 20))));
}

TEST_F(JournalFile, AJournalOfSomethingElseIsRefused) {
  simulate(*make_sums(), draw, with_journal(10, 5));
  SimulateOptions other = with_journal(10, 5);
  other.seed = 4;
  EXPECT_THAT(refused(other),
              HasSubstr("another seed: 3 instead of 4. To go on with them, give the former seed"));
  other = with_journal(10, 5);
  other.parameter_names = {"a", "c"};
  EXPECT_THAT(refused(other), HasSubstr("another parameters' names"));
  other = with_journal(10, 5);
  other.outcome_names = {"x1", "y"};
  EXPECT_THAT(refused(other), HasSubstr("another outcomes' names"));
  other = with_journal(10, 5);
  other.identity["prior"] = "normal";
  EXPECT_THAT(refused(other),
              HasSubstr(R"(another prior: "uniform" instead of "normal". To go on)"));
  other = with_journal(10, 5);
  other.identity["simulator"] = "./growth.sh";
  EXPECT_THAT(refused(other),
              AllOf(HasSubstr(R"(another simulator: "./decay.sh" instead of "./growth.sh")"),
                    HasSubstr("delete")));
  EXPECT_THAT(refused(with_journal(10, 4)), HasSubstr("rows for each call"));
}

// Without checksums, so that the rows are looked at.
TEST_F(JournalFile, ADamagedJournalIsRefused) {
  const SimulateOptions chosen = with_journal(10, 5);
  simulate(*make_sums(), draw, chosen);
  const std::string journal = earlier(bytes_of(path("journal")));
  const auto damaged = [&](const std::string& from, const std::string& to) {
    std::string text = journal;
    text.replace(text.find(from), from.size(), to);
    file("journal", text);
    const std::string problem = refused(chosen);
    EXPECT_EQ(bytes_of(path("journal")), text);  // it stays for whoever wants to mend it
    return problem;
  };
  EXPECT_THAT(damaged("\n1,", "\n1;"), HasSubstr("damaged: cell 1 is no number"));
  EXPECT_THAT(damaged("\n1,", "\n6,"), HasSubstr("out of order"));
  EXPECT_THAT(damaged("# end of rows 0 to 4", "# end of rows 0 to 5"),
              HasSubstr("rows are missing"));
  EXPECT_THAT(damaged("not_finite: ", "not_found: "), HasSubstr("failure of unknown kind"));
  EXPECT_THAT(damaged("\"format\":1", "\"format\":3"), HasSubstr("format is unknown"));
  EXPECT_THAT(damaged("\"format\":1", "\"format\":2"), HasSubstr("checksum is missing"));
  EXPECT_THAT(damaged("{", "["), HasSubstr("second line"));
  EXPECT_THAT(damaged("# jeffreys", "# my notes"), HasSubstr("not a journal"));
  file("journal", journal + journal.substr(journal.find("\n5,") + 1));
  EXPECT_THAT(refused(chosen), HasSubstr("there twice"));
  file("journal", "precious");
  EXPECT_THAT(refused(chosen), HasSubstr("not a journal"));
  EXPECT_EQ(bytes_of(path("journal")), "precious");
}

// Refused, or else taken for the end of a torn journal, whose last call is simulated again.
TEST_F(JournalFile, NoFlippedBitGoesUnseen) {
  const SimulateOptions chosen = with_journal(6, 3);
  const std::string whole = csv_of(simulate(*make_sums(), draw, chosen));
  const std::string journal = bytes_of(path("journal"));
  std::size_t torn = 0;
  for (std::size_t bit = 0; bit < 8 * journal.size(); ++bit) {
    const std::string flipped = with_flipped_bit(journal, bit);
    file("journal", flipped);
    try {
      EXPECT_EQ(csv_of(simulate(*make_sums(), draw, chosen)), whole) << bit;
      EXPECT_EQ(bytes_of(path("journal")), journal) << bit;
      ++torn;
    } catch (const InputError& error) {
      EXPECT_EQ(error.file(), path("journal").string());
      EXPECT_EQ(bytes_of(path("journal")), flipped) << bit;
    }
  }
  EXPECT_LE(torn, 24U);  // the line ends around the last line, and its '#'
}

TEST_F(JournalFile, ADamagedCallIsRefusedByItsLinesWhichMayBeDeleted) {
  const SimulateOptions chosen = with_journal(15, 5);
  const std::string whole = csv_of(simulate(*make_sums(), draw, chosen));
  const std::string journal = bytes_of(path("journal"));
  const std::size_t begin = journal.find("\n5,") + 1;
  const std::size_t end = journal.find("\n10,") + 1;
  file("journal", with_flipped_bit(journal, 8 * (begin + 3)));
  try {
    simulate(*make_sums(), draw, chosen);
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.line(), 14U);
    EXPECT_THAT(error.problem(),
                HasSubstr("the checksum in this line does not match; delete lines 9 to 14 to"));
  }
  file("journal", journal.substr(0, begin) + journal.substr(end));
  const Simulations mended = simulate(*make_sums(), draw, chosen);
  EXPECT_EQ(csv_of(mended), whole);
  EXPECT_EQ(mended.report.resumed, 10);
}

TEST_F(JournalFile, AJournalOfTheEarlierFormatGoesOn) {
  const std::string whole = csv_of(simulate(*make_sums(), draw, options(20, 5)));
  simulate(*make_sums(), draw, with_journal(10, 5));
  const std::string old = earlier(bytes_of(path("journal")));
  file("journal", old);
  const Simulations more = simulate(*make_sums(), draw, with_journal(20, 5));
  EXPECT_EQ(csv_of(more), whole);
  EXPECT_EQ(more.report.resumed, 10);
  // What is added has checksums.
  const std::string both = bytes_of(path("journal"));
  EXPECT_EQ(both.substr(0, old.size()), old);
  const Simulations again = simulate(*make_sums(), draw, with_journal(20, 5));
  EXPECT_EQ(csv_of(again), whole);
  EXPECT_EQ(again.report.resumed, 20);
  file("journal", with_flipped_bit(both, 8 * (both.find("\n15,") + 4)));
  EXPECT_THAT(refused(with_journal(20, 5)), HasSubstr("checksum in this line does not match"));
}

TEST_F(JournalFile, AJournalInUseIsRefused) {
  const SimulateOptions chosen = with_journal(10, 5);
  const auto draw_and_try = [&](std::uint64_t first, std::int64_t count) {
    EXPECT_THAT(refused(chosen), HasSubstr("in use by another run"));
    return draw(first, count);
  };
  simulate(*make_sums(), draw_and_try, chosen);
}

TEST_F(JournalFile, AJournalThatCannotBeWrittenIsRefused) {
  SimulateOptions chosen = options(10, 5);
  chosen.journal = path("missing/journal");
  EXPECT_THAT(refused(chosen), HasSubstr("create the directory"));
  chosen.journal = path("");
  EXPECT_THAT(refused(chosen), HasSubstr("file in it"));
  chosen.journal = "/dev/full";
  EXPECT_THAT(refused(chosen), HasSubstr("not a regular file"));
}

TEST_F(JournalFile, AFullDiskKeepsWhatThereIs) {
  const SimulateOptions chosen = with_journal(200, 5);
  EXPECT_EQ(in_child([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{2000, 2000};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              try {
                simulate(*make_sums(), draw, chosen);
              } catch (const InputError& error) {
                return error.problem().find("free some space") != std::string::npos ? 0 : 2;
              }
              return 1;
            }),
            0);
  const Simulations result = simulate(*make_sums(), draw, chosen);
  EXPECT_GT(result.report.resumed, 0);
  EXPECT_EQ(csv_of(result), csv_of(simulate(*make_sums(), draw, options(200, 5))));
}

}  // namespace
}  // namespace jeffreys
