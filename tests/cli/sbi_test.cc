// Simulation-based inference as a user meets it: simulate, fit, sample, log_prob, check, plot.
#include <cmath>

#include "cli/sbi_program.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Lt;
using ::testing::Not;
using ::testing::StartsWith;

class SbiSimulate : public SbiProgramTest {
 protected:
  static Arguments simulate(const std::string& output, const Arguments& more = {}) {
    return changed({"sbi", "simulate", "--simulator", "./simulate.sh", "--prior", "prior.toml",
                    "-n", "200", "-o", output},
                   more);
  }
};

TEST_F(SbiSimulate, WritesParametersOfThePriorWithTheirOutcomes) {
  const Outcome outcome = good(simulate("s.csv", {"--outcomes", "x,y"}));
  EXPECT_THAT(outcome.err, HasSubstr("200 pairs"));
  const Cells cells(bytes("s.csv"));
  EXPECT_THAT(cells.names(), ElementsAre("a", "b", "x", "y"));
  ASSERT_EQ(cells.rows(), 200U);
  EXPECT_THAT(cells.numbers("a"), Each(AllOf(Gt(-1), Lt(1))));
  EXPECT_THAT(cells.numbers("b"), Each(AllOf(Gt(-1), Lt(1))));
  for (std::size_t r = 0; r < cells.rows(); ++r) {
    EXPECT_NEAR(cells.numbers("x")[r], cells.numbers("a")[r], 0.2);
    EXPECT_NEAR(cells.numbers("y")[r], cells.numbers("b")[r] - cells.numbers("a")[r], 0.2);
  }
}

TEST_F(SbiSimulate, GivesTheSameForAnyNumberOfProcessesAndMoreOfTheSameForMoreRows) {
  good(simulate("s1.csv", {"--processes", "1"}));
  good(simulate("s3.csv", {"--processes", "3"}));
  EXPECT_EQ(bytes("s1.csv"), bytes("s3.csv"));
  EXPECT_THAT(bytes("s1.csv"), StartsWith("a,b,x1,x2\n"));
  const Outcome more = good(simulate("s1.csv", {"-n", "300"}));
  EXPECT_THAT(more.err,
              AllOf(HasSubstr("200 rows were in s1.csv.journal"), HasSubstr("300 pairs")));
  EXPECT_THAT(bytes("s1.csv"), StartsWith(bytes("s3.csv")));
  good(simulate("other.csv", {"--seed", "1"}));
  EXPECT_NE(bytes("other.csv"), bytes("s3.csv"));
}

TEST_F(SbiSimulate, TasksNeedNoPrior) {
  good({"sbi", "simulate", "--task", "two_moons", "-n", "50", "-o", "t.csv"});
  EXPECT_THAT(Cells(bytes("t.csv")).names(),
              ElementsAre("parameter_1", "parameter_2", "outcome_1", "outcome_2"));
}

TEST_F(SbiSimulate, CountsFailuresByKindAndKeepsTheOtherRows) {
  script("simulate.sh", R"(exec awk -F, '{
  if ($1 > 0.8) { print "a is too large" > "/dev/stderr"; exit 3 }
  print ($1 < -0.8 ? "nan" : $1) "," $2; fflush()
}')");
  const Outcome outcome = good(simulate("s.csv", {"--rows-per-call", "20"}));
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("rows failed and are left out"), HasSubstr("exit code 3"),
                    HasSubstr("a is too large"), HasSubstr("not finite")));
  const auto json = good(simulate("s.csv", {"--rows-per-call", "20", "--json", "-q"})).json();
  const Cells cells(bytes("s.csv"));
  EXPECT_THAT(cells.numbers("a"), Each(AllOf(Ge(-0.8), Le(0.8))));
  EXPECT_EQ(json.at("output"), "s.csv");
  EXPECT_EQ(json.at("simulated"), cells.rows());
  EXPECT_EQ(json.at("failed"), 200 - cells.rows());
  EXPECT_EQ(json.at("failures").at("failed").at("rows").get<int>() +
                json.at("failures").at("not_finite").at("rows").get<int>(),
            json.at("failed"));
}

