// `jeffreys sbi fit` with several fits that correct each other, as it is by default.
#include <sstream>

#include "cli/sbi_program.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::Not;

class SbiCommittee : public SbiProgramTest {
 protected:
  static Arguments fit(const Arguments& more = {}, const std::string& iterations = "30") {
    return Arguments{"sbi", "fit", "pairs.csv", "--prior", "prior.toml", "-o", "c.model"} +
           tiny_flow(iterations) + more;
  }

  void remove_the_fit() const {
    std::filesystem::remove(path("c.model"));
    std::filesystem::remove(path("c.model.run.json"));
  }
};

TEST_F(SbiCommittee, IsWhatAFitOfFewPairsIsUnlessToldOtherwise) {
  const Outcome outcome = good(fit());
  EXPECT_THAT(outcome.out, HasSubstr("300 training rows, each held out by 2 of 10 fits"));
  EXPECT_THAT(outcome.err, HasSubstr("by a fit that left them out"));
  EXPECT_FALSE(exists("c.model.members"));
  const Cells samples(
      good({"sbi", "sample", "c.model", "--observed", "x=1,y=-1", "-n", "500"}).out);
  EXPECT_THAT(samples.numbers("a"), Each(AllOf(Gt(-1), Lt(1))));
  EXPECT_THAT(good({"inspect", "c.model"}).out, HasSubstr("pairs.csv by 10 fits"));
  EXPECT_THAT(good(fit({"--members", "1"})).out, HasSubstr("240 training rows, 60 held out"));
  EXPECT_THAT(good({"inspect", "c.model"}).out, Not(HasSubstr("fits")));
}

TEST_F(SbiCommittee, TellsProgramsWhatThePairsSaidThatWereLeftOut) {
  const auto json = good(fit({"--members", "4", "--json", "-q"})).json();
  EXPECT_EQ(json.at("result").at("members"), 4);
  EXPECT_EQ(json.at("result").at("main").at("held_out").at("rows"), 300);
  const auto committee = json.at("committee");
  EXPECT_EQ(committee.at("corrected").at("nll"),
            json.at("result").at("main").at("held_out").at("nll"));
  EXPECT_LT(committee.at("corrected").at("nll"), committee.at("one_member").at("nll"));
  EXPECT_GT(committee.at("coverage_90"), 0.5);
}

TEST_F(SbiCommittee, GivesTheSameBytesForAnyNumberOfThreads) {
  good(fit({"--members", "3", "--threads", "1"}));
  const std::string one = bytes("c.model");
  good(fit({"--members", "3", "--threads", "3"}));
  EXPECT_TRUE(bytes("c.model") == one);
}

TEST_F(SbiCommittee, GoesOnAfterSignalsAndKillsAsIfNothingHadHappened) {
  const Arguments slow =
      fit({"--members", "3", "--threads", "1", "--set", "validation.patience=0", "--set",
           "validation.relative_patience=0", "--set", "checkpoint.seconds=0.02"},
          "600");
  good(slow);
  const std::string whole = bytes("c.model");
  remove_the_fit();
  const Outcome stopped = interrupted(slow, SIGINT, "c.model.members/2.checkpoint");
  EXPECT_EQ(stopped.exit_code, kFailed);
  EXPECT_THAT(stopped.err, AllOf(HasSubstr("c.model.members"), HasSubstr("--resume")));
  EXPECT_FALSE(exists("c.model"));
  EXPECT_THAT(refusal(kBadInput, slow + Arguments{"-q"}),
              AllOf(HasSubstr("c.model.members"), HasSubstr("--resume")));
  const Arguments resume = slow + Arguments{"--resume"};
  interrupted(resume, SIGKILL, "c.model.members/4.checkpoint");
  EXPECT_TRUE(exists("c.model.members/3.model"));
  EXPECT_THAT(refusal(kBadInput, resume + Arguments{"--set", "flow.bins=5", "-q"}),
              AllOf(HasSubstr("1.model"), HasSubstr("other rows or with other settings")));
  good(resume);
  EXPECT_TRUE(bytes("c.model") == whole);
  EXPECT_FALSE(exists("c.model.members"));
}

TEST_F(SbiCommittee, IsRefusedWhereItCannotBe) {
  EXPECT_THAT(refusal(kUsage, fit({"--members", "3", "--method", "dual"})),
              AllOf(HasSubstr("--members 3"), HasSubstr("proxy")));
  EXPECT_THAT(refusal(kUsage, fit({"--members", "3", "--no-validation"})),
              HasSubstr("validation.fraction"));
  EXPECT_THAT(refusal(kUsage, fit({"--members", "0"})), HasSubstr("--members"));
  EXPECT_THAT(good(fit({"--members", "2"})).out, HasSubstr("each held out by 1 of 2 fits"));
  file("pairs.csv", pairs(30, 1));
  EXPECT_THAT(refusal(kBadInput, fit({"--members", "10", "-q"})),
              AllOf(HasSubstr("pairs.csv"), HasSubstr("30 pairs are too few for 10 members")));
  EXPECT_FALSE(exists("c.model.members"));
  // By default so few have a single fit.
  EXPECT_THAT(good(fit()).out, Not(HasSubstr("fits")));
}

TEST_F(SbiCommittee, LivesWithMissingCellsAndWithColumnsThatSayNothing) {
  const std::vector<std::string> rows = [&] {
    std::vector<std::string> all;
    std::istringstream stream(bytes("pairs.csv"));
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }();
  std::string table = rows[0] + ",constant,site\n";
  for (std::size_t i = 1; i < rows.size(); ++i) {
    table += rows[i] + (i == 1 ? ",,north\n" : ",7,south\n");
  }
  file("pairs.csv", table);
  const Outcome outcome =
      good(fit({"--members", "3", "--parameters", "a,b", "--outcomes", "x,y,constant"}));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("299 training rows, each held out by 1 of 3 fits"),
                                 HasSubstr("1 dropped")));
  good({"sbi", "sample", "c.model", "--observed", "x=0,y=0", "-n", "5"});
}

TEST_F(SbiCommittee, TimeLimitIsForAllFitsTogether) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = good(fit({"--members", "4", "--time-limit", "2"}, "100000000"));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_THAT(outcome.out, HasSubstr("time limit"));
  // A third is for the last fit, which is the posterior; it has thousands of steps a second.
  const auto record = nlohmann::json::parse(bytes("c.model.run.json"));
  EXPECT_GT(record.at("result").at("iterations"), 10);
  EXPECT_LT(seconds.count(), 60);  // five such limits and all the rest, on a busy machine
}

}  // namespace
}  // namespace jeffreys::testing
