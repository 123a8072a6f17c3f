#include "jeffreys/sbi/simulator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "jeffreys/base/input_error.h"
#include "jeffreys/truth/task.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// One parameter: 0, 1, 2, ...
Matrix<double> numbers(Eigen::Index rows) {
  return Vector<double>::LinSpaced(rows, 0, static_cast<double>(rows - 1));
}

SimulatedBatch run(const std::string& command, const MatrixView<double>& parameters,
                   double seconds = 20) {
  return make_command_simulator({.command = command, .seconds = seconds})
      ->simulate(parameters, 5, 100);
}

auto failure(Eigen::Index row, FailureKind kind, const std::string& text) {
  return AllOf(Field("row", &Failure::row, row), Field("kind", &Failure::kind, kind),
               Field("message", &Failure::message, HasSubstr(text)));
}

// All rows but those that failed hold their own parameter, and those nothing.
void expect_own_numbers(const SimulatedBatch& batch) {
  auto failed = batch.failures.begin();
  for (Eigen::Index i = 0; i < batch.outcomes.rows(); ++i) {
    if (failed != batch.failures.end() && failed->row == i) {
      ++failed;
      EXPECT_TRUE(batch.outcomes.row(i).array().isNaN().all()) << i;
    } else {
      EXPECT_EQ(batch.outcomes(i, 0), static_cast<double>(i));
    }
  }
}

TEST(TaskSimulator, NoiseOfARowDoesNotDependOnTheSplit) {
  const auto simulator = make_task_simulator("two_moons");
  const Matrix<double> parameters = make_task("two_moons")->sample_prior(50, 3);
  const SimulatedBatch whole = simulator->simulate(parameters, 7, 10);
  EXPECT_EQ(whole.calls, 1);
  EXPECT_THAT(whole.failures, IsEmpty());
  for (const Eigen::Index cut : {1, 20, 49}) {
    const auto first = static_cast<std::uint64_t>(cut);
    EXPECT_EQ(simulator->simulate(parameters.topRows(cut), 7, 10).outcomes,
              whole.outcomes.topRows(cut));
    EXPECT_EQ(simulator->simulate(parameters.bottomRows(50 - cut), 7, 10 + first).outcomes,
              whole.outcomes.bottomRows(50 - cut));
  }
  EXPECT_NE(simulator->simulate(parameters, 8, 10).outcomes, whole.outcomes);
  EXPECT_THROW(make_task_simulator("no_such_task"), std::invalid_argument);
}

TEST(FunctionSimulator, AnExceptionCostsItsRowAlone) {
  const auto simulator = make_function_simulator(
      [](const MatrixView<double>& parameters, std::uint64_t, std::uint64_t) -> Matrix<double> {
        if ((parameters.array() == 4).any()) throw std::runtime_error("four is bad");
        Matrix<double> outcomes = parameters;
        for (double& value : outcomes.reshaped()) value = value == 6 ? 1 / 0.0 : value;
        return outcomes;
      },
      1);
  const SimulatedBatch batch = simulator->simulate(numbers(9), 0);
  EXPECT_THAT(batch.failures, ElementsAre(failure(4, FailureKind::failed, "four is bad"),
                                          failure(6, FailureKind::not_finite, "infinite")));
  expect_own_numbers(batch);
  EXPECT_EQ(batch.calls, 10);
}

TEST(FunctionSimulator, RefusesMistakes) {
  const auto wide = make_function_simulator(
      [](const MatrixView<double>& p, std::uint64_t, std::uint64_t) { return Matrix<double>(p); },
      2);
  EXPECT_THROW(wide->simulate(numbers(2), 0), std::invalid_argument);
  EXPECT_THROW(wide->simulate(Matrix<double>::Constant(1, 2, 0 / 0.0), 0), std::invalid_argument);
  EXPECT_THROW(make_function_simulator({}, 1), std::invalid_argument);
}

TEST(CommandSimulator, NumbersComeBackExactly) {
  Matrix<double> parameters(3, 3);
  parameters << 0.1, 1e-300, 1.0 / 3, -1e22, 123456789, 5e-324, -0.0, 1, 1.7976931348623157e308;
  for (const char* command : {"cat", "tr , ' '", "sed 's/,/ ,\t/g;s/$/\\r/'"}) {
    const SimulatedBatch batch = run(command, parameters);
    EXPECT_THAT(batch.failures, IsEmpty()) << command;
    EXPECT_EQ(batch.outcomes, parameters) << command;
  }
}

