// A posterior by one call, of a built-in task.
#include <gmock/gmock.h>

#include "jeffreys/base/input_error.h"
#include "jeffreys/sbi/posterior_fit.h"
#include "jeffreys/sbi/simulate.h"
#include "jeffreys/sbi/task_prior.h"
#include "support/mistake_of.h"
#include "support/scratch_folder.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

Prior moons_prior() { return task_prior(*make_task("two_moons")); }

// Columns parameter_1, parameter_2, x1, x2.
Table moons(std::int64_t rows = 150) {
  const Prior prior = moons_prior();
  const auto draw = [&](std::uint64_t first, std::int64_t count) {
    return prior.sample(count, 1, 0, first);
  };
  return simulate(*make_task_simulator("two_moons"), draw,
                  {.rows = rows, .parameter_names = prior.names()})
      .table;
}

ChosenSettings quick(int members, const std::vector<std::string>& more = {}) {
  ChosenSettings settings;
  settings.add("members", std::to_string(members), "test");
  for (const char* text : {"iterations=30", "flow.transforms=1", "flow.hidden=8", "seed=3"}) {
    settings.add_text(text, "test");
  }
  for (const std::string& text : more) settings.add_text(text, "test");
  return settings;
}

Vector<double> log_probs(const PosteriorFit& fit) {
  const Table pairs = moons();
  return fit.posterior.log_prob(matrix_from_table(pairs, fit.posterior.parameter_names()),
                                matrix_from_table(pairs, fit.posterior.outcome_names()));
}

class FitPosterior : public ScratchTest {
 protected:
  [[nodiscard]] FitRun run(bool resume, int steps = 1'000'000) const {
    return {.checkpoint = path("p.checkpoint"),
            .folder = path("p.members"),
            .resume = resume,
            .should_stop = [steps]() mutable { return --steps < 0; }};
  }
  // Interrupted after so many steps, refused, and resumed with the fit of the label `first`.
  void expect_to_go_on(int members, int steps, const char* kept, const char* first) const {
    const auto fitted = [&](const FitRun& how) {
      return fit_posterior(moons(), {}, moons_prior(), quick(members), how);
    };
    EXPECT_EQ(fitted(run(false, steps)).report.training.stop_reason, StopReason::interrupted);
    EXPECT_THAT([&] { (void)fitted(run(false)); }, ThrowsMessage<InputError>(HasSubstr(kept)));
    FitRun again = run(true);
    std::vector<std::string> labels;
    std::int64_t done = 0;
    again.observe = [&](const std::string& label, const FitOptions&, const PreparedTable&) {
      labels.push_back(label);
      return nullptr;
    };
    again.should_stop = [&] { return ++done < 0; };
    const PosteriorFit resumed = fitted(again);
    ASSERT_FALSE(labels.empty());
    EXPECT_EQ(labels.front(), first);
    // Of one fit: asked after each of the steps that were left, but for the last.
    EXPECT_TRUE(members > 1 || done == 29 - (steps + 1)) << done;
    EXPECT_EQ(resumed.report.training.stop_reason, StopReason::finished);
    EXPECT_EQ(resumed.report.members, members);
    EXPECT_EQ(log_probs(resumed), log_probs(fitted({})));
  }
};

