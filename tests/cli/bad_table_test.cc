// Tables that no model can be fitted to: what the user reads, and that nothing is left behind.
#include <unistd.h>

#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class BadTable : public ProgramTest {
 protected:
  std::string refused(const std::string& table, const Arguments& more = {}) const {
    return refusal(kBadInput, Arguments{"fit", table, "-o", "m"} + tiny() + more);
  }
};

TEST_F(BadTable, IsNoFile) {
  EXPECT_THAT(refused("none.csv"), AllOf(HasSubstr("none.csv: "), HasSubstr("check the name")));
  std::filesystem::create_directory(path("folder"));
  EXPECT_THAT(refused("folder"), AllOf(HasSubstr("folder: "), HasSubstr("is a directory")));
}

TEST_F(BadTable, CannotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  std::filesystem::permissions(file("t.csv", two_columns()), std::filesystem::perms::none);
  EXPECT_THAT(refused("t.csv"), AllOf(HasSubstr("t.csv: "), HasSubstr("Permission denied")));
}

TEST_F(BadTable, HasNoRows) {
  file("empty.csv", "");
  EXPECT_THAT(refused("empty.csv"), HasSubstr("empty.csv: is empty"));
  file("blank.csv", "\n\n# nothing\n");
  EXPECT_THAT(refused("blank.csv"), HasSubstr("blank.csv: has no rows"));
  file("header.csv", "x,y\n");
  EXPECT_THAT(refused("header.csv"), HasSubstr("header.csv: has a header but no rows"));
}

TEST_F(BadTable, HasTooFewRows) {
  file("one.csv", "x,y\n1,2\n");
  EXPECT_THAT(refused("one.csv"), AllOf(HasSubstr("one.csv: "), HasSubstr("at least 10")));
  file("nine.csv", two_columns(9));
  EXPECT_THAT(refused("nine.csv"), AllOf(HasSubstr("9 of 9 rows"), HasSubstr("at least 10")));
  file("gaps.csv", lines("x,y", 50, [](Draws& draws, int row) {
         return text_of(draws.normal()) + (row < 45 ? ",NA" : ",1.5");
       }));
  EXPECT_THAT(refused("gaps.csv", {"--missing", "drop"}), HasSubstr("5 of 50 rows"));
}

TEST_F(BadTable, IsRagged) {
  file("short.csv", with_line(two_columns(), 7, "5"));
  EXPECT_THAT(refused("short.csv"), AllOf(HasSubstr("short.csv:7: "), HasSubstr("1 field")));
  file("long.csv", with_line(two_columns(), 60, "5,0.5,0.5"));
  EXPECT_THAT(refused("long.csv"), AllOf(HasSubstr("long.csv:60: "), HasSubstr("3 fields")));
  file("quote.csv", with_line(two_columns(), 8, "\"5,0.5"));
  EXPECT_THAT(refused("quote.csv"), AllOf(HasSubstr("quote.csv:8"), HasSubstr("quote")));
}

TEST_F(BadTable, HasTextAmongNumbers) {
  file("t.csv", with_line(two_columns(), 33, "5,abc"));
  EXPECT_THAT(refused("t.csv"),
              AllOf(HasSubstr("t.csv:33:2: "), HasSubstr("\"y\""), HasSubstr("\"abc\""),
                    HasSubstr("--categorical y"), HasSubstr("--ignore y")));
  // The advice works, and as labels that are all different the column is refused once more.
  fit("t.csv", "ignored", {"--ignore", "y"});
  EXPECT_THAT(refused("t.csv", {"--categorical", "y"}),
              AllOf(HasSubstr("100 different labels"), HasSubstr("--ignore y")));
}

TEST_F(BadTable, HasNumbersThatAreNone) {
  for (const char* cell : {"inf", "-inf", "Infinity", "1e999"}) {
    file("t.csv", with_line(two_columns(), 12, std::string(cell) + ",0.5"));
    EXPECT_THAT(refused("t.csv"), AllOf(HasSubstr("t.csv:12:1: "), HasSubstr("infinite")));
  }
  for (const char* cell : {"1e308", "-1e200"}) {
    file("t.csv", with_line(two_columns(), 13, std::string("5,") + cell));
    EXPECT_THAT(refused("t.csv"), AllOf(HasSubstr("t.csv:13:2: "), HasSubstr("too large")));
  }
}

TEST_F(BadTable, HasNothingToModel) {
  file("constant.csv", lines("x,y", 30, [](Draws&, int) { return "1,2"; }));
  EXPECT_THAT(refused("constant.csv"), HasSubstr("constant.csv: "));
  file("t.csv", two_columns());
  EXPECT_THAT(refused("t.csv", {"--condition", "x,y"}), HasSubstr("t.csv: "));
  EXPECT_THAT(refused("t.csv", {"--ignore", "x,y"}), HasSubstr("t.csv: "));
}

TEST_F(BadTable, LacksColumnsThatOptionsName) {
  file("t.csv", two_columns());
  for (const char* option : {"--condition", "--categorical", "--integer", "--ignore"}) {
    EXPECT_THAT(refused("t.csv", {option, "zz"}),
                AllOf(HasSubstr("t.csv: "), HasSubstr("\"zz\""), HasSubstr("x, y")));
  }
  EXPECT_THAT(refused("t.csv", {"--bound", "zz=0:"}), HasSubstr("\"zz\""));
}

TEST_F(BadTable, ContradictsItsDeclarations) {
  file("t.csv", two_columns());
  EXPECT_THAT(refused("t.csv", {"--integer", "y"}),
              AllOf(HasSubstr("t.csv:2:2: "), HasSubstr("integer")));
  EXPECT_THAT(refused("t.csv", {"--bound", "y=0.5:1"}),
              AllOf(HasSubstr("t.csv:"), HasSubstr(":2: "), HasSubstr("outside its bounds")));
  file("l.csv", lines("x,k", 30, [](Draws& draws, int row) {
         return text_of(draws.normal()) + (row % 2 == 0 ? ",a" : ",b");
       }));
  EXPECT_THAT(refused("l.csv", {"--bound", "k=0:1"}), HasSubstr("categorical"));
}

TEST_F(BadTable, HasColumnsOfTheSameName) {
  file("t.csv", with_line(two_columns(), 1, "x,x"));
  EXPECT_THAT(refused("t.csv"), AllOf(HasSubstr("t.csv:1:2: "), HasSubstr("twice")));
}

TEST_F(BadTable, IsABinaryFile) {
  std::string zeros(1000, '\0');
  for (const char* name : {"t.csv", "t.npy", "t.npz"}) {
    file(name, zeros);
    EXPECT_THAT(refused(name), HasSubstr(std::string(name) + ": "));
  }
}

TEST_F(BadTable, WithMissingCellsAloneIsNoMistake) {
  file("nan.csv", with_line(two_columns(), 5, "nan,0.5"));
  EXPECT_THAT(fit("nan.csv", "m").out, HasSubstr("1 of 100 rows have missing cells"));
}

}  // namespace
}  // namespace jeffreys::testing