TEST(CommandSimulator, BigBatchesDoNotBlock) {
  constexpr Eigen::Index kRows = 200000;
  const char* line_by_line = "awk '{print $0}'";
  const char* reads_all_first = "awk '{l[NR]=$0} END {for (i=1; i<=NR; ++i) print l[i]}'";
  const char* reads_nothing = "awk 'BEGIN {for (i=0; i<200000; ++i) print i}'";
  const char* reads_late = "awk 'BEGIN {for (i=0; i<200000; ++i) print i}'; cat >/dev/null";
  for (const char* command : {line_by_line, reads_all_first, reads_nothing, reads_late}) {
    const SimulatedBatch batch = run(command, numbers(kRows));
    EXPECT_EQ(batch.calls, 1) << command;
    EXPECT_THAT(batch.failures, IsEmpty()) << command;
    EXPECT_EQ(batch.outcomes, numbers(kRows)) << command;
  }
}

TEST(CommandSimulator, ClosedInputRaisesNoSignal) {
  const SimulatedBatch batch = run("exec 0<&-; sleep 0.2; exit 0", numbers(1));
  EXPECT_THAT(batch.failures,
              ElementsAre(failure(0, FailureKind::missing_line, "wrote 0 lines for 1 rows")));
  run("awk 'BEGIN {for (i=0; i<50000; ++i) print i}'", numbers(50000));
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST(CommandSimulator, KnowsSeedAndFirstRow) {
  const SimulatedBatch batch = run("echo $JEFFREYS_SEED,$JEFFREYS_FIRST_ROW", numbers(1));
  EXPECT_EQ(batch.outcomes, (Matrix<double>(1, 2) << 5, 100).finished());
}

TEST(CommandSimulator, OneBadParameterCostsItsRowAlone) {
  const SimulatedBatch batch =
      run("awk '$1 == 7 {print \"no seven\" > \"/dev/stderr\"; exit 3} {print}'", numbers(20));
  EXPECT_THAT(batch.failures,
              ElementsAre(failure(7, FailureKind::failed, "exit code 3: \"no seven\"")));
  expect_own_numbers(batch);
  EXPECT_EQ(batch.calls, 1 + 13);  // what was written before the failure counts
}

TEST(CommandSimulator, ASignalIsAFailure) {
  const SimulatedBatch batch =
      run("while read n; do [ $n = 2 ] && kill -SEGV $$; echo $n; done", numbers(4));
  EXPECT_THAT(batch.failures, ElementsAre(failure(2, FailureKind::failed, "signal 11")));
  expect_own_numbers(batch);
}

TEST(CommandSimulator, SilentlyOmittedRowsShiftNothing) {
  const SimulatedBatch batch = run("awk '$1 % 10 != 3 {print}'", numbers(30));
  const auto missing = [](Eigen::Index row) {
    return failure(row, FailureKind::missing_line, "wrote 0 lines for 1 rows");
  };
  EXPECT_THAT(batch.failures, ElementsAre(missing(3), missing(13), missing(23)));
  expect_own_numbers(batch);
}

TEST(CommandSimulator, AnExtraLineShiftsNothing) {
  const SimulatedBatch batch = run("awk '$1 == 5 {print 77} {print}'", numbers(8));
  EXPECT_THAT(batch.failures, ElementsAre(failure(5, FailureKind::garbage, "one line for each")));
  expect_own_numbers(batch);
}

TEST(CommandSimulator, GarbageCostsItsRowAlone) {
  const SimulatedBatch batch =
      run("awk '$1 == 1 {print \"error, 2\"; next} $1 == 3 {print \"3,4,5\"; next} "
          "{print $1 \",0\"}'",
          numbers(5));
  EXPECT_THAT(batch.failures,
              ElementsAre(failure(1, FailureKind::garbage, "not numbers: \"error, 2\""),
                          failure(3, FailureKind::garbage, "expected 2 numbers, got 3")));
  expect_own_numbers(batch);
  EXPECT_EQ(batch.calls, 1);
}

TEST(CommandSimulator, AHeaderIsRecognised) {
  const SimulatedBatch batch = run("echo 'x,y'; sed 's/$/,1/'", numbers(3));
  EXPECT_THAT(batch.failures, SizeIs(3));
  EXPECT_THAT(batch.failures, Each(Field(&Failure::message, HasSubstr("write no header"))));
}

TEST(CommandSimulator, OutcomesThatAreNotFiniteAreMissing) {
  const SimulatedBatch batch =
      run("sed -e '1s/.*//' -e '2s/.*/nan/' -e '3s/.*/2,inf/' -e '4s/.*/3,/' -e '5s/$/,1/'; echo",
          numbers(5));
  EXPECT_THAT(batch.failures, ElementsAre(failure(0, FailureKind::not_finite, "no outcome"),
                                          failure(1, FailureKind::not_finite, "no outcome"),
                                          failure(2, FailureKind::not_finite, "outcome 2"),
                                          failure(3, FailureKind::not_finite, "outcome 2")));
  expect_own_numbers(batch);
  EXPECT_EQ(batch.calls, 1);
}

TEST(CommandSimulator, TheFirstGoodLineShowsTheNumberOfOutcomes) {
  const auto simulator = make_command_simulator({.command = "sed 's/^0$/nan/;s/^[12]$/&,0/'"});
  EXPECT_EQ(simulator->outcomes(), 0);
  EXPECT_EQ(simulator->simulate(numbers(1), 0).outcomes.cols(), 0);
  EXPECT_EQ(simulator->simulate(numbers(2), 0).outcomes.cols(), 2);
  EXPECT_EQ(simulator->outcomes(), 2);
  EXPECT_THAT(simulator->simulate(numbers(4), 0).failures,
              ElementsAre(failure(0, FailureKind::not_finite, ""),
                          failure(3, FailureKind::garbage, "expected 2 numbers, got 1")));
}

TEST(CommandSimulator, GivesUpOnABatchWithoutHope) {
  const SimulatedBatch batch = run("echo out of order >&2; exit 1", numbers(50));
  EXPECT_EQ(batch.calls, 21);
  EXPECT_THAT(batch.failures, SizeIs(50));
  EXPECT_THAT(batch.failures, Each(Field(&Failure::message, HasSubstr("out of order"))));
}

TEST(CommandSimulator, GivesUpSoonOnABatchThatHangs) {
  const SimulatedBatch batch = run("sleep 100", numbers(50), 0.2);
  EXPECT_EQ(batch.calls, 4);
  EXPECT_THAT(batch.failures, SizeIs(50));
  EXPECT_THAT(batch.failures, Each(Field(&Failure::kind, FailureKind::timed_out)));
}

TEST(CommandSimulator, AHangingRowCostsItselfAlone) {
  const SimulatedBatch batch =
      run("while read n; do [ $n = 2 ] && sleep 100; echo $n; done", numbers(5), 1);
  EXPECT_THAT(batch.failures,
              ElementsAre(failure(2, FailureKind::timed_out, "took more than 1 s")));
  expect_own_numbers(batch);
}

TEST(CommandSimulator, EndlessOutputEnds) {
  for (const char* command : {"yes 1", "cat /dev/zero", "yes ''"}) {
    EXPECT_THAT(run(command, numbers(1)).failures,
                ElementsAre(failure(0, FailureKind::garbage, "")))
        << command;
  }
}

TEST(CommandSimulator, DoesNotWaitForWhatTheCommandLeftBehind) {
  const SimulatedBatch batch = run("sleep 100 & cat", numbers(1), 10);
  EXPECT_THAT(batch.failures, IsEmpty());
}

using ProcessGroup = testing::ScratchTest;

TEST_F(ProcessGroup, NothingSurvivesTheTimeLimit) {
  const std::string late = path("late").string();
  run(fmt::format("(sleep 1; touch {}) & sleep 100", late), numbers(1), 0.2);
  std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  EXPECT_FALSE(std::filesystem::exists(late));
}

TEST(CommandSimulator, ACommandThatDoesNotExistIsAnInputError) {
  try {
    run("/no/such/simulator --fast", numbers(50));
    FAIL() << "no InputError";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/no/such/simulator --fast"),
                                    HasSubstr("cannot be run"), HasSubstr("not found")));
  }
}

