#include "jeffreys/sbi/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "jeffreys/base/input_error.h"
#include "sbi/small_simulations.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using ::testing::AllOf;
using testing::bytes_of;
using testing::csv_of;
using testing::draw;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::make_sums;
using testing::options;
using testing::problem_of;

class Simulate : public testing::ScratchTest {
 protected:
  SimulateOptions with_journal(std::int64_t rows, std::int64_t rows_per_call) const {
    SimulateOptions result = options(rows, rows_per_call);
    result.journal = path("journal");
    return result;
  }
};

TEST_F(Simulate, TheTableHasGoodRowsInOrder) {
  const Simulations result = simulate(*make_sums(), draw, options(25, 10));
  ASSERT_EQ(result.table.columns.size(), 4);
  EXPECT_EQ(result.table.columns[0].name, "a");
  EXPECT_EQ(result.table.columns[2].name, "x1");
  EXPECT_EQ(result.table.columns[3].name, "x2");
  EXPECT_THAT(std::vector<double>(result.table.columns[0].numbers.begin(),
                                  result.table.columns[0].numbers.begin() + 6),
              ElementsAre(0, 1, 2, 3, 5, 6));
  ASSERT_EQ(result.table.rows(), 22);
  for (std::size_t i = 0; i < 22; ++i) {
    EXPECT_EQ(result.table.columns[2].numbers[i],
              result.table.columns[0].numbers[i] + result.table.columns[1].numbers[i]);
    EXPECT_EQ(result.table.columns[3].numbers[i], 3);
  }
  EXPECT_EQ(result.report.requested, 25);
  EXPECT_EQ(result.report.finished, 22);
  EXPECT_EQ(result.report.failed(), 3);
  EXPECT_EQ(result.report.calls, 3);
  EXPECT_FALSE(result.report.stopped);
  const FailureCount& failures = result.report.failures.at(FailureKind::not_finite);
  EXPECT_EQ(failures.rows, 3);
  EXPECT_THAT(failures.first_message, HasSubstr("row 4: outcome 1"));
}

TEST_F(Simulate, ThreadsGiveTheSameBytes) {
  SimulateOptions two = with_journal(1000, 7);
  two.processes = 2;
  EXPECT_EQ(csv_of(simulate(*make_sums(), draw, two)),
            csv_of(simulate(*make_sums(), draw, options(1000, 7))));
}

// Without noise, so that any split into calls gives the same.
TEST_F(Simulate, ThreadsGiveTheSameBytesForACommandWithFailures) {
  const std::string command =
      "awk -F, '$1 % 10 == 4 {exit 2} {printf \"%.17g,%d\\n\", $1 + $2, "
      "ENVIRON[\"JEFFREYS_SEED\"]}'";
  SimulateOptions three = with_journal(60, 8);
  three.processes = 3;
  const Simulations result = simulate(*make_command_simulator({.command = command}), draw, three);
  EXPECT_EQ(csv_of(result), csv_of(simulate(*make_sums(), draw, options(60, 8))));
  EXPECT_EQ(result.report.failures.at(FailureKind::failed).rows, 6);
}

TEST_F(Simulate, GivesUpWhenMoreThanHalfFail) {
  const auto bad = make_function_simulator(
      [](const MatrixView<double>& p, std::uint64_t, std::uint64_t) {
        Matrix<double> outcomes = p.leftCols(1);
        for (double& value : outcomes.reshaped()) value = std::fmod(value, 5) < 3 ? 0 / 0.0 : value;
        return outcomes;
      },
      1);
  const SimulateOptions many = with_journal(10000, 50);
  const auto problem = [&] {
    return problem_of(many.journal, [&](const auto&) { simulate(*bad, draw, many); });
  };
  EXPECT_THAT(problem(), AllOf(HasSubstr("120 of 200 simulations failed"), HasSubstr("not_finite"),
                               HasSubstr("row 0")));
  EXPECT_THAT(bytes_of(path("journal")), HasSubstr("# end of rows 150 to 199,"));
  EXPECT_THAT(problem(), HasSubstr("120 of 200"));
  EXPECT_EQ(simulate(*bad, draw, options(199, 50)).report.failed(), 120);
}

TEST_F(Simulate, NoRowAtAllIsAnInputError) {
  SimulateOptions few = options(10, 4);
  const auto fails = make_command_simulator({.command = "echo broken >&2; exit 1"});
  EXPECT_THAT(problem_of("", [&](const auto&) { simulate(*fails, draw, few); }),
              AllOf(HasSubstr("10 of 10 simulations failed"), HasSubstr("broken")));
  few.processes = 2;
  const auto absent = make_command_simulator({.command = "no_such_simulator"});
  EXPECT_THROW(simulate(*absent, draw, few), InputError);
}

TEST_F(Simulate, OutcomesMayBecomeKnownLate) {
  // The first two calls give nothing.
  const auto late = make_command_simulator({.command = "awk -F, '$1 < 6 {print \"nan\"; next} 1'"});
  SimulateOptions chosen = with_journal(15, 3);
  chosen.processes = 2;
  const Simulations result = simulate(*late, draw, chosen);
  EXPECT_EQ(result.table.columns.size(), 4);
  EXPECT_EQ(result.report.finished, 9);
  const Simulations again = simulate(*late, draw, chosen);
  EXPECT_EQ(csv_of(again), csv_of(result));
  EXPECT_EQ(again.report.calls, 0);
}

TEST_F(Simulate, OutcomesHaveToFitTheirNames) {
  SimulateOptions chosen = options(10, 5);
  chosen.outcome_names = {"x", "y", "z"};
  const auto problem = [&](const Simulator& simulator) {
    return problem_of("", [&](const auto&) { simulate(simulator, draw, chosen); });
  };
  EXPECT_THAT(problem(*make_sums()), HasSubstr("gives 2 outcomes, but 3 are named: x, y, z"));
  EXPECT_THAT(problem(*make_command_simulator({.command = "cat"})),
              HasSubstr("gives 2 outcomes, but 3"));
  chosen.outcome_names = {};
  chosen.parameter_names = {"x2", "x3"};
  EXPECT_THAT(problem(*make_sums()), HasSubstr("has the name of outcome x2"));
}

TEST_F(Simulate, CallersMistakesAreRefused) {
  const auto sums = make_sums();
  EXPECT_THROW(simulate(*sums, draw, options(0, 5)), std::invalid_argument);
  EXPECT_THROW(simulate(*sums, draw, options(5, 0)), std::invalid_argument);
  EXPECT_THROW(simulate(*sums, {}, options(5, 5)), std::invalid_argument);
  SimulateOptions chosen = options(5, 5);
  chosen.outcome_names = {"a", "x"};
  EXPECT_THROW(simulate(*sums, draw, chosen), std::invalid_argument);
  chosen = options(5, 5);
  chosen.parameter_names = {"a"};
  EXPECT_THROW(simulate(*sums, draw, chosen), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys
