// Can the synthetic table be published? As somebody asks who made one.
#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Synthetic : public ProgramTest {
 protected:
  Synthetic() {
    file("t.csv", two_columns(200));
    fit("t.csv", "m", {"--threads", "1"});
    good({"sample", "m", "-n", "300", "-o", "rows.csv"});
  }

  // The sampled rows, with so many rows of the table after them.
  void plant(const std::string& name, int copies) const {
    std::istringstream table(bytes("t.csv"));
    std::string text = bytes("rows.csv");
    std::string line;
    std::getline(table, line);
    for (int i = 0; i < copies && std::getline(table, line); ++i) text += line + "\n";
    file(name, text);
  }
};

TEST_F(Synthetic, HasAFigureAndASentence) {
  const Outcome outcome = good({"evaluate", "m", "t.csv", "--synthetic", "rows.csv"});
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("300 synthetic rows beside 200 real ones"), HasSubstr("classifier"),
                    HasSubstr("0 synthetic rows equal a training row"),
                    HasSubstr("verdict: no copies found"), HasSubstr("rows.check.svg")));
  EXPECT_THAT(bytes("rows.check.svg"), HasSubstr("closest training row"));
  const auto json =
      good({"evaluate", "m", "t.csv", "--synthetic", "rows.csv", "-o", "f.png", "--json"}).json();
  EXPECT_EQ(json["synthetic"]["copied"], false);
  EXPECT_EQ(json["synthetic"]["columns"].size(), 2u);
  EXPECT_EQ(json["synthetic"]["pairs"].size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(path("f.png")));
}

TEST_F(Synthetic, PlantedCopiesAreNamed) {
  plant("planted.csv", 4);
  const Outcome outcome = good({"evaluate", "m", "t.csv", "--synthetic", "planted.csv"});
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("verdict: do not publish it: 4 of 304 synthetic rows equal"),
                    HasSubstr("planted.csv:302 equals t.csv:2")));
  // The table holds other rows than those that were learned from.
  file("new.csv", two_columns(150, 1, 7));
  EXPECT_THAT(
      good({"evaluate", "m", "new.csv", "--synthetic", "planted.csv", "--training", "t.csv"}).out,
      HasSubstr("do not publish it: 4 of 304 synthetic rows equal"));
}

TEST_F(Synthetic, RefusesWhatMakesNoSense) {
  EXPECT_THAT(refusal(kUsage, {"evaluate", "m", "t.csv", "--training", "t.csv"}),
              HasSubstr("--synthetic"));
  file("few.csv", "x,y\n1,0.5\n");
  EXPECT_THAT(refusal(kBadInput, {"evaluate", "m", "t.csv", "--synthetic", "few.csv"}),
              AllOf(HasSubstr("few.csv"), HasSubstr("at least 20")));
  file("other.csv", "a\n1\n2\n");
  EXPECT_THAT(refusal(kBadInput, {"evaluate", "m", "t.csv", "--synthetic", "other.csv"}),
              HasSubstr("other.csv"));
  EXPECT_THAT(
      refusal(kUsage, {"evaluate", "m", "t.csv", "--synthetic", "rows.csv", "-o", "rows.csv"}),
      HasSubstr("write over"));
}

}  // namespace
}  // namespace jeffreys::testing
