// Log densities: order, units, precision and formats.
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
  const Outcome outcome = good({"log_prob", "m", "gaps.csv", "-o", "l.npy"});
  EXPECT_THAT(outcome.err, HasSubstr("2 of 100 rows have missing values"));
  const std::vector<double> gaps = storage::read_npy(path("l.npy")).values<double>();
  const std::vector<double> all = log_prob("m", "t.csv");
  ASSERT_EQ(gaps.size(), 100u);
  for (std::size_t row = 0; row < 100; ++row) {
    if (row == 2 || row == 5) {
      EXPECT_TRUE(std::isnan(gaps[row]));
    } else {
      EXPECT_NEAR(gaps[row], all[row], 1e-5);
    }
  }
  const std::vector<std::string> cells =
      Cells(good({"log_prob", "m", "gaps.csv"}).out).column("log_prob");
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
  file("nothing.csv", "x,y\n1,\n,2\n");
  EXPECT_THAT(refusal(kBadInput, {"log_prob", "m", "nothing.csv", "-o", "l.csv"}),
              HasSubstr("nothing.csv"));
  EXPECT_THAT(refusal(kBadInput, {"evaluate", "m", "other.csv"}), HasSubstr("other.csv"));
  EXPECT_THAT(refusal(kUsage, {"log_prob", "m", "t.csv", "--precision", "half"}),
              HasSubstr("--precision"));
}

TEST_F(LogProbCommand, RefusesLabelsAndValuesThatTheModelDoesNotKnow) {
  file("l.csv", lines("share,kind", 60, [](Draws& draws, int row) {
         return text_of(draws.uniform()) + (row % 2 == 0 ? ",a" : ",b");
       }));
  fit("l.csv", "l", {"--bound", "share=0:1"});
  file("label.csv", "share,kind\n0.5,a\n0.5,c\n");
  EXPECT_THAT(refusal(kBadInput, {"log_prob", "l", "label.csv"}),
              AllOf(HasSubstr("label.csv:3:2: "), HasSubstr("\"c\""), HasSubstr("a, b")));
  file("bound.csv", "share,kind\n0.5,a\n1.5,b\n");
  EXPECT_THAT(refusal(kBadInput, {"log_prob", "l", "bound.csv"}),
              AllOf(HasSubstr("bound.csv:3:1: "), HasSubstr("1.5"), HasSubstr("0 to 1")));
}

}  // namespace
}  // namespace jeffreys::testing