TEST(CommandSimulator, StopsWhenAsked) {
  std::stop_source source;
  source.request_stop();
  const SimulatedBatch batch = make_command_simulator({.command = "sleep 100"})
                                   ->simulate(numbers(30), 0, 0, source.get_token());
  EXPECT_EQ(batch.calls, 1);
  EXPECT_THAT(batch.failures, SizeIs(30));
  EXPECT_THAT(batch.failures, Each(Field(&Failure::kind, FailureKind::stopped)));
}

TEST(CommandSimulator, ThreadsDoNotDisturbEachOther) {
  const auto simulator = make_command_simulator({.command = "cat"});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        const SimulatedBatch batch = simulator->simulate(numbers(5000), 0);
        EXPECT_EQ(batch.outcomes, numbers(5000));
        EXPECT_EQ(batch.calls, 1);
      }
    });
  }
}

TEST(CommandSimulator, RefusesBadOptions) {
  EXPECT_THROW(make_command_simulator({.command = " "}), std::invalid_argument);
  EXPECT_THROW(make_command_simulator({.command = "cat", .seconds = 0}), std::invalid_argument);
  EXPECT_THROW(make_command_simulator({.command = "cat", .outcomes = -1}), std::invalid_argument);
}

TEST(FailureKinds, NamesReadBack) {
  for (const FailureKind kind :
       {FailureKind::failed, FailureKind::timed_out, FailureKind::garbage,
        FailureKind::missing_line, FailureKind::not_finite, FailureKind::stopped}) {
    EXPECT_EQ(parse_failure_kind(name_of(kind)), kind);
  }
  EXPECT_THROW(parse_failure_kind("lost"), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys
