// Missing cells, columns given at will and weights, as a user has them.
#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// a and b are correlated, k depends on a; cells are left out at random where that is wanted.
std::string table_with_gaps(int rows, double share) {
  return lines("a,b,k", rows, [share](Draws& draws, int) {
    const double a = draws.normal();
    const double b = a + 0.3 * draws.normal();
    const std::string k = a + 0.3 * draws.normal() > 0 ? "up" : "down";
    const auto cell = [&](const std::string& text) {
      return draws.uniform() < share ? std::string() : text;
    };
    return cell(text_of(a)) + "," + cell(text_of(b)) + "," + cell(k);
  });
}

class GapCommands : public ProgramTest {
 protected:
  GapCommands() {
    file("t.csv", table_with_gaps(200, 0.2));
    fit("t.csv", "m");
  }
};

TEST_F(GapCommands, FitLearnsFromRowsWithGaps) {
  const Outcome made = fit("t.csv", "again");
  // One row has no cell at all.
  EXPECT_THAT(made.out, AllOf(HasSubstr("missing cells"), HasSubstr("1 dropped (missing values)")));
  EXPECT_EQ(bytes("again"), bytes("m"));
  // Every row has a gap.
  file("holes.csv", lines("a,b", 60, [](Draws& draws, int row) {
         const std::string value = text_of(draws.normal());
         return row % 2 == 0 ? value + "," : "," + value;
       }));
  fit("holes.csv", "holes");
  EXPECT_THAT(refusal(kBadInput, Arguments{"fit", "holes.csv", "-o", "n"} + tiny() +
                                     Arguments{"--missing", "drop"}),
              AllOf(HasSubstr("holes.csv"), HasSubstr("--missing keep")));
  EXPECT_THAT(refusal(kBadInput, Arguments{"fit", "holes.csv", "-o", "n"} + tiny() +
                                     Arguments{"--missing", "error"}),
              HasSubstr("--missing keep"));
}

TEST_F(GapCommands, ImputeFillsWhatIsMissing) {
  const Outcome drawn = good({"impute", "m", "t.csv", "-o", "full.csv"});
  EXPECT_THAT(drawn.err, HasSubstr("missing cells filled"));
  const Cells full(bytes("full.csv"));
  const Cells before(bytes("t.csv"));
  ASSERT_EQ(full.rows(), before.rows());
  for (const char* column : {"a", "b", "k"}) {
    for (std::size_t row = 0; row < full.rows(); ++row) {
      EXPECT_NE(full.column(column).at(row), "");
      if (before.column(column).at(row).empty()) continue;
      if (column[0] == 'k') {
        EXPECT_EQ(full.column(column).at(row), before.column(column).at(row));
      }
    }
  }
  const std::string means = good({"impute", "m", "t.csv", "--fill", "mean"}).out;
  EXPECT_EQ(means, good({"impute", "m", "t.csv", "--fill", "mean"}).out);
  EXPECT_NE(means, good({"impute", "m", "t.csv", "--fill", "median"}).out);
  const Cells three(good({"impute", "m", "t.csv", "--draws", "3"}).out);
  EXPECT_EQ(three.rows(), 3 * full.rows());
  EXPECT_EQ(three.column("draw").at(full.rows()), "2");
  EXPECT_THAT(refusal(kUsage, {"impute", "m", "t.csv", "--fill", "mean", "--draws", "2"}),
              HasSubstr("--draws"));
}

TEST_F(GapCommands, ScoresAreThoseOfTheKnownCells) {
  const Outcome scored = good({"log_prob", "m", "t.csv"});
  EXPECT_THAT(scored.err, HasSubstr("cells which they have"));
  const Cells scores(scored.out);
  EXPECT_EQ(scores.names(), (std::vector<std::string>{"log_prob", "error"}));
  // All but the row without any cell.
  const std::vector<std::string> cells = scores.column("log_prob");
  EXPECT_EQ(std::count(cells.begin(), cells.end(), ""), 1);
  EXPECT_THAT(scored.err, HasSubstr("1 of 200 rows have no known cell"));
  EXPECT_THAT(good({"evaluate", "m", "t.csv"}).out, HasSubstr("with the cells they have"));
}

