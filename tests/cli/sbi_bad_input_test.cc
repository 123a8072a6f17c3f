// Simulation-based inference with mistakes: each is named with what to do, and nothing is lost.
#include "cli/sbi_program.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SbiBadSimulator : public SbiProgramTest {
 protected:
  static Arguments simulate(const std::string& command, const Arguments& more = {}) {
    return changed({"sbi", "simulate", "--simulator", command, "--prior", "prior.toml", "-n", "40",
                    "-o", "s.csv"},
                   more);
  }

  // The message of a run that must fail for its simulator; the journal stays.
  std::string failure(const std::string& command, const Arguments& more = {}) const {
    std::filesystem::remove(path("s.csv.journal"));
    const Outcome outcome = run(simulate(command, more));
    EXPECT_EQ(outcome.exit_code, kBadInput) << command << ::testing::PrintToString(outcome);
    EXPECT_FALSE(exists("s.csv"));
    return outcome.err;
  }
};

TEST_F(SbiBadSimulator, FailuresAreToldWithTheirReason) {
  EXPECT_THAT(failure("echo broken >&2; exit 7"),
              AllOf(HasSubstr("40 of 40"), HasSubstr("exit code 7"), HasSubstr("broken")));
  EXPECT_THAT(failure("kill -SEGV $$"), HasSubstr("signal 11"));
  EXPECT_THAT(failure("sleep 30", {"--call-seconds", "0.1", "-n", "2"}),
              AllOf(HasSubstr("timed_out"), HasSubstr("0.1 s")));
  EXPECT_THAT(failure("sed s/.*/hello/"), AllOf(HasSubstr("garbage"), HasSubstr("hello")));
  EXPECT_THAT(failure("echo x,y; cat"), HasSubstr("write no header"));
  EXPECT_THAT(failure("yes 1,2"), HasSubstr("one line for each row"));
  EXPECT_THAT(failure("true"), HasSubstr("wrote 0 lines"));
  EXPECT_THAT(failure("sed s/.*/nan,nan/"), HasSubstr("not_finite"));
  EXPECT_THAT(failure("cat", {"--outcomes", "x,y,z"}), HasSubstr("expected 3 numbers, got 2"));
}

// A journal that holds nothing is not spoken of.
TEST_F(SbiBadSimulator, AdviceFitsWhatIsThere) {
  EXPECT_THAT(failure("exit 1"), AllOf(HasSubstr("Correct the simulator or the prior"),
                                       Not(HasSubstr("--retry-failed"))));
  EXPECT_FALSE(exists("s.csv.journal"));
  EXPECT_THAT(failure("exit 1", {"--outcomes", "x,y"}), HasSubstr("--retry-failed"));
  EXPECT_TRUE(exists("s.csv.journal"));
}

TEST_F(SbiBadSimulator, AFullDiskIsNoBadInput) {
  const Outcome outcome =
      Process(simulate("./simulate.sh", {"-n", "400"}), {.folder = folder(), .largest_file = 10000})
          .wait();
  EXPECT_EQ(outcome.exit_code, kFailed);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("s.csv.journal"), HasSubstr("free some space")));
  good(simulate("./simulate.sh", {"-n", "400"}));
}

TEST_F(SbiBadSimulator, FormatsThatAreNotWrittenAreRefusedBeforeAnyWork) {
  EXPECT_THAT(refusal(kUsage, simulate("./simulate.sh", {"-o", "s.xlsx"})), HasSubstr(".csv"));
  make_posterior();
  for (const char* command : {"sample", "plot"}) {
    const Arguments words{"sbi", command, "p.model", "--observed", "x=0,y=0", "-o", "s.xlsx"};
    refusal(command == std::string("plot") ? kBadInput : kUsage, words);
  }
}

TEST_F(SbiBadSimulator, OneThatCannotRunLeavesNothingInTheWay) {
  EXPECT_THAT(
      refusal(kBadInput, simulate("./simulat.sh")),
      AllOf(HasSubstr("simulat.sh"), HasSubstr("not found"), HasSubstr("check the command")));
  good(simulate("./simulate.sh"));
}

TEST_F(SbiBadSimulator, TooFewLinesCostNoRow) {
  good(simulate("head -n 3"));
  EXPECT_EQ(Cells(bytes("s.csv")).rows(), 40U);
}

