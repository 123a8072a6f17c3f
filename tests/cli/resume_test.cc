// Interrupted fits: what is left, and that going on ends where an uninterrupted fit ends.
#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Resume : public ProgramTest {
 protected:
  Resume() { file("t.csv", two_columns()); }

  // Some tenths of a second at least, with checkpoints all the time.
  static Arguments long_fit(const std::string& model, const Arguments& more = {},
                            const std::string& threads = "1") {
    return Arguments{"fit", "t.csv", "-o", model, "--threads", threads} + tiny("2000") +
           Arguments{"--set", "validation.patience=0", "--set", "checkpoint.seconds=0.05"} + more;
  }

  [[nodiscard]] bool exists(const std::string& name) const {
    return std::filesystem::exists(path(name));
  }

  static void pause(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }

  // Starts a fit and sends the signal once there is a checkpoint.
  Outcome interrupted(const Arguments& arguments, int signal) const {
    Process process(arguments, {.folder = folder()});
    while (!exists("m.checkpoint") && process.running()) pause(0.002);
    process.send(signal);
    return process.wait();
  }

  void make_checkpoint(const Arguments& more = {}) const {
    const Outcome outcome = interrupted(long_fit("m", more), SIGINT);
    ASSERT_EQ(outcome.exit_code, kFailed) << ::testing::PrintToString(outcome);
  }
};

TEST_F(Resume, AfterSignalsEndsAsIfUninterrupted) {
  for (const Arguments& options :
       {Arguments{}, Arguments{"--proxy", "energy", "--set", "iterations=3000"}}) {
    good(long_fit("whole", options));
    for (const int signal : {SIGINT, SIGTERM}) {
      const Outcome outcome = interrupted(long_fit("m", options), signal);
      EXPECT_EQ(outcome.exit_code, kFailed);
      EXPECT_EQ(outcome.signal, 0);
      EXPECT_EQ(outcome.out, "");
      EXPECT_THAT(outcome.err, AllOf(HasSubstr("interrupted after"), HasSubstr("m.checkpoint"),
                                     HasSubstr("--resume")));
      EXPECT_TRUE(exists("m.checkpoint"));
      EXPECT_FALSE(exists("m"));
      EXPECT_FALSE(exists("m.run.json"));
      good(long_fit("m", options + Arguments{"--resume"}));
      EXPECT_TRUE(bytes("m") == bytes("whole"));
      EXPECT_FALSE(exists("m.checkpoint"));
      std::filesystem::remove(path("m"));
      std::filesystem::remove(path("m.run.json"));
    }
  }
}

TEST_F(Resume, AfterKillsEndsAsIfUninterrupted) {
  good(long_fit("whole"));
  Draws draws(17);
  for (int repeat = 0; repeat < 2; ++repeat) {
    int kills = 0;
    for (bool done = false; !done;) {
      Process process(long_fit("m", {"--resume"}), {.folder = folder()});
      // Once when there is something to go on from, however fast the machine is, then at any
      // moment. The last attempt may end.
      while (kills == 0 && !exists("m.checkpoint") && process.running()) pause(0.002);
      if (kills > 0) pause(0.02 + 0.3 * draws.uniform());
      if (kills < 5) process.send(SIGKILL);
      const Outcome outcome = process.wait();
      done = outcome.exit_code == kDone;
      ASSERT_TRUE(done || outcome.signal == SIGKILL) << ::testing::PrintToString(outcome);
      if (!done) ++kills;
      if (exists("m")) {
        EXPECT_TRUE(bytes("m") == bytes("whole")) << "after " << kills << " kills";
      }
    }
    EXPECT_GE(kills, 1);
    EXPECT_TRUE(bytes("m") == bytes("whole"));
    EXPECT_FALSE(exists("m.checkpoint"));
    std::filesystem::remove(path("m"));
  }
}

TEST_F(Resume, AfterKillsLeavesNoOtherFilesOnceDone) {
  Draws draws(5);
  for (int kills = 0; kills < 6; ++kills) {
    Process process(long_fit("m", {"--resume"}), {.folder = folder()});
    pause(0.3 * draws.uniform());
    process.send(SIGKILL);
    process.wait();
  }
  good(long_fit("m", {"--resume"}));
  EXPECT_EQ(names(), (std::set<std::string>{"t.csv", "m", "m.run.json"}));
}