TEST_F(GapCommands, ColumnsAreGivenAtWill) {
  const Cells drawn(good({"sample", "m", "-n", "40", "--given", "a=1,k=up"}).out);
  EXPECT_EQ(drawn.column("a"), std::vector<std::string>(40, "1"));
  EXPECT_EQ(drawn.column("k"), std::vector<std::string>(40, "up"));
  file("g.csv", "a,k,other\n0.5,up,1\n-0.5,,2\n");
  const Cells each(good({"sample", "m", "-n", "3", "--given-file", "g.csv"}).out);
  EXPECT_EQ(each.column("a"),
            (std::vector<std::string>{"0.5", "0.5", "0.5", "-0.5", "-0.5", "-0.5"}));
  file("rows.csv", "a,b\n0.5,0.4\n0.5,-3\n");
  const Cells scores(good({"log_prob", "m", "rows.csv", "--columns", "b", "--given", "a"}).out);
  EXPECT_GT(scores.numbers("log_prob").at(0), scores.numbers("log_prob").at(1));
}

TEST_F(GapCommands, RefuseGivenValuesThatAreImpossible) {
  const auto refused = [&](int code, const std::string& given) {
    return refusal(code, {"sample", "m", "-n", "3", "--given", given});
  };
  EXPECT_THAT(refused(kBadInput, "k=sideways"), AllOf(HasSubstr("sideways"), HasSubstr("up")));
  EXPECT_THAT(refused(kBadInput, "zz=1"), AllOf(HasSubstr("zz"), HasSubstr("a, b, k")));
  EXPECT_THAT(refused(kBadInput, "a=1,b=1,k=up"), HasSubstr("nothing is left"));
  EXPECT_THAT(refused(kBadInput, "a=1e9"), HasSubstr("unusual"));
  EXPECT_THAT(refused(kUsage, "a=1,a=2"), HasSubstr("twice"));
  EXPECT_THAT(refusal(kBadInput, {"log_prob", "m", "t.csv", "--given", "zz"}), HasSubstr("zz"));
  EXPECT_THAT(refusal(kUsage, {"log_prob", "m", "t.csv", "--given", "a", "--explain"}),
              HasSubstr("whole rows"));
}

TEST_F(GapCommands, RefuseToDrawHundredsOfColumnsGivenOthers) {
  std::string header = "x0";
  for (int column = 1; column < 203; ++column) header += ",x" + std::to_string(column);
  file("wide.csv", lines(header, 40, [](Draws& draws, int) {
         std::string row = text_of(draws.normal());
         for (int column = 1; column < 203; ++column) row += "," + text_of(draws.normal());
         return row;
       }));
  good({"fit", "wide.csv", "-o", "wide", "--members", "1", "--set", "iterations=1", "--set",
        "flow.hidden=4"});
  EXPECT_THAT(refusal(kUsage, {"sample", "wide", "-n", "2", "--given", "x0=0"}),
              AllOf(HasSubstr("202 columns are not given"), HasSubstr("--condition")));
  EXPECT_THAT(refusal(kUsage, {"log_prob", "wide", "wide.csv", "--columns", "x7"}),
              HasSubstr("202 columns are not given"));
}