TEST_F(SbiBadSimulator, WhatWasSimulatedBeforeItBrokeIsKept) {
  good(simulate("./simulate.sh"));
  const std::string before = bytes("s.csv.journal");
  script("simulate.sh", "exit 1");
  EXPECT_EQ(run(simulate("./simulate.sh", {"-n", "400"})).exit_code, kBadInput);
  EXPECT_THAT(bytes("s.csv.journal"), ::testing::StartsWith(before));
  EXPECT_EQ(Cells(bytes("s.csv")).rows(), 40U);
}

TEST_F(SbiBadSimulator, AnotherRunsJournalIsRefused) {
  good(simulate("./simulate.sh"));
  const std::string before = bytes("s.csv.journal");
  EXPECT_THAT(refusal(kBadInput, simulate("./simulate.sh", {"--seed", "1"})),
              AllOf(HasSubstr("s.csv.journal"), HasSubstr("another seed")));
  EXPECT_THAT(refusal(kBadInput, simulate("cat")), HasSubstr("s.csv.journal"));
  EXPECT_THAT(refusal(kBadInput, simulate("./simulate.sh", {"--rows-per-call", "7"})),
              HasSubstr("s.csv.journal"));
  EXPECT_EQ(bytes("s.csv.journal"), before);
}

TEST_F(SbiBadSimulator, OptionsThatMakeNoSense) {
  const std::vector<std::pair<Arguments, std::string>> all{
      {{"-n", "5", "-o", "s.csv"}, "--simulator COMMAND or --task"},
      {{"--simulator", "cat", "-n", "5", "-o", "s.csv"}, "--prior"},
      {{"--simulator", "cat", "--prior", "prior.toml", "-o", "s.csv"}, "-n 1000"},
      {{"--simulator", "cat", "--prior", "prior.toml", "-n", "5"}, "--output"},
      {{"--simulator", "cat", "--prior", "prior.toml", "-n", "5", "-o", "-"}, "name of a file"},
      {{"--simulator", "cat", "--prior", "prior.toml", "-n", "5", "-o", "prior.toml"},
       "write over"},
      {{"--simulator", "cat", "--task", "two_moons", "-n", "5", "-o", "s.csv"}, "exclude"},
      {{"--task", "moons", "-n", "5", "-o", "s.csv"}, "two_moons"},
      {{"--task", "linear_gaussian", "--prior", "prior.toml", "-n", "5", "-o", "s.csv"},
       "10 parameters"},
      {{"--task", "two_moons", "-n", "0", "-o", "s.csv"}, "--simulations"}};
  for (const auto& [arguments, expected] : all) {
    EXPECT_THAT(refusal(kUsage, Arguments{"sbi", "simulate"} + arguments), HasSubstr(expected));
  }
}

TEST_F(SbiBadSimulator, PriorsThatMakeNoSense) {
  const std::vector<std::pair<std::string, std::string>> all{
      {"[a]\ndistribution = \"gamma\"\n", "bad.toml:2:"},
      {"[a]\ndistribution = \"gamma\"\n", "uniform, normal, log_normal"},
      {"[a]\ndistribution = \"uniform\"\nlower = 1\n", "upper"},
      {"[a]\ndistribution = \"uniform\"\nlower = 1\nupper = 0\n", "upper"},
      {"[a\n", "bad.toml:1:"},
      {"", "no parameter"}};
  for (const auto& [text, expected] : all) {
    file("bad.toml", text);
    EXPECT_THAT(refusal(kBadInput, simulate("cat", {"--prior", "bad.toml"})), HasSubstr(expected));
  }
  EXPECT_THAT(refusal(kBadInput, simulate("cat", {"--prior", "none.toml"})),
              HasSubstr("none.toml"));
}

class SbiBadFit : public SbiProgramTest {
 protected:
  static Arguments fit(const Arguments& more) {
    return changed(Arguments{"sbi", "fit", "-o", "m"} + tiny_posterior("5"), more);
  }
};

TEST_F(SbiBadFit, TablesThatDoNotFitThePrior) {
  file("pairs.csv", with_line(bytes("pairs.csv"), 5, "1.5,0,0,0"));
  EXPECT_THAT(refusal(kBadInput, fit({"pairs.csv", "--prior", "prior.toml"})),
              AllOf(HasSubstr("pairs.csv:5:1"), HasSubstr("1.5"), HasSubstr("support -1 to 1")));
  EXPECT_THAT(refusal(kUsage, fit({"pairs.csv", "--prior", "prior.toml", "--parameters", "a"})),
              HasSubstr("prior"));
}

