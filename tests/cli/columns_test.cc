// Columns of every kind come back from samples as they went in.
#include <algorithm>
#include <numeric>

#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

class Columns : public ProgramTest {
 protected:
  Columns() { file("t.csv", mixed_columns()); }

  Cells samples(const std::string& model, const Arguments& more = {}) const {
    return Cells(good(Arguments{"sample", model, "-n", "200"} + more).out);
  }
};

TEST_F(Columns, AreDecodedToWhatTheTableHolds) {
  for (const char* proxy : {"flow", "energy"}) {
    fit("t.csv", "m", {"--proxy", proxy});
    for (const char* from : {"main", "proxy"}) {
      const Cells drawn = samples("m", {"--from", from});
      EXPECT_EQ(drawn.names(), Cells(mixed_columns(1)).names());
      EXPECT_THAT(drawn.column("group"), Each(AnyOf("north", "south")));
      EXPECT_THAT(drawn.column("colour"), Each(AnyOf("red", "\"dark \"\"blue\"\"\"", "green")));
      for (const double count : drawn.numbers("count")) EXPECT_EQ(count, std::round(count));
      for (const double price : drawn.numbers("price")) {
        EXPECT_NEAR(20 * price, std::round(20 * price), 1e-9) << "a multiple of 0.05";
      }
    }
  }
}

TEST_F(Columns, DeclaredKindsHold) {
  fit("t.csv", "m", {"--categorical", "count", "--ignore", "level,group"});
  const Cells drawn = samples("m");
  EXPECT_THAT(drawn.column("count"), Each(AnyOf("0", "1", "2", "3", "4", "5")));
  EXPECT_EQ(drawn.names(), (std::vector<std::string>{"height", "count", "price", "colour"}));
  file("ints.csv", lines("a,b", 80, [](Draws& draws, int row) {
         return std::to_string(row * row) + "," + text_of(draws.normal());
       }));
  fit("ints.csv", "i", {"--integer", "a"});
  for (const double a : samples("i").numbers("a")) EXPECT_EQ(a, std::round(a));
}

TEST_F(Columns, TiesAreKeptIfToldSo) {
  fit("t.csv", "m", {"--ties", "keep", "--ignore", "colour,group"});
  const std::vector<double> prices = samples("m").numbers("price");
  EXPECT_TRUE(std::any_of(prices.begin(), prices.end(),
                          [](double p) { return std::abs(20 * p - std::round(20 * p)) > 1e-6; }));
}

TEST_F(Columns, BoundsAreNeverLeft) {
  file("b.csv", lines("share,positive,below", 120, [](Draws& draws, int row) {
         // Some values lie at the bounds.
         return text_of(row % 20 == 0 ? 0.0 : draws.uniform()) + "," +
                text_of(std::exp(2 * draws.normal())) + "," + text_of(3 - std::abs(draws.normal()));
       }));
  for (const char* proxy : {"flow", "energy"}) {
    fit("b.csv", "m",
        {"--proxy", proxy, "--bound", "share=0:1,positive=0:", "--bound", "below=:3"});
    for (const char* from : {"main", "proxy"}) {
      const Cells drawn(good({"sample", "m", "-n", "5000", "--from", from}).out);
      EXPECT_THAT(drawn.numbers("share"), Each(AllOf(Ge(0), Le(1))));
      EXPECT_THAT(drawn.numbers("positive"), Each(Ge(0)));
      EXPECT_THAT(drawn.numbers("below"), Each(Le(3)));
    }
  }
}

TEST_F(Columns, ConditionsSteerSamples) {
  for (const char* proxy : {"flow", "energy"}) {
    fit("t.csv", "m",
        {"--condition", "group,level", "--ignore", "count,price,colour", "--proxy", proxy, "--set",
         "iterations=300", "--set", "averaging=0", "--set", "learning_rate.main=1e-2"});
    // Heights are 10 + level in the north and -10 + level in the south, deviation 0.5.
    const Cells north = samples("m", {"--from", "main", "--given", "group=north,level=0"});
    const Cells south =
        samples("m", {"--from", "main", "--given", "group=south", "--given", "level=0.5"});
    EXPECT_GT(mean(north.numbers("height")), mean(south.numbers("height")) + 2);
    if (std::string(proxy) == "flow") {
      EXPECT_GT(mean(north.numbers("height")), 3);
      EXPECT_LT(mean(south.numbers("height")), -3);
    }
    EXPECT_THAT(north.column("group"), Each("north"));
    EXPECT_THAT(south.column("group"), Each("south"));
    for (const double level : south.numbers("level")) EXPECT_NEAR(level, 0.5, 1e-12);
    EXPECT_EQ(samples("m", {"--from", "proxy", "--given", "group=north,level=0"}).rows(), 200u);
    EXPECT_EQ(Cells(good({"log_prob", "m", "t.csv", "--from", "proxy"}).out).rows(), 150u);
  }
}