TEST_F(GapCommands, SeveralFitsKeepGapsAndWeights) {
  const Arguments quick{"--set", "iterations=5", "--set", "flow.hidden=8"};
  const auto fitted = [&](const Arguments& more) {
    return Arguments{"fit", "t.csv", "-o", "n"} + quick + more;
  };
  EXPECT_THAT(
      good(fitted({"--missing", "keep"})).out,
      AllOf(HasSubstr("199 training rows, each held out by 2 of 10 fits"), HasSubstr("mixture")));
  EXPECT_THAT(good({"log_prob", "n", "t.csv", "--percentile", "-o", "p.csv"}).err,
              HasSubstr("have no p_value"));
  file("w.csv", lines("a,b,w", 100, [](Draws& draws, int row) {
         return text_of(draws.normal()) + "," + text_of(draws.normal()) + "," +
                std::to_string(row % 3);
       }));
  const auto json = good(Arguments{"fit", "w.csv", "-o", "w", "--weights", "w", "--members", "4",
                                   "--json", "-q"} +
                         quick)
                        .json();
  EXPECT_EQ(json.at("result").at("members"), 4);
  EXPECT_EQ(json.at("result").at("blend").size(), 3U);
  // Several of complete rows know what follows from some of their columns, too.
  good(fitted({"--members", "2"}));
  EXPECT_EQ(Cells(good({"sample", "n", "-n", "7", "--given", "a=1"}).out).rows(), 7U);
  EXPECT_THAT(good({"impute", "n", "t.csv", "-o", "n.csv"}).err, HasSubstr("cells filled"));
}

// Notations of the table are those of what is given and filled in.
TEST_F(GapCommands, CellsAreWrittenAsTheTableIs) {
  file("euros.csv", lines("day;price", 80, [](Draws& draws, int row) {
         const int cents = 1000 + static_cast<int>(200 * draws.normal());
         const std::string price = std::to_string(cents / 100) + "," +
                                   std::to_string(cents / 10 % 10) + std::to_string(cents % 10);
         const std::string day = std::to_string(10 + cents / 7 % 20) + ".03.2021";
         return (row % 9 == 0 ? "-" : day) + ";" + (row % 9 == 4 ? "-" : price);
       }));
  fit("euros.csv", "euros");
  const Outcome drawn = good({"impute", "euros", "euros.csv"});
  std::istringstream stream(drawn.out);
  std::string line;
  std::getline(stream, line);
  EXPECT_EQ(line, "day;price");
  for (std::size_t row = 0; std::getline(stream, line); ++row) {
    EXPECT_THAT(line,
                ::testing::MatchesRegex("[0-9][0-9]\\.[0-9][0-9]\\.20[0-9]+;-?[0-9]+,[0-9][0-9]"));
  }
  EXPECT_THAT(good({"sample", "euros", "-n", "2", "--given", "day=14.03.2021"}).out,
              HasSubstr("14.03.2021;"));
}

TEST_F(GapCommands, WeightsCount) {
  file("w.csv", lines("x,w", 120, [](Draws& draws, int row) {
         return text_of(draws.normal() + (row % 2 == 0 ? 4 : 0)) + (row % 2 == 0 ? ",0" : ",2");
       }));
  fit("w.csv", "w", {"--weights", "w"});
  EXPECT_EQ(Cells(good({"sample", "w", "-n", "3"}).out).names(), std::vector<std::string>{"x"});
  const Outcome weighted = good({"evaluate", "w", "w.csv"});
  EXPECT_THAT(weighted.out, HasSubstr("as much as column \"w\" says"));
  file("plain.csv", "x\n1\n2\n3\n");
  EXPECT_THAT(good({"evaluate", "w", "plain.csv"}).out, Not(HasSubstr("as much as")));
  EXPECT_THAT(refusal(kBadInput, {"evaluate", "w", "plain.csv", "--weights", "v"}),
              HasSubstr("\"v\""));
  const auto refused = [&](const std::string& line) {
    file("bad.csv", with_line(bytes("w.csv"), 5, line));
    return refusal(kBadInput,
                   Arguments{"fit", "bad.csv", "-o", "n"} + tiny() + Arguments{"--weights", "w"});
  };
  EXPECT_THAT(refused("1,-1"), AllOf(HasSubstr("bad.csv:5:2"), HasSubstr("-1")));
  EXPECT_THAT(refused("1,"), AllOf(HasSubstr("bad.csv:5:2"), HasSubstr("missing")));
  EXPECT_THAT(refusal(kBadInput,
                      Arguments{"fit", "w.csv", "-o", "n"} + tiny() + Arguments{"--weights", "zz"}),
              HasSubstr("\"zz\""));
}

}  // namespace
}  // namespace jeffreys::testing