TEST_F(SbiBadFit, ColumnsThatAreNoNumbers) {
  file("text.csv", lines("a,b,x,t", 30, [](Draws& draws, int row) {
         const double a = draws.uniform();
         return text_of(a) + ",3," + text_of(a * a) + (row % 2 == 0 ? ",red" : ",blue");
       }));
  EXPECT_THAT(
      refusal(kBadInput, fit({"text.csv", "--parameters", "a"})),
      AllOf(HasSubstr("'t'"), AnyOf(HasSubstr("red"), HasSubstr("blue")), HasSubstr("--outcomes")));
  EXPECT_THAT(refusal(kBadInput, fit({"text.csv", "--parameters", "a,b", "--outcomes", "x"})),
              AllOf(HasSubstr("b\" is 3 in all rows"), HasSubstr("leave it out")));
  file("copy.csv", lines("a,b,x", 30, [](Draws& draws, int) {
         const std::string a = text_of(draws.uniform());
         return a + "," + a + "," + text_of(draws.uniform());
       }));
  EXPECT_THAT(refusal(kBadInput, fit({"copy.csv", "--parameters", "a,b", "--outcomes", "x"})),
              AllOf(HasSubstr("copy.csv"), HasSubstr("\"a\" and \"b\" are equal in all rows")));
  EXPECT_THAT(refusal(kBadInput, fit({"text.csv", "--parameters", "a,c", "--outcomes", "x"})),
              HasSubstr("\"c\""));
  file("cell.csv", lines("a,x", 30, [](Draws& draws, int row) {
         return text_of(draws.uniform()) + (row == 4 ? ",oops" : "," + text_of(draws.uniform()));
       }));
  EXPECT_THAT(refusal(kBadInput, fit({"cell.csv", "--parameters", "a"})),
              AllOf(HasSubstr("cell.csv:6:2"), HasSubstr("'oops' in 1 cell; correct it")));
}

TEST_F(SbiBadFit, OptionsThatMakeNoSense) {
  const std::vector<std::pair<Arguments, std::string>> all{
      {{}, "either a table of pairs or a simulator"},
      {{"pairs.csv", "--task", "two_moons", "-n", "50"}, "either a table of pairs or a simulator"},
      {{"pairs.csv"}, "--parameters"},
      {{"pairs.csv", "--prior", "prior.toml", "-n", "50"}, "-n is for a simulator"},
      {{"--task", "two_moons"}, "-n 1000"},
      {{"--task", "two_moons", "-n", "50", "--parameters", "a"}, "--parameters is for a table"},
      {{"--simulator", "cat", "-n", "50"}, "--prior"},
      {{"pairs.csv", "--prior", "prior.toml", "--support", "rejection"}, "--support"},
      {{"pairs.csv", "--parameters", "a,x", "--outcomes", "x"}, "twice"},
      {{"pairs.csv", "--prior", "prior.toml", "-o", "./pairs.csv"}, "write over"}};
  for (const auto& [arguments, expected] : all) {
    EXPECT_THAT(refusal(kUsage, fit(arguments)), HasSubstr(expected));
  }
  EXPECT_THAT(refusal(kUsage, {"sbi", "fit", "pairs.csv", "--prior", "prior.toml"}),
              HasSubstr("-o POSTERIOR"));
  EXPECT_THAT(refusal(kBadInput, fit({"pairs.csv", "--prior", "prior.toml", "-o", "no/m"})),
              HasSubstr("create it first"));
}

class SbiBadUse : public SbiProgramTest {
 protected:
  SbiBadUse() { make_posterior(); }
};

TEST_F(SbiBadUse, ObservationsOfAnotherForm) {
  const std::vector<std::pair<std::string, std::string>> all{{"x=0", "'y' has no value"},
                                                             {"x=0,y=0,z=1", "'z' is no outcome"},
                                                             {"x=0,y=0,a=1", "'a' is a parameter"},
                                                             {"x=0,x=1,y=0", "'x' is given twice"},
                                                             {"0,3", "NAME=NUMBER"},
                                                             {"x=0,y=", "NAME=NUMBER"},
                                                             {"x=0,y=1z", "NAME=NUMBER"},
                                                             {"x=0,y=nan", "NAME=NUMBER"},
                                                             {"x=0,=3", "NAME=NUMBER"}};
  for (const auto& [observed, expected] : all) {
    EXPECT_THAT(refusal(kUsage, {"sbi", "sample", "p.model", "--observed", observed}),
                HasSubstr(expected));
  }
  EXPECT_THAT(refusal(kUsage, {"sbi", "sample", "p.model"}),
              AllOf(HasSubstr("--observed"), HasSubstr("x, y")));
  file("o.csv", "x,z\n0,3\n");
  EXPECT_THAT(refusal(kBadInput, {"sbi", "sample", "p.model", "--observed-file", "o.csv"}),
              AllOf(HasSubstr("o.csv"), HasSubstr("'y'")));
  file("o.csv", "x,y\n0,3\n0,\n");
  EXPECT_THAT(refusal(kBadInput, {"sbi", "sample", "p.model", "--observed-file", "o.csv"}),
              AllOf(HasSubstr("o.csv:3:2"), HasSubstr("finite")));
}

