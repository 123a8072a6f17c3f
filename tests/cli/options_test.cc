// Options with several values, and how tables are read, in every command that has them.
#include "cli/program.h"
#include "cli/sbi_program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SeveralValues : public ProgramTest {
 protected:
  SeveralValues() {
    std::string text = "a,b,c,d\n";
    Draws draws(5);
    for (int i = 0; i < 60; ++i) {
      for (const char* end : {",", ",", ",", "\n"}) text += std::to_string(draws.uniform()) + end;
    }
    file("t.csv", text);
  }

  // The columns that a fit with these options models.
  std::string features(const Arguments& options) const {
    good(Arguments{"fit"} + options +
         Arguments{"-o", "m", "--set", "iterations=3", "flow.hidden=8", "members=1"});
    std::string names;
    const auto record = nlohmann::json::parse(bytes("m.run.json"));
    for (const auto& name : record.at("result").at("features")) names += name.get<std::string>();
    return names;
  }
};

TEST_F(SeveralValues, OneAfterAnotherOrWithCommas) {
  EXPECT_EQ(features({"t.csv", "--ignore", "b", "c"}), "ad");
  EXPECT_EQ(features({"--ignore", "b", "c", "t.csv"}), "ad") << "the table is none of them";
  EXPECT_EQ(features({"--ignore", "b,c", "t.csv"}), "ad");
  EXPECT_EQ(features({"--ignore=b", "c", "t.csv"}), "ad");
  EXPECT_EQ(features({"--ignore", "b", "--ignore", "c", "t.csv"}), "ad");
  EXPECT_EQ(features({"t.csv", "--condition", "a", "--bound", "b=0:1", "c=0:1"}), "bcd");
}

TEST_F(SeveralValues, EverySettingCounts) {
  features({"t.csv"});
  const auto settings = nlohmann::json::parse(bytes("m.run.json")).at("settings");
  EXPECT_EQ(settings.at("iterations").at("value"), "3");
  EXPECT_EQ(settings.at("flow.hidden").at("value"), "8");
  EXPECT_EQ(settings.at("members").at("value"), "1");
  EXPECT_THAT(refusal(kUsage, {"fit", "t.csv", "--set", "iterations=3", "nonsense=1"}),
              HasSubstr("nonsense"));
}

TEST_F(SeveralValues, GivenAndColumns) {
  features({"t.csv"});
  const std::string rows = good({"sample", "m", "--given", "a=0.5", "b=0.25", "-n", "2"}).out;
  EXPECT_THAT(rows, HasSubstr("\n0.500000,0.250000,"));
  good({"plot", "m", "--columns", "a", "c", "-o", "p.svg"});
  file("one.csv", "a,b,c,d\n0.5,0.5,0.5,0.5\n");
  good({"log_prob", "m", "one.csv", "--columns", "a", "b", "--given", "c", "d"});
  good({"log_prob", "--columns", "a", "b", "--given", "c", "d", "--", "m", "one.csv"});
}

// A comma in a value that is not followed by another column.
TEST_F(SeveralValues, DecimalCommasInValues) {
  std::string text = "a;b\n";
  Draws draws(6);
  for (int i = 0; i < 60; ++i) {
    text += std::to_string(i % 9) + "," + std::to_string(i % 7) + ";" +
            std::to_string(static_cast<int>(90 * draws.uniform())) + ",5\n";
  }
  file("comma.csv", text);
  fit("comma.csv", "c", {"--condition", "a"});
  EXPECT_THAT(good({"sample", "c", "--given", "a=2,5", "-n", "1"}).out, HasSubstr("\n2,5;"));
}

class Reading : public SbiProgramTest {};

// Numbers without a header, and -9 for what is missing, in every table of sbi.
TEST_F(Reading, TablesOfPosteriors) {
  std::string pairs;
  Draws draws(7);
  for (int i = 0; i < 80; ++i) {
    const double a = draws.uniform();
    pairs += std::to_string(a) + "," + std::to_string(a + 0.1 * draws.uniform()) + "\n";
  }
  file("pairs.csv", pairs + "0.5,-9\n");
  const Arguments reading{"--header", "no", "--na", "-9"};
  good(Arguments{"sbi", "fit", "pairs.csv", "--parameters", "x1", "-o", "p"} + reading + tiny());
  file("new.csv", pairs);
  file("observed.csv", "0.5,0.5\n");
  const Arguments no{"--header", "no"};
  const Arguments observed{"--observed-file", "observed.csv"};
  EXPECT_THAT(good(Arguments{"sbi", "sample", "p", "-n", "2"} + observed + no).out,
              HasSubstr("x1\n"));
  good(Arguments{"sbi", "log_prob", "p", "new.csv"} + no);
  good(Arguments{"sbi", "check", "p", "new.csv", "--samples", "20"} + no);
  good(Arguments{"sbi", "plot", "p", "-o", "p.svg"} + observed + no);
}

TEST_F(Reading, EveryCommandThatReadsTablesHasTheOptions) {
  for (const Arguments& command :
       {Arguments{"fit"}, Arguments{"compare"}, Arguments{"log_prob"}, Arguments{"evaluate"},
        Arguments{"impute"}, Arguments{"plot"}, Arguments{"sample"}, Arguments{"sbi", "fit"},
        Arguments{"sbi", "sample"}, Arguments{"sbi", "log_prob"}, Arguments{"sbi", "check"},
        Arguments{"sbi", "plot"}}) {
    EXPECT_THAT(good(command + Arguments{"--help"}).out,
                AllOf(HasSubstr("--header"), HasSubstr("--na"), HasSubstr("--array")));
  }
}

}  // namespace
}  // namespace jeffreys::testing
