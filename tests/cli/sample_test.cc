// Samples: seeds, the two models, and every format.
#include "cli/program.h"
#include "cli/tables.h"
#include "jeffreys/storage/npy.h"
#include "jeffreys/storage/npz.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SampleCommand : public ProgramTest {
 protected:
  SampleCommand() {
    file("t.csv", two_columns());
    fit("t.csv", "m");
  }
};

TEST_F(SampleCommand, SeedDecides) {
  const auto draw = [&](const Arguments& more) {
    return good(Arguments{"sample", "m", "-n", "20"} + more).out;
  };
  EXPECT_EQ(draw({"--seed", "5"}), draw({"--seed", "5"}));
  EXPECT_NE(draw({"--seed", "5"}), draw({"--seed", "6"}));
  EXPECT_EQ(draw({}), draw({"--seed", "0"}));
}

TEST_F(SampleCommand, ComesFromTheModelAskedFor) {
  const auto draw = [&](const Arguments& more) {
    return good(Arguments{"sample", "m", "-n", "20"} + more).out;
  };
  const std::string chosen = good({"inspect", "m", "--json"}).json().at("default");
  EXPECT_NE(draw({"--from", "main"}), draw({"--from", "proxy"}));
  EXPECT_EQ(draw({}), draw({"--from", chosen}));
}

TEST_F(SampleCommand, EnergyProxyIsSampledByAChain) {
  fit("t.csv", "e", {"--proxy", "energy"});
  const Outcome proxy = good({"sample", "e", "-n", "20", "--from", "proxy"});
  EXPECT_THAT(proxy.err, HasSubstr("Markov chain"));
  EXPECT_EQ(Cells(proxy.out).rows(), 20u);
  EXPECT_EQ(proxy.out, good({"sample", "e", "-n", "20", "--from", "proxy"}).out);
  EXPECT_EQ(good({"sample", "e", "-n", "20", "--from", "main"}).err, "");
}

TEST_F(SampleCommand, FormatsHoldTheSameRows) {
  for (const char* name : {"s.csv", "s.npy", "s.npz"}) good({"sample", "m", "-n", "9", "-o", name});
  EXPECT_EQ(bytes("s.csv"), good({"sample", "m", "-n", "9"}).out);
  EXPECT_EQ(bytes("s.csv"), good({"sample", "m", "-n", "9", "-o", "-"}).out);
  const storage::Array npy = storage::read_npy(path("s.npy"));
  EXPECT_EQ(npy.shape, (std::vector<std::int64_t>{9, 2}));
  EXPECT_EQ(storage::read_npz(path("s.npz")), (storage::Arrays{{"x", npy}}));
  const Cells csv(bytes("s.csv"));
  const std::vector<double> values = npy.values<double>();
  for (std::size_t row = 0; row < 9; ++row) {
    EXPECT_EQ(csv.numbers("x").at(row), values.at(2 * row));
    EXPECT_EQ(csv.numbers("y").at(row), values.at(2 * row + 1));
  }
}

TEST_F(SampleCommand, ArraysAreTablesToo) {
  good({"sample", "m", "-n", "80", "-o", "s.npy"});
  good({"sample", "m", "-n", "80", "-o", "s.npz"});
  fit("s.npy", "from_npy");
  fit("s.npz", "from_npz", {"--array", "x"});
  EXPECT_EQ(Cells(good({"sample", "from_npy", "-n", "3"}).out).names(),
            (std::vector<std::string>{"x1", "x2"}));
  EXPECT_EQ(good({"sample", "from_npy", "-n", "3"}).out,
            good({"sample", "from_npz", "-n", "3"}).out);
  EXPECT_THAT(refusal(kBadInput, {"fit", "s.npz", "-o", "n", "--array", "zz"}),
              AllOf(HasSubstr("s.npz"), HasSubstr("zz")));
}

TEST_F(SampleCommand, LabelsNeedText) {
  file("mixed.csv", mixed_columns());
  fit("mixed.csv", "l");
  EXPECT_THAT(refusal(kBadInput, {"sample", "l", "-n", "3", "-o", "s.npy"}),
              AllOf(HasSubstr("s.npy: "), HasSubstr("\"colour\""), HasSubstr(".csv")));
}

TEST_F(SampleCommand, ManyRowsBeginAsFewDo) {
  const std::string few = good({"sample", "m", "-n", "10"}).out;
  const std::string many = good({"sample", "m", "-n", "70000", "-o", "-"}).out;
  EXPECT_EQ(many.substr(0, few.size()), few);
  EXPECT_EQ(std::count(many.begin(), many.end(), '\n'), 70001);
}

