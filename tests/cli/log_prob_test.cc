// Log densities: order, units, precision and formats.
#include <algorithm>
#include <cmath>

#include "cli/program.h"
#include "cli/tables.h"
#include "jeffreys/storage/npy.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class LogProbCommand : public ProgramTest {
 protected:
  LogProbCommand() {
    file("t.csv", two_columns());
    fit("t.csv", "m");
  }
  std::vector<double> log_prob(const std::string& model, const std::string& table,
                               const Arguments& more = {}) const {
    return Cells(good(Arguments{"log_prob", model, table} + more).out).numbers("log_prob");
  }
};

TEST_F(LogProbCommand, RowsKeepTheirOrder) {
  const std::vector<double> all = log_prob("m", "t.csv");
  ASSERT_EQ(all.size(), 100u);
  // The same rows backwards, with the columns exchanged and one more among them.
  const Cells cells(bytes("t.csv"));
  std::string backwards = "y,new,x\n";
  for (std::size_t row = cells.rows(); row-- > 0;) {
    backwards += cells.column("y")[row] + ",text," + cells.column("x")[row] + "\n";
  }
  file("back.csv", backwards);
  const std::vector<double> again = log_prob("m", "back.csv");
  ASSERT_EQ(again.size(), 100u);
  for (std::size_t row = 0; row < 100; ++row) EXPECT_NEAR(again[99 - row], all[row], 1e-5);
}

TEST_F(LogProbCommand, MissingRowsAreEmptyCells) {
  file("gaps.csv", with_line(with_line(bytes("t.csv"), 4, ",0.5"), 7, "5,nan"));
  fit("t.csv", "d", {"--missing", "drop"});
  const Outcome outcome = good({"log_prob", "d", "gaps.csv", "-o", "l.npy"});
  EXPECT_THAT(outcome.err, HasSubstr("2 of 100 rows have missing values"));
  const std::vector<double> gaps = storage::read_npy(path("l.npy")).values<double>();
  const std::vector<double> all = log_prob("d", "t.csv");
  ASSERT_EQ(gaps.size(), 100u);
  for (std::size_t row = 0; row < 100; ++row) {
    if (row == 2 || row == 5) {
      EXPECT_TRUE(std::isnan(gaps[row]));
    } else {
      EXPECT_NEAR(gaps[row], all[row], 1e-5);
    }
  }
  const std::vector<std::string> cells =
      Cells(good({"log_prob", "d", "gaps.csv"}).out).column("log_prob");
  ASSERT_EQ(cells.size(), 100u);
  // A line with nothing on it would be no row of a table with one column.
  EXPECT_THAT(cells[2], ::testing::AnyOf("", "NA"));
  EXPECT_THAT(cells[5], ::testing::AnyOf("", "NA"));
}

TEST_F(LogProbCommand, FloatIsCloseToDouble) {
  for (const char* from : {"main", "proxy"}) {
    const std::vector<double> single = log_prob("m", "t.csv", {"--from", from});
    const std::vector<double> twice =
        log_prob("m", "t.csv", {"--from", from, "--precision", "double"});
    ASSERT_EQ(single.size(), twice.size());
    for (std::size_t row = 0; row < single.size(); ++row) {
      EXPECT_NEAR(single[row], twice[row], 1e-3);
    }
  }
}

TEST_F(LogProbCommand, IsInTheUnitsOfTheTable) {
  file("scaled.csv", two_columns(100, 1000));
  fit("scaled.csv", "s");
  for (const char* from : {"main", "proxy"}) {
    const std::vector<double> metres = log_prob("m", "t.csv", {"--from", from});
    const std::vector<double> scaled = log_prob("s", "scaled.csv", {"--from", from});
    ASSERT_EQ(metres.size(), scaled.size());
    for (std::size_t row = 0; row < metres.size(); ++row) {
      EXPECT_NEAR(scaled[row], metres[row] - std::log(1000.0), 1e-3);
    }
  }
}

TEST_F(LogProbCommand, AgreesWithTheFitAndWithEvaluate) {
  const std::vector<double> values = log_prob("m", "t.csv", {"--from", "main"});
  double sum = 0;
  for (const double value : values) sum += value;
  const auto evaluated = good({"evaluate", "m", "t.csv", "--json"}).json();
  EXPECT_NEAR(evaluated.at("main").at("nll").get<double>(), -sum / 100, 1e-5);
  const auto record = nlohmann::json::parse(bytes("m.run.json")).at("result").at("main");
  const double fitted = (80 * record.at("training").at("nll").get<double>() +
                         20 * record.at("held_out").at("nll").get<double>()) /
                        100;
  EXPECT_NEAR(fitted, -sum / 100, 1e-5);
}

TEST_F(LogProbCommand, WritesEveryFormat) {
  good({"log_prob", "m", "t.csv", "-o", "l.csv"});
  good({"log_prob", "m", "t.csv", "-o", "l.npy"});
  EXPECT_EQ(bytes("l.csv"), good({"log_prob", "m", "t.csv"}).out);
  EXPECT_EQ(storage::read_npy(path("l.npy")).values<double>(),
            Cells(bytes("l.csv")).numbers("log_prob"));
}

