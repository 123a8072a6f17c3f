// The same seed gives the same bytes, on any number of threads.
#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

struct Case {
  std::string name;
  Arguments options;
};
void PrintTo(const Case& tested, std::ostream* stream) { *stream << tested.name; }

class Determinism : public ProgramTest, public ::testing::WithParamInterface<Case> {};

TEST_P(Determinism, ModelsDoNotDependOnThreads) {
  file("t.csv", mixed_columns(200));
  const Arguments options = GetParam().options + Arguments{"--seed", "3"};
  fit("t.csv", "one", options + Arguments{"--threads", "1"});
  fit("t.csv", "two", options + Arguments{"--threads", "2"});
  fit("t.csv", "three", options + Arguments{"--threads", "3"});
  fit("t.csv", "all", options);
  fit("t.csv", "other", GetParam().options + Arguments{"--seed", "4"});
  EXPECT_GT(bytes("one").size(), 1000u);
  EXPECT_TRUE(bytes("one") == bytes("two"));
  EXPECT_TRUE(bytes("one") == bytes("three"));
  EXPECT_TRUE(bytes("one") == bytes("all"));
  EXPECT_FALSE(bytes("one") == bytes("other"));
}

INSTANTIATE_TEST_SUITE_P(
    Methods, Determinism,
    ::testing::Values(Case{"Flow", {"--proxy", "flow"}}, Case{"Energy", {"--proxy", "energy"}},
                      Case{"Conditional", {"--proxy", "energy", "--condition", "level,group"}},
                      Case{"Minibatches", {"--set", "batch_size=32"}},
                      Case{"Likelihood", {"--method", "mle-noise"}}),
    [](const auto& test) { return test.param.name; });

class SameTable : public ProgramTest {};

TEST_F(SameTable, NamesOfFilesDoNotMatterToSamples) {
  file("a.csv", two_columns());
  file("b.csv", two_columns());
  fit("a.csv", "a");
  fit("b.csv", "b");
  EXPECT_EQ(good({"sample", "a", "-n", "50"}).out, good({"sample", "b", "-n", "50"}).out);
}

}  // namespace
}  // namespace jeffreys::testing