TEST_F(SbiSimulate, GoesOnAfterSignalsAndKillsAsIfNothingHadHappened) {
  script("slow.sh", "sleep 0.02; exec ./simulate.sh");
  const auto slow = [](const std::string& output) {
    return Arguments{"sbi", "simulate", "--simulator",     "./slow.sh", "--prior", "prior.toml",
                     "-n",  "100",      "--rows-per-call", "5",         "-o",      output};
  };
  good(slow("whole.csv"));
  const Outcome stopped = interrupted(slow("s.csv"), SIGINT, "s.csv.journal", 1000);
  EXPECT_EQ(stopped.exit_code, kFailed);
  EXPECT_THAT(stopped.err, AllOf(HasSubstr("stopped"), HasSubstr("s.csv.journal"),
                                 HasSubstr("the same command goes on")));
  EXPECT_FALSE(exists("s.csv"));
  const auto size = std::filesystem::file_size(path("s.csv.journal"));
  interrupted(slow("s.csv"), SIGKILL, "s.csv.journal", size + 500);
  EXPECT_THAT(good(slow("s.csv")).err, HasSubstr("rows were in s.csv.journal"));
  EXPECT_EQ(bytes("s.csv"), bytes("whole.csv"));
}

class SbiFit : public SbiProgramTest {
 protected:
  static Arguments fit_simulator(const std::string& simulator, const std::string& iterations,
                                 const Arguments& more = {}) {
    return Arguments{"sbi",       "fit", "--simulator",     simulator, "--prior", "prior.toml",
                     "-n",        "100", "--rows-per-call", "5",       "-o",      "s.model",
                     "--threads", "1"} +
           tiny_posterior(iterations) + more;
  }

  void remove_all_of_the_fit() const {
    for (const char* name :
         {"s.model", "s.model.run.json", "s.model.pairs.csv", "s.model.pairs.csv.journal"}) {
      std::filesystem::remove(path(name));
    }
  }
};

TEST_F(SbiFit, OfATableTakesTheNamedColumnsAndSpeaksJson) {
  const Arguments fit{"sbi", "fit",       "--parameters", "a,b",    "--outcomes",
                      "x,y", "pairs.csv", "-o",           "q.model"};
  EXPECT_THAT(good(fit + tiny_posterior()).out,
              AllOf(HasSubstr("given x, y"), HasSubstr("verdict: ")));
  const auto json = good(fit + tiny_posterior() + Arguments{"--json"}).json();
  EXPECT_EQ(json.at("model"), "q.model");
  // Without a prior the parameters still are the ones named.
  EXPECT_THAT(good({"sbi", "sample", "q.model", "--observed", "x=0,y=0", "-n", "3"}).out,
              StartsWith("a,b\n"));
}

TEST_F(SbiFit, IsByMaximumLikelihoodUnlessAProxyIsNamed) {
  const auto method = [&](const Arguments& more) {
    const Arguments fit{"sbi", "fit", "pairs.csv", "--prior", "prior.toml", "-o", "m.model"};
    const auto json = good(fit + tiny_posterior("10") + Arguments{"--json"} + more).json();
    return json.at("settings").at("method").at("value").get<std::string>();
  };
  const Arguments sample{"sbi", "sample", "m.model", "--observed", "x=0,y=0", "-n", "3"};
  const Arguments from_proxy = sample + Arguments{"--from", "proxy"};
  EXPECT_EQ(method({}), "mle");
  EXPECT_THAT(refusal(kUsage, from_proxy), HasSubstr("proxy"));
  EXPECT_EQ(method({"--method", "dual"}), "dual");
  good(from_proxy);
  EXPECT_EQ(method({"--proxy", "flow"}), "dual");
  good(from_proxy);
  EXPECT_EQ(method({"--set", "proxy=flow"}), "dual");
  good(from_proxy);
  EXPECT_EQ(method({"--set", "proxy=flow", "--set", "method=mle"}), "mle");
  file("settings.toml", "proxy = \"flow\"\n");
  EXPECT_EQ(method({"--config", "settings.toml"}), "dual");
  good(from_proxy);
  EXPECT_EQ(method({"--proxy", "energy", "--set", "energy.hidden=16"}), "dual");
  good(from_proxy);
  good(from_proxy + Arguments{"--sampler", "langevin", "--steps", "5"});
}

TEST_F(SbiFit, TriesFailedRowsAgainWithACorrectedSimulator) {
  script("gaps.sh", "[ -e corrected ] && exec ./simulate.sh; ./simulate.sh | sed '2s/.*/nan,nan/'");
  const auto failed = [&](const Arguments& more) {
    const auto json = good(fit_simulator("./gaps.sh", "10", {"--json", "-q"}) + more).json();
    return json.at("simulations").at("failed").get<int>();
  };
  const int before = failed({});
  EXPECT_GT(before, 0);
  file("corrected", "");
  EXPECT_EQ(failed({}), before);
  EXPECT_EQ(failed({"--retry-failed"}), 0);
  EXPECT_EQ(failed({}), 0);
}

TEST_F(SbiFit, OfASimulatorTellsInTheRecordWhatFailed) {
  script("gaps.sh", "./simulate.sh | sed '2s/.*/nan,nan/'");
  const auto json = good(fit_simulator("./gaps.sh", "10", {"--json", "-q"})).json();
  const auto simulations = json.at("simulations");
  EXPECT_EQ(simulations.at("simulated"), 80);
  EXPECT_EQ(simulations.at("failed"), 20);
  EXPECT_EQ(simulations.at("failures").at("not_finite").at("rows"), 20);
  EXPECT_EQ(nlohmann::json::parse(bytes("s.model.run.json")).at("simulations"), simulations);
}

TEST_F(SbiFit, RefusesTheJournalOfAnotherSimulator) {
  good(fit_simulator("./simulate.sh", "10"));
  script("other.sh", "exec ./simulate.sh");
  EXPECT_THAT(refusal(kBadInput, fit_simulator("./other.sh", "10")),
              HasSubstr(R"(another simulator: "./simulate.sh" instead of "./other.sh")"));
}

TEST_F(SbiFit, OfASimulatorGoesOnAfterASignalWhileSimulating) {
  script("slow.sh", "sleep 0.02; exec ./simulate.sh");
  const Arguments fit = fit_simulator("./slow.sh", "10");
  good(fit);
  const std::string whole = bytes("s.model");
  remove_all_of_the_fit();
  const Outcome stopped = interrupted(fit, SIGINT, "s.model.pairs.csv.journal", 1000);
  EXPECT_EQ(stopped.exit_code, kFailed);
  EXPECT_THAT(stopped.err, HasSubstr("the same command goes on"));
  EXPECT_FALSE(exists("s.model"));
  EXPECT_THAT(good(fit).err, HasSubstr("rows were in s.model.pairs.csv.journal"));
  EXPECT_TRUE(bytes("s.model") == whole);
}

TEST_F(SbiFit, OfASimulatorGoesOnAfterASignalWhileTraining) {
  const Arguments fit =
      fit_simulator("./simulate.sh", "20000",
                    {"--set", "validation.patience=0", "--set", "checkpoint.seconds=0.05"});
  good(fit);
  const std::string whole = bytes("s.model");
  remove_all_of_the_fit();
  const Outcome stopped = interrupted(fit, SIGINT, "s.model.checkpoint");
  EXPECT_EQ(stopped.exit_code, kFailed);
  EXPECT_THAT(stopped.err, HasSubstr("--resume"));
  EXPECT_THAT(refusal(kBadInput, fit + Arguments{"-q"}), HasSubstr("--resume"));
  good(fit + Arguments{"--resume"});
  EXPECT_TRUE(bytes("s.model") == whole);
}

class SbiPosterior : public SbiProgramTest {
 protected:
  SbiPosterior() { make_posterior(); }

  [[nodiscard]] Cells sampled(const Arguments& more) const {
    return Cells(good(Arguments{"sbi", "sample", "p.model"} + more).out);
  }
};

TEST_F(SbiPosterior, SamplesStayInsideTheSupportAndFollowTheSeed) {
  // At the edge of the support, where half of a normal posterior would be outside.
  const Arguments edge{"--observed", "x=1,y=-1", "-n", "2000"};
  const Cells cells = sampled(edge);
  EXPECT_THAT(cells.names(), ElementsAre("a", "b"));
  ASSERT_EQ(cells.rows(), 2000U);
  EXPECT_THAT(cells.numbers("a"), Each(AllOf(Gt(-1), Lt(1))));
  EXPECT_THAT(cells.numbers("b"), Each(AllOf(Gt(-1), Lt(1))));
  EXPECT_EQ(sampled(edge).column("a"), cells.column("a"));
  EXPECT_NE(sampled(edge + Arguments{"--seed", "1"}).column("a"), cells.column("a"));
}

TEST_F(SbiPosterior, SeveralObservationsAreCounted) {
  file("o.csv", "x,y\n0,0\n-0.5,0.5\n");
  const Cells cells = sampled({"--observed-file", "o.csv", "-n", "100"});
  EXPECT_THAT(cells.names(), ElementsAre("observation", "a", "b"));
  ASSERT_EQ(cells.rows(), 200U);
  const std::vector<double> place = cells.numbers("observation"), a = cells.numbers("a");
  double first = 0, second = 0;
  for (std::size_t r = 0; r < 200; ++r) {
    EXPECT_EQ(place[r], r < 100 ? 1 : 2);
    (r < 100 ? first : second) += a[r] / 100;
  }
  // The samples' deviations are below 0.3, so that a mean's standard error is below 0.03.
  EXPECT_GT(first, second + 0.2);
  const auto json = good({"sbi", "sample", "p.model", "--observed-file", "o.csv", "-n", "5",
                          "--json", "-o", "s.npz"})
                        .json();
  EXPECT_EQ(json.at("output"), "s.npz");
  EXPECT_TRUE(exists("s.npz"));
}

TEST_F(SbiPosterior, DensityIntegratesToOneOverTheSupport) {
  constexpr int kSteps = 100;
  std::string grid = "a,b\n";
  for (int i = 0; i < kSteps; ++i) {
    for (int j = 0; j < kSteps; ++j) {
      grid +=
          text_of(-1 + (i + 0.5) * 2 / kSteps) + "," + text_of(-1 + (j + 0.5) * 2 / kSteps) + "\n";
    }
  }
  file("grid.csv", grid);
  const Cells cells(good({"sbi", "log_prob", "p.model", "grid.csv", "--observed", "x=0,y=0"}).out);
  double sum = 0;
  for (const double value : cells.numbers("log_prob")) sum += std::exp(value);
  EXPECT_NEAR(sum * 4 / (kSteps * kSteps), 1, 0.01);
}

TEST_F(SbiPosterior, LogProbTakesOutcomesFromTheTableOrFromAFile) {
  const std::string own = good({"sbi", "log_prob", "p.model", "new_pairs.csv"}).out;
  EXPECT_THAT(own, StartsWith("log_prob\n"));
  EXPECT_EQ(Cells(own).rows(), 60U);
  EXPECT_EQ(
      good({"sbi", "log_prob", "p.model", "new_pairs.csv", "--observed-file", "new_pairs.csv"}).out,
      own);
  file("outside.csv", "a,b\n0,0\n1.5,0\n");
  const Outcome outside =
      good({"sbi", "log_prob", "p.model", "outside.csv", "--observed", "x=0,y=0"});
  EXPECT_THAT(outside.out, EndsWith("-inf\n"));
  EXPECT_THAT(outside.err, HasSubstr("1 of 2 rows lie outside the prior's support"));
}