TEST_F(Resume, MayChangeThreads) {
  good(long_fit("whole"));
  make_checkpoint();
  good(long_fit("m", {"--resume"}, "2"));
  EXPECT_TRUE(bytes("m") == bytes("whole"));
}

TEST_F(Resume, WithoutACheckpointStartsAnew) {
  const Outcome outcome = fit("t.csv", "m", {"--resume"});
  EXPECT_THAT(outcome.err, HasSubstr("starting anew"));
  fit("t.csv", "n");
  EXPECT_TRUE(bytes("m") == bytes("n"));
}

TEST_F(Resume, MustBeAskedFor) {
  make_checkpoint();
  const std::string before = bytes("m.checkpoint");
  EXPECT_THAT(refusal(kBadInput, long_fit("m")),
              AllOf(HasSubstr("m.checkpoint"), HasSubstr("--resume"), HasSubstr("delete")));
  EXPECT_TRUE(bytes("m.checkpoint") == before);
}

TEST_F(Resume, RefusesAnotherRunAndNamesTheDifference) {
  make_checkpoint({"--set", "proxy=energy"});
  const std::string before = bytes("m.checkpoint");
  const std::vector<std::pair<Arguments, std::string>> others{
      {{"--set", "learning_rate.main=5e-4"}, "learning_rate"},
      {{"--seed", "8"}, "data"},
      {{"--no-validation"}, "data"},
      {{"--set", "flow.hidden=8"}, "model"},
      {{"--method", "mle"}, ""},
      {{"--proxy", "flow"}, "model"},
      {{"--set", "iterations=2100"}, "iterations"},
      {{"--set", "averaging=0.9"}, "averaging"},
      {{"--bound", "y=0:1"}, "data"},
      {{"--set", "energy.temperature=2"}, "proxy model"}};
  for (const auto& [options, named] : others) {
    const Outcome outcome =
        run(long_fit("m", Arguments{"--set", "proxy=energy"} + options + Arguments{"--resume"}));
    EXPECT_EQ(outcome.exit_code, kBadInput) << ::testing::PrintToString(options);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("m.checkpoint"), HasSubstr("another run"),
                                   HasSubstr(named), HasSubstr("delete")))
        << ::testing::PrintToString(options);
    EXPECT_FALSE(exists("m"));
    file("m.checkpoint", before);
    std::filesystem::remove(path("m"));
  }
}

TEST_F(Resume, RefusesOtherOrdersOfTheFeatures) {
  // With seed 0 the proxy's random orders are not the alternating ones.
  make_checkpoint();
  EXPECT_THAT(refusal(kBadInput, long_fit("m", {"--resume", "--set", "flow.order=random"})),
              AllOf(HasSubstr("m.checkpoint"), HasSubstr("another run"), HasSubstr("model")));
}

TEST_F(Resume, RefusesDamagedCheckpoints) {
  make_checkpoint();
  const std::string whole = bytes("m.checkpoint");
  for (const std::string& damaged : {std::string(), std::string("junk"), whole.substr(0, 100),
                                     whole.substr(0, whole.size() - 1), whole + "x"}) {
    file("m.checkpoint", damaged);
    EXPECT_THAT(refusal(kBadInput, long_fit("m", {"--resume"})), HasSubstr("m.checkpoint"));
  }
  // A model is no checkpoint.
  fit("t.csv", "n");
  file("m.checkpoint", bytes("n"));
  EXPECT_THAT(refusal(kBadInput, long_fit("m", {"--resume"})), HasSubstr("not a checkpoint"));
}

TEST_F(Resume, DemoEndsOnASignalWithoutAPicture) {
  Process process({"demo", "--rows", "100", "-o", "d.svg"}, {.folder = folder()});
  pause(0.5);
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
  EXPECT_EQ(names(), std::set<std::string>{"t.csv"});
}

}  // namespace
}  // namespace jeffreys::testing
