// `jeffreys fit` by several fits.
#include <gmock/gmock.h>

#include <csignal>

#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FitMembers : public ProgramTest {
 protected:
  FitMembers() { file("t.csv", two_columns(120)); }

  [[nodiscard]] static Arguments fit(const Arguments& more, const std::string& iterations = "30") {
    return Arguments{"fit",   "t.csv",
                     "-o",    "m",
                     "--set", "flow.hidden=8",
                     "--set", "flow.transforms=1",
                     "--set", "iterations=" + iterations} +
           more;
  }
};

TEST_F(FitMembers, AreTheDefaultAndSpeakAsOne) {
  const Outcome outcome = good(fit({}));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("each held out by 2 of 10 fits"),
                                 HasSubstr("main is a mixture"), HasSubstr("x mixture"),
                                 HasSubstr("Gaussian           weight"), HasSubstr("verdict:")));
  EXPECT_FALSE(exists("m.members"));
  const auto json = good(fit({"--json", "-q"})).json();
  EXPECT_EQ(json.at("result").at("members"), 10);
  double sum = 0;
  for (const auto& part : json.at("result").at("blend")) sum += part.at("weight").get<double>();
  EXPECT_NEAR(sum, 1, 1e-9);
  good({"sample", "m", "-n", "5", "-o", "s.csv"});
  good({"log_prob", "m", "s.csv", "--percentile", "--explain", "-o", "p.csv"});
  good({"plot", "m", "t.csv", "-o", "p.svg"});
  good({"plot", "m", "--training", "-o", "q.svg"});
  EXPECT_THAT(good({"inspect", "m"}).out, HasSubstr("density mixture"));
  EXPECT_THAT(refusal(kUsage, {"export", "zuko", "m", "-o", "z.npz"}), HasSubstr("--members 1"));
  EXPECT_THAT(refusal(kUsage, {"log_prob", "m", "t.csv", "--from", "proxy", "-o", "p.csv"}),
              HasSubstr("--members 1"));
}

TEST_F(FitMembers, AreOneFlowOnRequest) {
  const Outcome outcome = good(fit({"--members", "4", "--distill"}));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("main learned from a mixture"),
                                 HasSubstr("one flow learned the mixture and loses")));
  EXPECT_TRUE(good(fit({"--members", "4", "--distill", "--json", "-q"}))
                  .json()
                  .at("result")
                  .at("distilled")
                  .contains("loss"));
  EXPECT_THAT(good({"inspect", "m"}).out, HasSubstr("flow"));
  good({"plot", "m", "--training", "-o", "q.svg"});
  EXPECT_THAT(refusal(kUsage, {"export", "zuko", "m", "-o", "z.npz"}), HasSubstr("Student-t"));
  good(fit({"--members", "4", "--distill", "--set", "flow.student_t=0"}));
  good({"export", "zuko", "m", "-o", "z.npz"});
  EXPECT_THAT(refusal(kUsage, {"sample", "m", "-n", "2", "--from", "proxy"}),
              HasSubstr("--members 1"));
  EXPECT_THAT(refusal(kUsage, fit({"--members", "1", "--distill"})), HasSubstr("distill"));
}

TEST_F(FitMembers, GiveTheSameBytesForAnyNumberOfThreads) {
  good(fit({"--members", "4", "--threads", "1"}));
  const std::string one = bytes("m");
  good(fit({"--members", "4", "--threads", "3"}));
  EXPECT_TRUE(bytes("m") == one);
}

TEST_F(FitMembers, GoOnAfterSignalsAndKillsAsIfNothingHadHappened) {
  const Arguments slow =
      fit({"--members", "4", "--threads", "2", "--set", "validation.patience=0", "--set",
           "validation.relative_patience=0", "--set", "checkpoint.seconds=0.02"},
          "20000");
  good(slow);
  const std::string whole = bytes("m");
  std::filesystem::remove(path("m"));
  const Outcome stopped = interrupted(slow, SIGINT, "m.members/3.checkpoint");
  EXPECT_EQ(stopped.exit_code, kFailed);
  EXPECT_THAT(stopped.err, AllOf(HasSubstr("m.members"), HasSubstr("--resume")));
  EXPECT_THAT(refusal(kBadInput, slow + Arguments{"-q"}), HasSubstr("--resume"));
  const Arguments resume = slow + Arguments{"--resume"};
  interrupted(resume, SIGKILL, "m.members/4.checkpoint");
  good(resume);
  EXPECT_TRUE(bytes("m") == whole);
  EXPECT_FALSE(exists("m.members"));
}

TEST_F(FitMembers, AreRefusedWhereTheyCannotBe) {
  EXPECT_THAT(refusal(kUsage, fit({"--members", "3", "--no-validation"})),
              HasSubstr("validation.fraction=0"));
  EXPECT_THAT(refusal(kUsage, fit({"--members", "0"})), HasSubstr("--members"));
  EXPECT_THAT(refusal(kUsage, fit({"--simple", "maybe"})), HasSubstr("--simple"));
  EXPECT_THAT(refusal(kBadInput, fit({"--members", "40", "-q"})),
              AllOf(HasSubstr("t.csv"), HasSubstr("120 usable rows are too few for 40 fits")));
  EXPECT_FALSE(exists("m.members"));
}

}  // namespace
}  // namespace jeffreys::testing