TEST_F(SbiPosterior, PlotsWithTheTruthMarked) {
  good({"sbi", "plot", "p.model", "--observed", "x=0,y=0", "--truth", "a=0,b=0", "-o", "p.svg"});
  EXPECT_THAT(bytes("p.svg"), AllOf(HasSubstr("<svg"), HasSubstr("true parameter")));
  good({"sbi", "plot", "p.model", "--observed", "x=0,y=0"});
  EXPECT_THAT(bytes("p.model.png"), HasSubstr("PNG"));
}

TEST_F(SbiPosterior, QuietSaysNothing) {
  const std::vector<Arguments> commands{
      {"simulate", "--simulator", "./simulate.sh", "--prior", "prior.toml", "-n", "50", "-o",
       "s.csv"},
      Arguments{"fit", "pairs.csv", "--prior", "prior.toml", "-o", "q.model"} + tiny_posterior("5"),
      {"sample", "p.model", "--observed", "x=9,y=9", "--extrapolate", "-n", "5", "-o", "t.csv"},
      {"log_prob", "p.model", "pairs.csv", "-o", "l.csv"},
      {"plot", "p.model", "--observed", "x=0,y=0", "-o", "p.svg"}};
  for (const Arguments& command : commands) {
    const Outcome outcome = good(Arguments{"sbi"} + command + Arguments{"-q"});
    EXPECT_EQ(outcome.out, "") << command.front();
    EXPECT_EQ(outcome.err, "") << command.front();
  }
}

class SbiCheck : public SbiProgramTest {
 protected:
  SbiCheck() { make_posterior(); }

  [[nodiscard]] nlohmann::json checked(const Arguments& more) const {
    return good(Arguments{"sbi", "check", "p.model", "--json"} + more).json();
  }
};

TEST_F(SbiCheck, OfPairsTellsEveryTestAndDrawsThem) {
  const Outcome outcome = good({"sbi", "check", "p.model", "new_pairs.csv", "--figure", "c.svg"});
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("60 pairs"), HasSubstr("ranks of a"), HasSubstr("ranks of b"),
            HasSubstr("highest-density"), HasSubstr("TARP"), HasSubstr("90 %: "), HasSubstr("+-"),
            HasSubstr("information gained over the prior: "), HasSubstr("\nverdict: ")));
  EXPECT_THAT(bytes("c.svg"), AllOf(HasSubstr("coverage"), HasSubstr("TARP")));
  const auto json = checked({"new_pairs.csv"});
  EXPECT_EQ(json.at("pairs"), 60);
  EXPECT_EQ(json.at("tarp").at("levels").size(), 4U);
  EXPECT_TRUE(json.at("ranks").at("parameters").at("a").at("p_value").is_number());
  EXPECT_TRUE(json.at("highest_density_coverage").at("p_value").is_number());
  EXPECT_EQ(json.at("pairs_beyond_training"), 0);
  const auto& gain = json.at("information_gain");
  EXPECT_EQ(gain.at("pairs"), 60);
  // The outcomes' noise is a fifth as wide as the prior, and this posterior little trained.
  EXPECT_GT(gain.at("lower"), 0.5);
  EXPECT_LT(gain.at("upper"), 2 * std::log(5));
  EXPECT_GT(gain.at("standard_error"), 0);
}

TEST_F(SbiCheck, WithoutAPriorTellsNoInformation) {
  good(Arguments{"sbi", "fit", "pairs.csv", "--parameters", "a,b", "-o", "q.model"} +
       tiny_posterior("5"));
  const auto json = good({"sbi", "check", "q.model", "new_pairs.csv", "--json"}).json();
  EXPECT_FALSE(json.contains("information_gain"));
}