TEST_F(FitPosterior, IsOneFitOrSeveralByItself) {
  const PosteriorFit several = fit_posterior(moons(), {}, moons_prior(), quick(0));
  EXPECT_EQ(several.report.members, 10);
  ASSERT_TRUE(several.committee);
  EXPECT_EQ(several.committee->corrected.nll, several.report.main.held_out.nll);
  EXPECT_EQ(several.table.rows(), 150U);
  EXPECT_GT(several.trained_on, 50'000U);  // of 60,000 draws
  EXPECT_THAT(several.posterior.outcome_names(), SizeIs(2));
  EXPECT_EQ(several.posterior.prior(), moons_prior());

  const auto expect_one = [](const PosteriorFit& one) {
    EXPECT_EQ(one.report.members, 1);
    EXPECT_FALSE(one.committee);
    EXPECT_EQ(one.trained_on, one.table.rows());
  };
  expect_one(fit_posterior(moons(), {}, moons_prior(), quick(1)));
  expect_one(fit_posterior(moons(), {}, moons_prior(), quick(0, {"validation.fraction=0.1"})));
  expect_one(fit_posterior(moons(99), {}, moons_prior(), quick(0)));
}

TEST_F(FitPosterior, DoesWhatItsStepsDo) {
  const Table pairs = moons();
  const PosteriorFit made = fit_posterior(pairs, {}, moons_prior(), quick(1));
  FitOptions options;
  options.seed = 3;
  options.schema = pair_schema(pairs, complete_columns({}, pairs, moons_prior()), moons_prior());
  const PreparedTable table = prepare(ordered_by_content(pairs), options);
  const SchemaOptions schema = options.schema;
  options = default_posterior_options(table.rows(), 2, 2);
  EXPECT_EQ(made.defaults.train.iterations, options.train.iterations);
  options.schema = schema;
  options.seed = 3;
  options.train.iterations = 30;
  options.flow.transforms = 1;
  options.flow.hidden = {8};
  const Posterior by_hand = make_posterior(table, fit(table, options).density, moons_prior());
  EXPECT_EQ(log_probs(made), by_hand.log_prob(matrix_from_table(pairs, by_hand.parameter_names()),
                                              matrix_from_table(pairs, by_hand.outcome_names())));
}

TEST_F(FitPosterior, GoesOnWithOneFitAsIfNothingHadHappened) {
  expect_to_go_on(1, 10, "p.checkpoint", "fit");
}

TEST_F(FitPosterior, GoesOnWithSeveralFitsAsIfNothingHadHappened) {
  expect_to_go_on(3, 75, "p.members", "fit 3 of 4");
}

TEST_F(FitPosterior, SaysWhatHappensBetweenTheFits) {
  std::vector<std::string> heard;
  FitRun how;
  how.tell = [&](const std::string& sentence) { heard.push_back(sentence); };
  how.observe = [&](const std::string& label, const FitOptions&, const PreparedTable&) {
    heard.push_back(label);
    return nullptr;
  };
  (void)fit_posterior(moons(), {}, moons_prior(), quick(2), how);
  EXPECT_THAT(heard,
              ElementsAre("fit 1 of 3", "fit 2 of 3", HasSubstr("2 fits are done"), "fit 3 of 3"));
}

TEST_F(FitPosterior, RefusesMembersThatDoNotGoWithTheSettings) {
  const auto mistake = [](const ChosenSettings& settings,
                          const std::optional<Prior>& prior = moons_prior()) {
    return mistake_of([&] { (void)fit_posterior(moons(), {}, prior, settings); });
  };
  EXPECT_THAT(mistake(quick(3, {"proxy=energy"})),
              AllOf(HasSubstr("members 3"), HasSubstr("a proxy model")));
  EXPECT_THAT(mistake(quick(3, {"validation.fraction=0.1"})), HasSubstr("validation.fraction"));
  EXPECT_THAT(mistake(quick(-1)), AllOf(HasSubstr("members"), HasSubstr("-1")));
  EXPECT_THAT(mistake(quick(1, {"simple=false"})), HasSubstr("simple models"));
  EXPECT_THAT(mistake(quick(2, {"distill=true"})), HasSubstr("always learned by one flow"));
  EXPECT_THAT(mistake(quick(0), std::nullopt), HasSubstr("parameters: expected at least one"));
}

TEST_F(FitPosterior, RefusesPairsThatMakeNoSense) {
  const auto problem = [](const Table& pairs, const ChosenSettings& settings = quick(1)) {
    try {
      (void)fit_posterior(pairs, {}, moons_prior(), settings);
    } catch (const InputError& error) {
      return error.problem();
    }
    return std::string("none");
  };
  const std::string parameter = moons_prior().names().front();
  Table outside = moons();
  outside.columns[0].numbers[4] = 7;
  EXPECT_THAT(problem(outside), AllOf(HasSubstr(parameter), HasSubstr("support")));
  Table text = moons();
  text.columns[2].codes.assign(text.rows(), 0);
  text.columns[2].labels = {"red"};
  EXPECT_THAT(problem(text), HasSubstr("holds text, such as 'red'"));
  Table lacking = moons();
  lacking.columns.erase(lacking.columns.begin());
  EXPECT_THAT(problem(lacking), AllOf(HasSubstr("there is no column"), HasSubstr(parameter)));
  EXPECT_THAT(problem(moons(), quick(40)), HasSubstr("150 pairs are too few for 40 members"));
}

}  // namespace
}  // namespace jeffreys::testing
