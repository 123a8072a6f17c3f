// Help, version, completion, and what --quiet and --json promise.
#include <algorithm>
#include <sstream>

#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::vector<Arguments>& commands() {
  static const std::vector<Arguments> all{{},
                                          {"fit"},
                                          {"sample"},
                                          {"log_prob"},
                                          {"evaluate"},
                                          {"impute"},
                                          {"compare"},
                                          {"plot"},
                                          {"demo"},
                                          {"reproduce"},
                                          {"inspect"},
                                          {"import", "zuko"},
                                          {"export", "zuko"},
                                          {"import"},
                                          {"export"},
                                          {"completion"},
                                          {"version"},
                                          {"images"},
                                          {"images", "fit"},
                                          {"images", "sample"},
                                          {"images", "score"},
                                          {"sbi"},
                                          {"sbi", "simulate"},
                                          {"sbi", "fit"},
                                          {"sbi", "sample"},
                                          {"sbi", "log_prob"},
                                          {"sbi", "check"},
                                          {"sbi", "plot"}};
  return all;
}

class Help : public ProgramTest {};

TEST_F(Help, OfEveryCommandHasAnExample) {
  for (const Arguments& command : commands()) {
    const Outcome outcome = good(command + Arguments{"--help"});
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("Example"), HasSubstr("jeffreys ")));
    if (!command.empty()) {
      EXPECT_THAT(outcome.out, HasSubstr(command.back()));
    }
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(Help, OfTheProgramNamesEveryCommandAndTheExitCodes) {
  const Outcome outcome = good({"--help"});
  for (const Arguments& command : commands()) {
    if (!command.empty()) {
      EXPECT_THAT(outcome.out, HasSubstr("  " + command.front()));
    }
  }
  EXPECT_THAT(outcome.out, HasSubstr("0 done, 1 failed, 2 usage, 3 bad input, 4 diverged"));
}

// So that no command is left out of the tests above.
TEST_F(Help, OfTheProgramNamesNoCommandThatIsNotTested) {
  std::istringstream lines(good({"--help"}).out);
  bool listed = false;
  std::size_t found = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Subcommands")) {
      listed = true;
    } else if (listed && line.starts_with("  ")) {
      const std::string name = line.substr(2, line.find(' ', 2) - 2);
      EXPECT_TRUE(std::any_of(commands().begin(), commands().end(), [&](const Arguments& command) {
        return !command.empty() && command.front() == name;
      })) << name;
      ++found;
    } else {
      listed = false;
    }
  }
  EXPECT_GE(found, 13U);
}

TEST_F(Help, VersionIsOneLine) {
  const Outcome command = good({"version"});
  EXPECT_THAT(command.out, ::testing::MatchesRegex("jeffreys [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(good({"--version"}).out, command.out);
}

TEST_F(Help, CompletionKnowsCommandsAndOptions) {
  const std::string bash = good({"completion", "bash"}).out;
  EXPECT_THAT(bash, AllOf(HasSubstr("complete "), HasSubstr("log_prob"), HasSubstr("--given-file"),
                          HasSubstr("--quiet"), HasSubstr("--resume")));
  EXPECT_EQ(good({"completion"}).out, bash);
  EXPECT_THAT(good({"completion", "zsh"}).out, AllOf(HasSubstr("bashcompinit"), HasSubstr(bash)));
  EXPECT_THAT(refusal(kUsage, {"completion", "fish"}), HasSubstr("zsh"));
}

TEST_F(Help, UnknownCommandsAndOptionsAreNamed) {
  EXPECT_THAT(refusal(kUsage, {"fti", "table.csv"}), AllOf(HasSubstr("fti"), HasSubstr("--help")));
  EXPECT_THAT(refusal(kUsage, {"sbi", "fti", "table.csv"}),
              AllOf(HasSubstr("sbi fti"), HasSubstr("--help")));
  EXPECT_THAT(refusal(kUsage, {"fit", "--bogus"}),
              AllOf(HasSubstr("--bogus"), HasSubstr("--help")));
  EXPECT_THAT(refusal(kUsage, {}), HasSubstr("--help"));
  EXPECT_THAT(refusal(kUsage, {"import"}), HasSubstr("--help"));
  EXPECT_THAT(refusal(kUsage, {"fit"}), HasSubstr("jeffreys fit table.csv"));
}

TEST_F(Help, SettingsAreListedWithDefaultsAndPresets) {
  const std::string text = good({"fit", "--settings"}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("learning_rate.main"), HasSubstr("zeta.estimator"),
                          HasSubstr("paper-density"), HasSubstr("checkpoint.seconds")));
  const auto json = good({"fit", "--settings", "--json"}).json();
  EXPECT_EQ(json.at("method").at("value"), "dual");
  for (const auto& [key, setting] : json.items()) {
    EXPECT_EQ(setting.at("default"), true) << key;
    EXPECT_THAT(text, HasSubstr(key));
  }
}

class Speech : public ProgramTest {
 protected:
  Speech() {
    file("t.csv", two_columns());
    fit("t.csv", "m");
  }
};

TEST_F(Speech, QuietSaysNothing) {
  const std::vector<Arguments> quiet{
      Arguments{"fit", "t.csv", "-o", "q"} + tiny(), {"sample", "m", "-n", "5", "-o", "s.csv"},
      {"log_prob", "m", "t.csv", "-o", "l.csv"},     {"plot", "m", "-o", "p.svg"},
      {"export", "zuko", "m", "-o", "z.npz"},        {"import", "zuko", "z.npz", "-o", "z"}};
  for (const Arguments& command : quiet) {
    for (const char* flag : {"--quiet", "-q"}) {
      const Outcome outcome = good(command + Arguments{flag});
      EXPECT_EQ(outcome.out, "") << command.front();
      EXPECT_EQ(outcome.err, "") << command.front();
    }
  }
  const Outcome before = good({"-q", "log_prob", "m", "t.csv"});
  EXPECT_THAT(before.out, StartsWith("log_prob\n"));
  EXPECT_EQ(before.err, "");
}

TEST_F(Speech, QuietStillReportsErrors) {
  EXPECT_THAT(refusal(kBadInput, {"fit", "none.csv", "-q"}), HasSubstr("none.csv"));
}

TEST_F(Speech, JsonIsAllOfStandardOutput) {
  const std::vector<Arguments> commands{
      Arguments{"fit", "t.csv", "-o", "j"} + tiny(),
      {"evaluate", "m", "t.csv"},
      {"inspect", "m"},
      {"demo", "--rows", "30", "--iterations", "3", "-o", "d.svg"}};
  for (const Arguments& command : commands) {
    for (const Arguments& more : {Arguments{"--json"}, Arguments{"--json", "--quiet"}}) {
      const Outcome outcome = good(command + more);
      EXPECT_TRUE(outcome.json().is_object()) << command.front();
      EXPECT_TRUE(more.size() == 1 || outcome.err.empty()) << outcome.err;
    }
  }
}

TEST_F(Speech, FitSummarisesForPeople) {
  const Outcome outcome = fit("t.csv", "n");
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("80 training rows, 20 held out; 2 columns modelled"),
                    HasSubstr("30 iterations"), HasSubstr("Gaussian"), HasSubstr("main"),
                    HasSubstr("proxy"), HasSubstr("verdict: "), HasSubstr("n.run.json")));
  EXPECT_THAT(outcome.err, HasSubstr("fit 30/30"));
  EXPECT_EQ(outcome.err.find('\r'), std::string::npos) << "a log, not a terminal";
}

}  // namespace
}  // namespace jeffreys::testing
