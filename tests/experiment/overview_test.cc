// What readers see first.
#include "experiment/overview.h"

#include "experiment/small_results.h"

namespace jeffreys::experiment {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kOverviewPlan = R"(
title = "Rings and moons"
iterations = 3600
seeds = 2
[[data]]
source = "ring"
rows = 100
test_rows = 100
[[data]]
source = "moons"
rows = 100
test_rows = 100
[[method]]
name = "ours"
settings.method = "dual"
[[method]]
name = "stable"
settings.method = "dual"
[[method]]
name = "kernel"
baseline = "kernel"
[[method]]
name = "weights"
settings.method = "weighted"
grid.balance = [0.1, 0.9]
)";

class Overview : public SmallResults {
 protected:
  // One second for each iteration, so that a run costs an hour.
  const IterationTimes times_{.ours = {{"small/ours", 1000}}};

  [[nodiscard]] experiment::Told told(const std::vector<Claim>& claims, double scale = 1) const {
    Plan plan = read_plan("small", kOverviewPlan, "small.toml");
    Results results(plan, scale, path("runs"));
    return {std::move(plan), scale, std::move(results), claims};
  }
  static Claim open(const std::vector<std::string>& methods,
                    const std::vector<std::string>& data = {}) {
    return {.text = "It does.", .methods = methods, .data = data};
  }
};

TEST_F(Overview, WhatIsNotDecidedSaysWhatItLacksAndCosts) {
  const auto judged = [&](const Claim& claim) { return judge(told({}), claim, times_); };
  EXPECT_EQ(judged(open({"ours"})).words, "not run");
  EXPECT_EQ(judged(open({"ours"})).reasons, "4 runs, about 4.0 core-hours");
  EXPECT_EQ(judged(open({"ours"}, {"moons"})).reasons, "2 runs, about 2.0 core-hours");
  run("ring", "ours", 0, {{"main.test_nll", {1}}});
  run("ring", "ours", 1, {{"main.test_nll", {1}}});
  Claim claim = open({"ours"});
  EXPECT_EQ(judged(claim).words, "not enough runs");
  EXPECT_EQ(judged(claim).reasons, "2 of 4 runs are lacking, about 2.0 core-hours");
  claim.brief = "1 of 2 data sets";
  EXPECT_THAT(judged(claim).reasons, HasSubstr("1 of 2 data sets; 2 of 4 runs"));
  claim.data = {"ring"};
  EXPECT_EQ(judged(claim).words, "undecided");
  EXPECT_EQ(judged(claim).reasons, "1 of 2 data sets; all 2 runs are there");
}

TEST_F(Overview, RunsLikeOthersCostLikeThem) {
  EXPECT_EQ(needed_runs(told({}).plan, told({}).results, times_, {"weights"}, {}).all, 8U)
      << "a method stands for its grid";
  const auto hours = [&](const std::string& method) {
    const experiment::Told all = told({});
    return needed_runs(all.plan, all.results, times_, {method}, {}).hours;
  };
  EXPECT_DOUBLE_EQ(hours("stable"), 4) << "trained in the same way as ours";
  EXPECT_DOUBLE_EQ(hours("kernel"), 0);
  EXPECT_TRUE(std::isnan(hours("weights"))) << "nothing like it was measured";
}

TEST_F(Overview, HasALineForEachHeadlineWithBothForms) {
  report::Page page("t");
  overview(page,
           {told({{.paper = "ssec:density, fig:main_density",
                   .text = "long",
                   .finding = Finding::fails,
                   .brief = "0 of 2",
                   .headline = "It is lower.",
                   .form = Form::written},
                  {.paper = "fig:main_density",
                   .text = "longer",
                   .finding = Finding::in_part,
                   .brief = "1 of 2",
                   .headline = "It is lower.",
                   .form = Form::stable},
                  {.paper = "fig:uci",
                   .text = "alone",
                   .finding = Finding::holds,
                   .headline = "It holds."},
                  {.paper = "fig:uci", .text = "not in the overview"}})},
           times_);
  EXPECT_THAT(page.markdown(),
              AllOf(HasSubstr("| [2](#small) | It holds. | holds | – |\n"
                              "| [5](#small) | It is lower. | does not hold: 0 of 2 | "
                              "holds in part: 1 of 2 |\n"),
                    Not(HasSubstr("not in the overview"))));
}

TEST_F(Overview, FiguresAreCountedAsInThePaper) {
  EXPECT_EQ(figures_of("ssec:density, fig:main_density, fig:appendix_density"), "5, 9");
  EXPECT_EQ(figures_of("fig:uci_noise_train"), "7b") << "not fig:uci";
  EXPECT_EQ(figures_of("beyond the paper"), "");
}

TEST_F(Overview, AnAnswerIsASentenceAndAVerdict) {
  report::Page page("t");
  const Claim stable{.paper = "fig:weighted",
                     .finding = Finding::holds,
                     .brief = "it does",
                     .headline = "It is near one.",
                     .form = Form::stable};
  Claim written = stable;
  written.form = Form::written;
  written.finding = Finding::fails;
  written.brief = "it grows";
  answer(page, told({written, stable}), times_);
  EXPECT_EQ(page.markdown(),
            "# t\n\nThe paper (figure 3): It is near one.\n\n"
            "**In the stable form: holds.** It does. As written: does not hold: it grows.\n");
  EXPECT_THAT(page.html(), HasSubstr("<p class=\"verdict good\">"));
}

TEST_F(Overview, AShortRunSaysSoInPlaceOfVerdicts) {
  const experiment::Told brief = told({{.paper = "fig:uci",
                                        .text = "It holds.",
                                        .numbers = "1.2",
                                        .finding = Finding::holds,
                                        .headline = "It holds."}},
                                      0.5);
  report::Page page("t");
  overview(page, {brief}, times_);
  answer(page, brief, times_);
  claims_table(page, brief, times_);
  EXPECT_THAT(page.markdown(),
              AllOf(HasSubstr("A short run: scale 0.5, 1800 iterations where the experiment has "
                              "3600."),
                    HasSubstr("there are no verdicts on small."), Not(HasSubstr("It holds"))));
}

TEST_F(Overview, LongNumbersAreFolded) {
  report::Page page("t");
  claims_table(page,
               told({{.paper = "fig:uci",
                      .text = "It holds.",
                      .numbers = "ring: 1.2; moons: 3.4",
                      .finding = Finding::holds,
                      .brief = "2 of 2"}}),
               times_);
  EXPECT_THAT(page.markdown(), HasSubstr("| It holds. | holds | 2 of 2 | fig:uci |\n\n<details>"));
  EXPECT_THAT(page.markdown(), HasSubstr("| It holds. | ring: 1.2; moons: 3.4 |"));
}

}  // namespace
}  // namespace jeffreys::experiment
