// What the program says about its options, and how it ends when something is in its way.
#include <unistd.h>

#include <cmath>

#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Saying : public ProgramTest {
 protected:
  Saying() { file("t.csv", two_columns()); }
};

TEST_F(Saying, SeedsAndLimitsInPlainWords) {
  for (const char* seed : {"-1", "1e22", "1.5", "99999999999999999999999"}) {
    EXPECT_THAT(refusal(kUsage, {"fit", "t.csv", std::string("--seed=") + seed}),
                HasSubstr("whole number from 0"));
  }
  for (const char* limit : {"nan", "inf", "0", "-3"}) {
    EXPECT_THAT(refusal(kUsage, {"fit", "t.csv", std::string("--time-limit=") + limit}),
                HasSubstr("finite number above 0"));
  }
}

TEST_F(Saying, TheTimeLimitHoldsInTheWarmStart) {
  const Outcome outcome =
      good(Arguments{"fit", "t.csv", "-o", "m", "--proxy", "energy", "--time-limit", "0.5"} +
           Arguments{"--set", "warm_start=100000000"} + tiny());
  EXPECT_THAT(outcome.out, HasSubstr("stopped by the time limit"));
}

TEST_F(Saying, NamesThatAreTooLong) {
  const std::string name(300, 'a');
  EXPECT_THAT(refusal(kBadInput, {"fit", "t.csv", "-o", name}), HasSubstr("too long"));
  EXPECT_THAT(refusal(kBadInput, {"fit", name + ".csv", "-o", "m"}), HasSubstr("too long"));
}

TEST_F(Saying, SettingsThatNeverEndOrGoTooDeep) {
  EXPECT_THAT(refusal(kBadInput, {"fit", "t.csv", "--config", "/dev/zero"}), HasSubstr("1 MB"));
  std::string deep = "a";
  for (int i = 0; i < 30'000; ++i) deep += ".a";
  file("deep.toml", deep + " = 1\n");
  EXPECT_THAT(refusal(kBadInput, {"fit", "t.csv", "--config", "deep.toml"}),
              HasSubstr("deep.toml:1: a key has more than 100 parts"));
  file("bracket.toml", "[= 1\n");
  EXPECT_THAT(refusal(kBadInput, {"fit", "t.csv", "--config", "bracket.toml"}),
              HasSubstr("bracket.toml:1:2"));
  // A quote with a quote in it hides nothing.
  file("deep.toml", "\"\\\"\"." + deep + " = 1\n");
  EXPECT_THAT(refusal(kBadInput, {"fit", "t.csv", "--config", "deep.toml"}),
              HasSubstr("a key has more than 100 parts"));
}

TEST_F(Saying, OptionsByTheirOwnNames) {
  EXPECT_THAT(refusal(kUsage, {"fit", "t.csv", "--calibration", "nan"}),
              StartsWith("jeffreys: --calibration: "));
  EXPECT_LT(refusal(kUsage, {"fit", "t.csv", "--set", std::string(5000, 'a') + "=1"}).size(),
            1000U);
}

TEST_F(Saying, AHelpThatCannotBeWritten) {
  const Outcome outcome =
      Process({"fit", "--help"}, {.folder = folder(), .out_file = "/dev/full"}).wait();
  EXPECT_EQ(outcome.exit_code, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("standard output"));
}

// In nats of the table's units, as the summary: what is a thousand times as large has a density
// that is a thousand times as small, for each of two columns.
TEST_F(Saying, CurvesHaveTheUnitsOfTheSummary) {
  std::string large = "x,y\n";
  const Cells cells(bytes("t.csv"));
  const std::vector<double> x = cells.numbers("x"), y = cells.numbers("y");
  for (std::size_t i = 0; i < x.size(); ++i) {
    large += text_of(1000 * x[i]) + "," + text_of(1000 * y[i]) + "\n";
  }
  file("large.csv", large);
  for (const char* members : {"1", "2"}) {
    std::vector<double> ends;
    for (const std::string table : {"t", "large"}) {
      const auto record = good(Arguments{"fit", table + ".csv", "-o", table, "--json"} + tiny() +
                               Arguments{"--members", members})
                              .json();
      const auto& held_out = record.at("curves").at("held_out").at("main_nll");
      ASSERT_FALSE(held_out.empty());
      ends.push_back(held_out.back());
      const double said = record.at("result").at("main").at("held_out").at("nll");
      EXPECT_NEAR(ends.back(), said, 1) << members << " " << table;
      good({"plot", table, "--training", "-o", table + ".svg"});
    }
    EXPECT_NEAR(ends[1] - ends[0], 2 * std::log(1000), 0.05);
    EXPECT_NE(bytes("t.svg"), bytes("large.svg"));
  }
}

TEST_F(Saying, WhyItDivergedAlsoWhenQuiet) {
  const Outcome outcome = run(
      Arguments{"fit", "t.csv", "-o", "m", "-q", "--set", "learning_rate.main=1e30"} + tiny("100"));
  EXPECT_EQ(outcome.exit_code, kDiverged);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("jeffreys: "), HasSubstr("diverged"),
                                 HasSubstr("learning_rate.main")));
}