TEST_F(SampleCommand, RefusesNumbersOfRowsThatAreNone) {
  for (const char* rows : {"0", "-3", "x", "1.5", "10000000000"}) {
    EXPECT_THAT(refusal(kUsage, {"sample", "m", "-n", rows}), HasSubstr("--rows"));
  }
  EXPECT_THAT(refusal(kUsage, {"sample", "m"}), HasSubstr("--rows"));
}

TEST_F(SampleCommand, RefusesToSpeakForAProxyThatIsNotThere) {
  fit("t.csv", "l", {"--method", "mle"});
  for (const Arguments& command :
       {Arguments{"sample", "l", "-n", "3"}, Arguments{"log_prob", "l", "t.csv"},
        Arguments{"export", "zuko", "l", "-o", "z.npz"}}) {
    EXPECT_THAT(refusal(kUsage, command + Arguments{"--from", "proxy"}),
                AllOf(HasSubstr("--from"), HasSubstr("no proxy")));
  }
  EXPECT_THAT(refusal(kUsage, {"sample", "m", "-n", "3", "--from", "both"}), HasSubstr("--from"));
}

class Given : public ProgramTest {
 protected:
  Given() {
    file("t.csv", mixed_columns());
    fit("t.csv", "m", {"--condition", "group,level", "--ignore", "count,price,colour"});
  }
  std::string refused(int code, const Arguments& more) const {
    return refusal(code, Arguments{"sample", "m", "-n", "3"} + more);
  }
};

TEST_F(Given, MustBeComplete) {
  EXPECT_THAT(refused(kBadInput, {}), HasSubstr("group"));
  EXPECT_THAT(refused(kBadInput, {"--given", "group=north"}), HasSubstr("level"));
}

TEST_F(Given, MustBeColumnsOfTheModel) {
  EXPECT_THAT(refused(kBadInput, {"--given", "group=north,level=0,count=3"}),
              AllOf(HasSubstr("count"), HasSubstr("height, group, level")));
  EXPECT_THAT(refused(kBadInput, {"--given", "group=north,level=0,height=3"}),
              HasSubstr("nothing is left"));
}

TEST_F(Given, MustBeGivenOnce) {
  EXPECT_THAT(refused(kUsage, {"--given", "group=north,level=0,level=1"}), HasSubstr("level"));
}

TEST_F(Given, MustHaveValuesThatTheModelKnows) {
  EXPECT_THAT(refused(kBadInput, {"--given", "group=west,level=0"}),
              AllOf(HasSubstr("west"), HasSubstr("north")));
  EXPECT_THAT(refused(kBadInput, {"--given", "group=north,level=high"}), HasSubstr("high"));
  EXPECT_THAT(refused(kBadInput, {"--given", "group=north,level=inf"}), HasSubstr("level"));
  EXPECT_THAT(refused(kUsage, {"--given", "group"}), HasSubstr("COLUMN=VALUE"));
}

TEST_F(Given, FileMustFitToo) {
  file("g1.csv", "group,level\nnorth,1\nwest,2\n");
  EXPECT_THAT(refused(kBadInput, {"--given-file", "g1.csv"}),
              AllOf(HasSubstr("g1.csv:3:1: "), HasSubstr("west")));
  file("g2.csv", "group\nnorth\nsouth\n");
  EXPECT_THAT(refused(kBadInput, {"--given-file", "g2.csv"}),
              AllOf(HasSubstr("g2.csv"), HasSubstr("level")));
  file("g3.csv", "group,level\nnorth,1\nnorth,\n");
  EXPECT_THAT(refused(kBadInput, {"--given-file", "g3.csv"}), HasSubstr("g3.csv:3:2: "));
  EXPECT_THAT(refused(kUsage, {"--given-file", "g1.csv", "--given", "level=1"}),
              HasSubstr("exclude"));
}

TEST_F(Given, MayBeColumnsThatAreNoConditions) {
  fit("t.csv", "plain", {"--ignore", "count,price,colour,group"});
  good({"sample", "plain", "-n", "3", "--given", "level=1"});
  file("g.csv", "level\n1\n0.5\n");
  EXPECT_EQ(Cells(good({"sample", "plain", "-n", "3", "--given-file", "g.csv"}).out).rows(), 6u);
  file("other.csv", "depth\n1\n2\n");
  EXPECT_THAT(refusal(kUsage, {"sample", "plain", "-n", "3", "--given-file", "other.csv"}),
              HasSubstr("no column of the model"));
}

}  // namespace
}  // namespace jeffreys::testing
