// The exports of docs/exports.md through the program: a density of each, whose rows are written as
// the file is.
#include "table/exports.h"

#include "cli/program.h"
#include "jeffreys/table/table_file.h"

namespace jeffreys::testing {
namespace {

class ExportedTables : public ProgramTest {
 protected:
  // The columns of the samples are read in the notations of the file's, by somebody who knows
  // nothing of the model.
  void expect_same_notations(const Export& tested) const {
    const Table before = read_table(path("e.csv"));
    const Table after = read_table(path("s.csv"));
    EXPECT_EQ(after.rows(), 40U) << tested.program;
    EXPECT_EQ(after.delimiter, before.delimiter) << tested.program;
    for (const Column& column : after.columns) {
      const Column* known = before.find(column.name);
      ASSERT_NE(known, nullptr) << tested.program << ": " << column.name;
      EXPECT_EQ(column.is_text(), known->is_text()) << tested.program << ": " << column.name;
      Notation own = column.notation;
      own.fixed = own.fixed && known->notation.fixed;  // of a few no last digit may be 0
      EXPECT_EQ(shape_of(own), shape_of(known->notation)) << tested.program << ": " << column.name;
    }
  }

  // But for what a few rows cannot show: large numbers, digits that happen to be 0, and leading
  // zeros where a number is negative.
  static Notation shape_of(Notation notation) {
    if (!notation.fixed) notation.decimals = -1;
    notation.grouping = "";
    notation.parentheses = false;
    notation.width = 0;
    return notation;
  }
};

TEST_F(ExportedTables, ComeBackInTheirNotation) {
  for (const auto& exports : {spreadsheet_exports(), program_exports()}) {
    for (const Export& tested : exports) {
      file("e.csv", tested.text);
      good({"fit", "e.csv", "-o", "e", "-q", "--set", "iterations=100", "flow.hidden=8",
            "members=1"});
      good({"sample", "e", "-n", "40", "-o", "s.csv", "-q"});
      expect_same_notations(tested);
      good({"log_prob", "e", "s.csv", "-q"});
    }
  }
}

}  // namespace
}  // namespace jeffreys::testing