TEST_F(Saying, EveryHelpNamesJsonAndQuiet) {
  for (const Arguments& command :
       {Arguments{"fit"}, Arguments{"sample"}, Arguments{"sbi", "fit"}, Arguments{"evaluate"},
        Arguments{"reproduce"}, Arguments{"export", "zuko"}}) {
    EXPECT_THAT(good(command + Arguments{"--help"}).out,
                AllOf(HasSubstr("--json"), HasSubstr("--quiet")));
  }
  EXPECT_THAT(good({"import", "--help"}).out, HasSubstr("jeffreys import zuko"));
  EXPECT_THAT(good({"fit", "--help"}).out, HasSubstr("--set KEY=VALUE "));
  EXPECT_THAT(good({"completion"}).out,
              AllOf(HasSubstr("\"sbi \""), HasSubstr("\"sbi check \""), HasSubstr("\"compare \""),
                    HasSubstr("\"impute \""), HasSubstr("\"images fit \"")));
}

TEST_F(Saying, FormatsThatItDoesNotWrite) {
  fit("t.csv", "m");
  EXPECT_THAT(refusal(kUsage, {"sample", "m", "-n", "3", "-o", "s.xlsx"}), HasSubstr(".csv"));
  EXPECT_THAT(refusal(kUsage, {"plot", "m", "-o", "m"}), HasSubstr("give another name"));
  EXPECT_THAT(refusal(kUsage, {"reproduce", "density", "--scale", "0.01", "--only", "typo"}),
              HasSubstr("--only typo"));
}

TEST_F(Saying, ConditionsNameTheOption) {
  fit("t.csv", "m", {"--condition", "x"});
  EXPECT_THAT(refusal(kBadInput, {"sample", "m", "-n", "3"}), HasSubstr("--given x=VALUE"));
}

TEST_F(Saying, EvaluatesOneOfTwoModels) {
  fit("t.csv", "m");
  const Outcome main = good({"evaluate", "m", "t.csv", "--from", "main"});
  EXPECT_THAT(main.out, AllOf(HasSubstr("main"), Not(HasSubstr("proxy"))));
}

// `jeffreys fit ... | head`: the model is there, and nothing else.
TEST_F(Saying, AReaderThatLeavesAFitLeavesNoCheckpoint) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const std::string writing = "/proc/self/fd/" + std::to_string(ends[1]);
  Process process(Arguments{"fit", "t.csv", "-o", "m"} + tiny(),
                  {.folder = folder(), .out_file = writing});
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(process.wait().exit_code, kFailed);
  EXPECT_EQ(names(), (std::set<std::string>{"t.csv", "m", "m.run.json"}));
}

TEST_F(Saying, TablesOfOtherPlacesComeBackAsTheyWere) {
  std::string text = "Datum;Preis;Anteil\n";
  Draws draws(3);
  for (int i = 0; i < 60; ++i) {
    const int day = 1 + static_cast<int>(27 * draws.uniform());
    const int cents = static_cast<int>(100000 * draws.uniform()) + 100000;
    text += (day < 10 ? "0" : "") + std::to_string(day) + ".03.2024;1." +
            std::to_string(cents / 100 + 100).substr(1) + "," + std::to_string(cents % 90 + 10) +
            ";" + std::to_string(static_cast<int>(90 * draws.uniform())) + ",5 %\n";
  }
  file("d.csv", text);
  EXPECT_THAT(fit("d.csv", "d").out, AllOf(HasSubstr("dates (%d.%m.%Y)"), HasSubstr("commas")));
  const std::string rows = good({"sample", "d", "-n", "5"}).out;
  EXPECT_THAT(rows, StartsWith("Datum;Preis;Anteil\n"));
  EXPECT_THAT(rows, ::testing::ContainsRegex("[0-9][0-9]\\.[0-9][0-9]\\.20[0-9][0-9];"));
  EXPECT_THAT(rows, ::testing::ContainsRegex(",[0-9] %\n"));
  good({"log_prob", "d", "d.csv"});
  good({"evaluate", "d", "d.csv"});
  good({"plot", "d", "d.csv", "-o", "d.png"});
  EXPECT_THAT(good({"inspect", "d"}).out, HasSubstr("2024"));
}

TEST_F(Saying, LargeSamplesComeInPartsThatAreTheWhole) {
  fit("t.csv", "m");
  good({"sample", "m", "-n", "70000", "-o", "a.csv", "-q"});
  good({"sample", "m", "-n", "70000", "-o", "a.npy", "-q"});
  const std::vector<double> rows = Cells(bytes("a.csv")).numbers("x");
  EXPECT_EQ(rows.size(), 70000U);
  const Outcome whole = good({"sample", "m", "-n", "70000", "--json"});
  const std::vector<double> json = whole.json().at("x").get<std::vector<double>>();
  EXPECT_EQ(rows, json);
}

}  // namespace
}  // namespace jeffreys::testing