TEST_F(SbiBadUse, ObservationsBeyondThePairsAreRefusedUnlessAskedFor) {
  file("candidates.csv", "a,b\n0,0\n");
  const auto said_to_be_beyond =
      AllOf(HasSubstr("--observed: the observation is beyond"), HasSubstr("outcome x is 9, but -1"),
            HasSubstr("--extrapolate"));
  for (const Arguments& command : {Arguments{"sample", "p.model", "-n", "5"},
                                   Arguments{"log_prob", "p.model", "candidates.csv"},
                                   Arguments{"plot", "p.model", "-o", "p.svg"},
                                   Arguments{"check", "p.model", "--simulator", "./simulate.sh",
                                             "--prior", "prior.toml", "-n", "30"}}) {
    const Arguments far = Arguments{"sbi"} + command + Arguments{"--observed", "x=9,y=0"};
    EXPECT_THAT(refusal(kBadInput, far), said_to_be_beyond) << command.front();
    EXPECT_THAT(good(far + Arguments{"--extrapolate"}).err,
                AllOf(HasSubstr("warning"), HasSubstr("outcome x is 9")))
        << command.front();
  }
  // Each outcome is possible, but not both together: y is b - a, and x about a.
  EXPECT_THAT(refusal(kBadInput, {"sbi", "sample", "p.model", "--observed", "x=1,y=1.5"}),
              HasSubstr("do not go together"));
  file("o.csv", "x,y\n0,0\n0,9\n");
  const Arguments several{"sbi", "sample", "p.model", "--observed-file", "o.csv", "-n", "2"};
  EXPECT_THAT(refusal(kBadInput, several),
              AllOf(HasSubstr("o.csv:3:2: observation 2 is beyond"), HasSubstr("outcome y is 9")));
  EXPECT_THAT(good(several + Arguments{"--extrapolate"}).err,
              HasSubstr("1 of 2 observations lies outside"));
}

TEST_F(SbiBadUse, ObservationsALittleOutsideAreWarnedAbout) {
  const auto said = [&](const std::string& observed) {
    return good({"sbi", "sample", "p.model", "--observed", observed, "-n", "5"}).err;
  };
  EXPECT_THAT(said("x=0,y=0"), Not(HasSubstr("warning")));
  EXPECT_THAT(said("x=1.25,y=-1"), AllOf(HasSubstr("warning"), HasSubstr("outcome x is 1.25")));
}

TEST_F(SbiBadUse, PairsBeyondThePairsOfTheFitAreCountedNotRefused) {
  file("more.csv", bytes("new_pairs.csv") + "0,0,9,0\n");
  const Outcome densities = good({"sbi", "log_prob", "p.model", "more.csv"});
  EXPECT_EQ(Cells(densities.out).rows(), 61U);
  EXPECT_THAT(densities.err, HasSubstr("warning: 1 of 61 rows is beyond the pairs"));
  EXPECT_THAT(good({"sbi", "check", "p.model", "more.csv"}).out,
              HasSubstr("1 of 61 pairs have outcomes beyond the training pairs"));
}

TEST_F(SbiBadUse, OutcomesThatNeverVariedAreWarnedAbout) {
  file("c.csv", lines("a,x,k", 50, [](Draws& draws, int) {
         const double a = draws.uniform();
         return text_of(a) + "," + text_of(a + draws.normal()) + ",3";
       }));
  good(Arguments{"sbi", "fit", "c.csv", "--parameters", "a", "-o", "c.model"} +
       tiny_posterior("5"));
  const Arguments sample{"sbi", "sample", "c.model", "-n", "2", "--observed"};
  EXPECT_THAT(good(sample + Arguments{"x=0,k=3"}).err, Not(HasSubstr("warning")));
  EXPECT_THAT(good(sample + Arguments{"x=0,k=4"}).err,
              AllOf(HasSubstr("warning"), HasSubstr("k is 4 here, but 3")));
}