TEST_F(Columns, ConditionsComeFromAFile) {
  fit("t.csv", "m", {"--condition", "group,level", "--ignore", "count,price,colour"});
  file("given.csv", "level,group\n0.25,south\n-1,north\n0.5,north\n");
  const Cells drawn(good({"sample", "m", "-n", "2", "--given-file", "given.csv"}).out);
  EXPECT_EQ(drawn.column("group"),
            (std::vector<std::string>{"south", "south", "north", "north", "north", "north"}));
  const std::vector<double> level = drawn.numbers("level");
  EXPECT_NEAR(level.at(0), 0.25, 1e-12);
  EXPECT_NEAR(level.at(2), -1, 1e-12);
  EXPECT_NEAR(level.at(5), 0.5, 1e-12);
  EXPECT_NE(drawn.column("height").at(0), drawn.column("height").at(1));
}

TEST_F(Columns, ConstantsAndCopiesAreReportedAndRestored) {
  file("c.csv", lines("a,k,b,twin", 60, [](Draws& draws, int) {
         const std::string a = text_of(draws.normal());
         return a + ",7.5," + text_of(draws.normal()) + "," + a;
       }));
  const Outcome outcome = fit("c.csv", "m");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("2 columns modelled"), HasSubstr("\"k\""),
                                 HasSubstr("\"twin\" equals column \"a\"")));
  const Cells drawn = samples("m");
  EXPECT_THAT(drawn.column("k"), Each("7.5"));
  EXPECT_EQ(drawn.column("twin"), drawn.column("a"));
  EXPECT_THAT(good({"inspect", "m"}).out, AllOf(HasSubstr("constant"), HasSubstr("copy")));
}

TEST_F(Columns, MoreColumnsThanRowsAreWarnedAbout) {
  std::string header = "c0";
  for (int k = 1; k < 30; ++k) header += ",c" + std::to_string(k);
  file("wide.csv", lines(header, 20, [](Draws& draws, int) {
         std::string line = text_of(draws.normal());
         for (int k = 1; k < 30; ++k) line += "," + text_of(draws.normal());
         return line;
       }));
  EXPECT_THAT(fit("wide.csv", "m").out, HasSubstr("more columns (30) than training rows (16)"));
  EXPECT_EQ(samples("m").names().size(), 30u);
}

// Labels and atoms go with every model and method.
TEST_F(Columns, OfLabelsAndAtomsAreFittedByEveryMethod) {
  file("labels.csv", lines("site,kind,rain", 150, [](Draws& draws, int row) {
         return std::string(row % 3 == 0 ? "north," : "south,") + (row % 2 == 0 ? "a," : "b,") +
                (draws.uniform() < 0.4 ? "0" : text_of(-std::log(draws.uniform())));
       }));
  const std::vector<Arguments> ways{
      {"--proxy", "energy"},       {"--method", "mle-noise"},
      {"--method", "mle-entropy"}, {"--set", "main=mixture", "--proxy", "mixture"},
      {"--ignore", "rain"},        {"--ignore", "rain", "--proxy", "energy"}};
  for (const Arguments& way : ways) {
    fit("labels.csv", "m", way);
    const Cells drawn = samples("m");
    EXPECT_THAT(drawn.column("site"), Each(AnyOf("north", "south")));
    EXPECT_THAT(drawn.column("kind"), Each(AnyOf("a", "b")));
    for (const double score :
         Cells(good({"log_prob", "m", "labels.csv"}).out).numbers("log_prob")) {
      EXPECT_TRUE(std::isfinite(score));
    }
    if (way.front() == "--ignore") continue;
    const std::vector<double> rain = drawn.numbers("rain");
    const auto zeros = std::count(rain.begin(), rain.end(), 0.0);
    EXPECT_TRUE(zeros > 30 && zeros < 140) << zeros;
  }
}

}  // namespace
}  // namespace jeffreys::testing