TEST_F(LogProbCommand, RefusesTablesThatAreNotTheModels) {
  file("other.csv", "x,z\n1,2\n3,4\n");
  EXPECT_THAT(refusal(kBadInput, {"log_prob", "m", "other.csv", "-o", "l.csv"}),
              AllOf(HasSubstr("other.csv"), HasSubstr("\"y\"")));
  file("text.csv", "x,y\n1,2\n3,abc\n4,5\n");
  EXPECT_THAT(refusal(kBadInput, {"log_prob", "m", "text.csv", "-o", "l.csv"}),
              AllOf(HasSubstr("text.csv:3:2: "), HasSubstr("abc")));
  file("nothing.csv", "x,y\n,\n,\n");
  EXPECT_THAT(refusal(kBadInput, {"log_prob", "m", "nothing.csv", "-o", "l.csv"}),
              HasSubstr("nothing.csv"));
  EXPECT_THAT(refusal(kBadInput, {"evaluate", "m", "other.csv"}), HasSubstr("other.csv"));
  EXPECT_THAT(refusal(kUsage, {"log_prob", "m", "t.csv", "--precision", "half"}),
              HasSubstr("--precision"));
}

// A label that was never seen has a probability, a value beyond its bounds has none.
TEST_F(LogProbCommand, EvaluateRefusesWhatHasNoDensity) {
  file("l.csv", lines("share,kind", 60, [](Draws& draws, int row) {
         return text_of(draws.uniform()) + (row % 2 == 0 ? ",a" : ",b");
       }));
  fit("l.csv", "l", {"--bound", "share=0:1"});
  file("label.csv", "share,kind\n0.5,a\n0.5,c\n");
  EXPECT_TRUE(std::isfinite(
      good({"evaluate", "l", "label.csv", "--json"}).json()["main"]["nll"].get<double>()));
  file("bound.csv", "share,kind\n0.5,a\n1.5,b\n");
  EXPECT_THAT(refusal(kBadInput, {"evaluate", "l", "bound.csv"}),
              AllOf(HasSubstr("bound.csv:3: "), HasSubstr("1.5"), HasSubstr("0 to 1")));
}

// A table of 200 rows with labels, whole numbers and a bound.
class UnusualRows : public ProgramTest {
 protected:
  UnusualRows() {
    file("t.csv", lines("site,count,share", 200, [](Draws& draws, int row) {
           return std::string(row % 3 == 0 ? "north" : "south") + "," +
                  text_of(std::round(10 + 3 * draws.normal())) + "," + text_of(draws.uniform());
         }));
    good({"fit", "t.csv", "-o", "m", "--bound", "share=0:1", "--calibration", "0.2", "--set",
          "iterations=60", "--quiet"});
  }
};

TEST_F(UnusualRows, DoNotStopTheFile) {
  file("new.csv", "site,count,share\nnorth,10,0.5\nwest,10,0.5\nnorth,10,1.5\nnorth,60,0.5\n");
  const Outcome outcome = good({"log_prob", "m", "new.csv", "--percentile", "--explain"});
  const Cells cells(outcome.out);
  ASSERT_EQ(cells.rows(), 4u);
  EXPECT_EQ(cells.column("log_prob")[2], "-inf");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("has the label \"\"west\"\", which the model does not"),
                                 HasSubstr("has 1.5, outside its bounds 0 to 1")));
  EXPECT_EQ(cells.column("note")[0], "");
  EXPECT_THAT(cells.column("explanation")[1], ::testing::StartsWith("site"));
  EXPECT_THAT(cells.column("explanation")[3], ::testing::StartsWith("\"count"));
  EXPECT_GT(cells.numbers("p_value")[0], 0.05);
  EXPECT_NEAR(cells.numbers("p_value")[2], 1.0 / 41, 1e-12);
  EXPECT_NEAR(cells.numbers("p_value")[3], 1.0 / 41, 1e-12);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("2 of 4 rows have a label"),
                                 HasSubstr("from 40 rows that the fit kept"),
                                 HasSubstr("standard error"), ::testing::Not(HasSubstr("nan"))));
}

TEST_F(UnusualRows, HaveApproximatePValuesWithoutCalibration) {
  good({"fit", "t.csv", "-o", "n", "--set", "iterations=30", "--quiet"});
  EXPECT_THAT(good({"log_prob", "n", "t.csv", "--percentile"}).err,
              HasSubstr("p-values are approximate: they are from the 200 held-out rows"));
  good({"fit", "t.csv", "-o", "o", "--set", "iterations=30", "--no-validation", "--quiet"});
  const Outcome none = run({"log_prob", "o", "t.csv", "--percentile"});
  EXPECT_EQ(none.exit_code, kUsage);
  EXPECT_THAT(none.err, HasSubstr("--calibration 0.1"));
}

TEST_F(UnusualRows, NeedCalibrationRowsThatLeaveSomeToTrainOn) {
  const Outcome outcome = run({"fit", "t.csv", "-o", "n", "--calibration", "0.97"});
  EXPECT_EQ(outcome.exit_code, kUsage);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("calibration"), HasSubstr("at least 10 rows")));
}

// Scores do not depend on where rows stand, nor does the fit.
TEST_F(UnusualRows, ScoreTheSameInAnyOrder) {
  const Cells table(bytes("t.csv"));
  std::string backwards = "site,count,share\n";
  for (std::size_t row = table.rows(); row-- > 0;) {
    backwards += table.column("site")[row] + "," + table.column("count")[row] + "," +
                 table.column("share")[row] + "\n";
  }
  file("back.csv", backwards);
  good({"fit", "back.csv", "-o", "back", "--bound", "share=0:1", "--calibration", "0.2", "--set",
        "iterations=60", "--quiet"});
  const auto scores = [&](const std::string& model, const std::string& rows) {
    return Cells(good({"log_prob", model, rows}).out).column("log_prob");
  };
  std::vector<std::string> reversed = scores("back", "back.csv");
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(reversed, scores("m", "t.csv"));
}

}  // namespace
}  // namespace jeffreys::testing
