// Training that diverges ends with exit code 4 and a model of its last good state.
#include <cmath>

#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct DivergingFit {
  std::string name;
  Arguments options;
};
void PrintTo(const DivergingFit& tested, std::ostream* stream) { *stream << tested.name; }

class Diverged : public ProgramTest, public ::testing::WithParamInterface<DivergingFit> {
 protected:
  Diverged() {
    file("t.csv", two_columns());
    outcome_ = run(Arguments{"fit", "t.csv", "-o", "m"} + tiny("100") +
                   Arguments{"--set", "learning_rate.main=1e30"} + GetParam().options);
  }
  Outcome outcome_;
};

TEST_P(Diverged, IsSaidAndRecorded) {
  EXPECT_EQ(outcome_.exit_code, kDiverged) << ::testing::PrintToString(outcome_);
  EXPECT_THAT(outcome_.out,
              AllOf(HasSubstr("DIVERGED"), HasSubstr("last good state"), HasSubstr("learning")));
  const auto record = nlohmann::json::parse(bytes("m.run.json"));
  EXPECT_EQ(record.at("result").at("stop_reason"), "diverged");
  EXPECT_EQ(names(), (std::set<std::string>{"t.csv", "m", "m.run.json"}));
}

TEST_P(Diverged, ModelIsTheLastGoodState) {
  ASSERT_EQ(outcome_.exit_code, kDiverged);
  EXPECT_THAT(outcome_.out, Not(HasSubstr("nan +- nan")));
  for (const std::string& cell : Cells(good({"log_prob", "m", "t.csv"}).out).column("log_prob")) {
    ASSERT_NE(cell, "NA") << "a density that is not a number";
    EXPECT_TRUE(std::isfinite(std::stod(cell)));
  }
  for (const double x : Cells(good({"sample", "m", "-n", "50"}).out).numbers("x")) {
    EXPECT_TRUE(std::isfinite(x));
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Diverged,
                         ::testing::Values(DivergingFit{"Dual", {"--method", "dual"}},
                                           DivergingFit{"Likelihood", {"--method", "mle"}},
                                           DivergingFit{"Energy", {"--proxy", "energy"}}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace jeffreys::testing