TEST_F(SbiBadUse, FilesThatAreNoPosterior) {
  fit("pairs.csv", "density.model");
  const Arguments observed{"--observed", "x=0,y=0"};
  EXPECT_THAT(refusal(kBadInput, Arguments{"sbi", "sample", "density.model"} + observed),
              HasSubstr("no posterior"));
  EXPECT_THAT(refusal(kBadInput, Arguments{"sbi", "plot", "none.model"} + observed),
              HasSubstr("none.model"));
  EXPECT_THAT(refusal(kUsage, Arguments{"sbi", "sample", "p.model", "-o", "p.model"} + observed),
              HasSubstr("write over"));
}

TEST_F(SbiBadUse, LogProbAndPlotThatMakeNoSense) {
  file("candidates.csv", "a,b\n0,0\n0,0\n0,0\n");
  file("o.csv", "x,y\n0,0\n0.5,0\n");
  EXPECT_THAT(refusal(kUsage, {"sbi", "log_prob", "p.model", "candidates.csv"}),
              HasSubstr("give --observed with x, y"));
  EXPECT_THAT(run({"sbi", "log_prob", "p.model", "candidates.csv", "--observed-file", "o.csv"}).err,
              AllOf(HasSubstr("3 rows"), HasSubstr("2 observations")));
  const Arguments plot{"sbi", "plot", "p.model", "-o", "p.svg"};
  EXPECT_EQ(run(plot + Arguments{"--observed-file", "o.csv"}).exit_code, kUsage);
  const Arguments one = plot + Arguments{"--observed", "x=0,y=0"};
  EXPECT_THAT(refusal(kUsage, one + Arguments{"--truth", "a=0"}), HasSubstr("a, b"));
  EXPECT_THAT(refusal(kUsage, one + Arguments{"--truth", "a=0,b=9"}), HasSubstr("-1 to 1"));
  EXPECT_THAT(refusal(kBadInput, changed(one, {"-o", "p.pdf"})), HasSubstr(".png"));
}

TEST_F(SbiBadUse, ChecksThatMakeNoSense) {
  const std::vector<std::pair<Arguments, std::string>> all{
      {{}, "against what?"},
      {{"new_pairs.csv", "--task", "two_moons"}, "pairs or a simulator"},
      {{"new_pairs.csv", "-n", "50"}, "-n is for a simulator"},
      {{"new_pairs.csv", "--observed", "x=0,y=0"}, "give a simulator"},
      {{"--reference", "new_pairs.csv"}, "Give --observed"},
      {{"--reference", "new_pairs.csv", "--observed", "x=0,y=0", "--figure", "f.svg"}, "--figure"},
      {{"new_pairs.csv", "--samples", "3"}, "--samples"},
      {{"--simulator", "./simulate.sh"}, "--prior"},
      {{"--simulator", "./simulate.sh", "--prior", "prior.toml", "-n", "5"}, "at least 20"},
      {{"--task", "two_moons"}, "parameter_1"}};
  for (const auto& [arguments, expected] : all) {
    EXPECT_THAT(refusal(kUsage, Arguments{"sbi", "check", "p.model"} + arguments),
                HasSubstr(expected));
  }
  file("few.csv", pairs(5, 1));
  const std::vector<std::pair<Arguments, std::string>> inputs{
      {{"few.csv"}, "5 pairs; at least 20"},
      {{"--reference", "few.csv", "--observed", "x=0,y=0"}, "at least 20"},
      {{"new_pairs.csv", "--figure", "f.pdf"}, ".png"},
      {{"new_pairs.csv", "--figure", "no/f.svg"}, "create it first"},
      {{"--simulator", "exit 1", "--prior", "prior.toml"}, "exit code 1"}};
  for (const auto& [arguments, expected] : inputs) {
    EXPECT_THAT(refusal(kBadInput, Arguments{"sbi", "check", "p.model"} + arguments),
                HasSubstr(expected));
  }
}

TEST_F(SbiBadUse, ACheckEndsOnASignal) {
  script("slow.sh", "echo > called; sleep 0.1; exec ./simulate.sh");
  const Outcome outcome = interrupted({"sbi", "check", "p.model", "--simulator", "./slow.sh",
                                       "--prior", "prior.toml", "--rows-per-call", "1"},
                                      SIGINT, "called");
  EXPECT_EQ(outcome.exit_code, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("stopped: nothing was checked"));
}

}  // namespace
}  // namespace jeffreys::testing