TEST_F(SbiCheck, FindsAWrongSimulator) {
  // Five widths of the noise: no posterior of the one simulator fits the other.
  file("wrong.csv", pairs(100, 3, 1));
  const auto json = checked({"wrong.csv"});
  EXPECT_GT(json.at("pairs_beyond_training"), 10);
  EXPECT_LT(json.at("p_value"), 0.01);
  EXPECT_THAT(json.at("verdict").get<std::string>(), StartsWith("miscalibrated"));
}

TEST_F(SbiCheck, WarnsAboutPairsOfTheFitAndAboutAnotherPrior) {
  EXPECT_THAT(good({"sbi", "check", "p.model", "pairs.csv"}).err,
              AllOf(HasSubstr("warning"), HasSubstr("has not seen")));
  EXPECT_THAT(good({"sbi", "check", "p.model", "new_pairs.csv"}).err, Not(HasSubstr("warning")));
  file("other.toml", prior("a", 0, 1) + prior("b", -1, 1));
  EXPECT_THAT(good({"sbi", "check", "p.model", "--simulator", "./simulate.sh", "--prior",
                    "other.toml", "-n", "50"})
                  .err,
              HasSubstr("another prior"));
}

TEST_F(SbiCheck, PredictsTheObservationWithTheSimulatorsOrderOfParameters) {
  // The same simulator with its parameters in another order: taken for one another, b would be a.
  script("flipped.sh", "awk -F, '{ print $2 \",\" $1 }' | ./simulate.sh");
  file("flipped.toml", prior("b", -1, 1) + prior("a", -1, 1));
  for (const auto& [simulator, prior_file] :
       {std::pair("./simulate.sh", "prior.toml"), std::pair("./flipped.sh", "flipped.toml")}) {
    const auto json = checked(
        {"--simulator", simulator, "--prior", prior_file, "--observed", "x=0.5,y=-1", "-n", "500"});
    EXPECT_EQ(json.at("predictive").at("consistent"), true) << simulator;
    EXPECT_EQ(json.at("predictive").at("draws"), 500);
    EXPECT_THAT(json.at("verdict").get<std::string>(), EndsWith("; explains the observation"));
  }
  script("wrong.sh", "./simulate.sh | awk -F, '{ print $1 + 3 \",\" $2 }'");
  const auto wrong = checked({"new_pairs.csv", "--simulator", "./wrong.sh", "--prior", "prior.toml",
                              "--observed", "x=0.5,y=-1"});
  EXPECT_THAT(wrong.at("verdict").get<std::string>(),
              HasSubstr("does not explain the observation"));
}

TEST_F(SbiCheck, ComparesWithReferenceSamplesByBothDefinitions) {
  const Arguments observed{"--observed", "x=0,y=0"};
  good(Arguments{"sbi", "sample", "p.model", "-n", "300", "--seed", "7", "-o", "same.csv"} +
       observed);
  const auto same = checked(Arguments{"--reference", "same.csv"} + observed).at("c2st");
  const auto other = checked(Arguments{"--reference", "new_pairs.csv"} + observed).at("c2st");
  for (const char* definition : {"paper", "sbibm"}) {
    const auto& result = same.at(definition);
    EXPECT_NEAR(result.at("accuracy").get<double>(), 0.5,
                4 * result.at("standard_error").get<double>())
        << definition;
    // Draws of the prior, with a twentieth of their mass where the posterior is.
    EXPECT_GT(other.at(definition).at("accuracy").get<double>(),
              0.5 + 3 * other.at(definition).at("standard_error").get<double>());
  }
  EXPECT_THAT(same.at("paper").at("definition").get<std::string>(), HasSubstr("XGBoost"));
  EXPECT_THAT(same.at("sbibm").at("definition").get<std::string>(), HasSubstr("sbibm"));
}

}  // namespace
}  // namespace jeffreys::testing
