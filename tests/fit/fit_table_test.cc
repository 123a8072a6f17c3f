// Fitting and evaluating a table by one call each.
#include <gmock/gmock.h>

#include "fit/small_fits.h"
#include "jeffreys/fit/evaluate_density.h"
#include "jeffreys/fit/fit_table.h"
#include "jeffreys/model/gaussian_mixture.h"
#include "support/mistake_of.h"
#include "support/scratch_folder.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const SchemaOptions kColumns{.bounds = {{"share", {0, 1}}}};

ChosenSettings quick_settings(const std::vector<std::string>& more = {}) {
  ChosenSettings settings;
  for (const char* text :
       {"iterations=40", "flow.transforms=1", "flow.hidden=8", "seed=5", "members=1"}) {
    settings.add_text(text, "test");
  }
  for (const std::string& text : more) settings.add_text(text, "test");
  return settings;
}

Vector<double> densities(const Fit& fit) { return fit.density.log_prob(plane_table()).log_prob; }

class FitTable : public ScratchTest {
 protected:
  // Stops when `steps` are done.
  [[nodiscard]] FitRun run(int steps, bool resume = false) const {
    return {.checkpoint = path("m.checkpoint"),
            .folder = path("m.members"),
            .resume = resume,
            .should_stop = [steps]() mutable { return --steps < 0; }};
  }
};

TEST_F(FitTable, DoesWhatItsStepsDo) {
  const TableFit made = fit_table(plane_table(), kColumns, quick_settings());
  FitOptions options;
  options.schema = kColumns;
  options.seed = 5;
  const PreparedTable table = prepare(ordered_by_content(plane_table()), options);
  options = default_fit_options(table.rows(), 2, 0);
  EXPECT_EQ(made.defaults.train.iterations, options.train.iterations);
  options.schema = kColumns;
  options.seed = 5;
  options.train.iterations = 40;
  options.flow.transforms = 1;
  options.flow.hidden = {8};
  const Fit by_hand = fit(table, options);
  EXPECT_EQ(made.table.rows(), table.rows());
  EXPECT_EQ(made.options.train.iterations, 40);
  EXPECT_EQ(densities(made.fit), densities(by_hand));
  EXPECT_EQ(made.fit.report.verdict, by_hand.report.verdict);
}

TEST_F(FitTable, GoesOnAfterAnInterruptionAsIfNothingHadHappened) {
  const auto fitted = [](const FitRun& how) {
    return fit_table(plane_table(), kColumns, quick_settings(), how);
  };
  const TableFit stopped = fitted(run(15));
  EXPECT_EQ(stopped.fit.report.training.stop_reason, StopReason::interrupted);
  EXPECT_EQ(stopped.fit.report.training.iterations, 16);
  EXPECT_THAT([&] { (void)fitted(run(1000)); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("m.checkpoint"), HasSubstr("unfinished"))));
  int steps = 0;
  FitRun how = run(1000, true);
  how.should_stop = [&] { return ++steps < 0; };
  const TableFit resumed = fitted(how);
  EXPECT_EQ(steps, 39 - 16);  // not asked after the last one
  EXPECT_EQ(resumed.fit.report.training.iterations, 40);
  EXPECT_EQ(densities(resumed.fit), densities(fitted({}).fit));
  run(0).remove_unfinished();
  EXPECT_EQ(files_in_folder(), 0U);
}

TEST_F(FitTable, IsWatchedAndTellsWhereThereIsNothingToResume) {
  std::vector<std::string> heard;
  FitRun how = run(1000, true);
  how.tell = [&](const std::string& sentence) { heard.push_back(sentence); };
  struct Count final : TrainObserver {
    explicit Count(int& steps) : steps_(steps) {}
    void on_step(const StepRecord&) override { ++steps_; }
    bool should_stop() override { return steps_ == 7; }
    int& steps_;
  };
  int steps = 0;
  how.observe = [&](const std::string& label, const FitOptions& options, const PreparedTable&) {
    heard.push_back(label);
    EXPECT_EQ(options.train.iterations, 40);
    return std::make_unique<Count>(steps);
  };
  const TableFit made = fit_table(plane_table(), kColumns, quick_settings(), how);
  EXPECT_THAT(heard, ElementsAre("no checkpoint to resume from: starting anew", "fit"));
  EXPECT_EQ(steps, 7);
  EXPECT_EQ(made.fit.report.training.stop_reason, StopReason::interrupted);
}

TEST_F(FitTable, TellsWhatIsWrong) {
  const auto mistake = [](const SchemaOptions& columns, const ChosenSettings& settings) {
    return mistake_of([&] { (void)fit_table(plane_table(), columns, settings); });
  };
  EXPECT_THAT(mistake({}, quick_settings({"flow.hiden=8"})),
              HasSubstr("test: unknown setting 'flow.hiden'"));
  EXPECT_THAT(mistake({.bounds = {{"share", {1, 0}}}}, {}), HasSubstr("share"));
  EXPECT_THAT(mistake_of([] { quick_settings({"iterations"}); }),
              HasSubstr("test: expected KEY=VALUE, got 'iterations'"));
  EXPECT_THAT([&] { (void)fit_table(plane_table(), {.condition = {"width"}}); },
              ThrowsMessage<InputError>(HasSubstr("width")));
}

GaussianMixture<float> normal_at(double mean) {
  return GaussianMixture<float>(
      {{1, Vector<double>::Constant(2, mean), Matrix<double>::Identity(2, 2)}});
}

Table standard_normals() {
  std::vector<double> with_hole = normal_numbers(500, 3);
  with_hole[7] = std::nan("");
  return TableMaker().numbers("x1", with_hole).numbers("x2", normal_numbers(500, 4)).table();
}

TEST(EvaluateDensity, MeasuresBothModelsAndTheirDivergence) {
  // KL(N(0, I) || N(m, I)) = |m|^2 / 2, which is also the proxy's loss of likelihood.
  const double shift = 0.6;
  const TabularDensity<float> density(Schema::identity(2), normal_at(0), normal_at(shift));
  const DensityEvaluation found = evaluate_density(density, standard_normals());
  EXPECT_EQ(found.dropped, 1U);
  EXPECT_EQ(found.main.rows, 499U);
  const double entropy = std::log(2 * std::numbers::pi) + 1;
  EXPECT_NEAR(found.main.nll, entropy, 4 * found.main.standard_error);
  EXPECT_NEAR(found.main.standard_error, 1 / std::sqrt(499.), 0.01);
  ASSERT_TRUE(found.proxy && found.reverse);
  EXPECT_NEAR(found.proxy->nll, entropy + shift * shift, 4 * found.proxy->standard_error);
  const auto& [kl, importance, samples] = *found.reverse;
  EXPECT_NEAR(kl.mean, shift * shift, 4 * kl.standard_error);
  EXPECT_NEAR(kl.standard_error, shift * std::sqrt(2. / static_cast<double>(samples)), 1e-3);
  // The mean squared weight is exp(|m|^2).
  EXPECT_NEAR(importance.effective_sample_size, std::exp(-2 * shift * shift), 0.05);
  EXPECT_EQ(found.energy.conditions, 0);
}

TEST(EvaluateDensity, FindsNothingBetweenEqualModelsAndNoProxyWhereNoneIs) {
  const TabularDensity<float> twins(Schema::identity(2), normal_at(0), normal_at(0));
  const DensityEvaluation same = evaluate_density(twins, standard_normals());
  EXPECT_NEAR(same.reverse->kl.mean, 0, 1e-6);
  EXPECT_NEAR(same.reverse->importance.effective_sample_size, 1, 1e-6);
  const TabularDensity<float> alone(Schema::identity(2), normal_at(0));
  const DensityEvaluation one = evaluate_density(alone, standard_normals());
  EXPECT_EQ(one.main.nll, same.main.nll);
  EXPECT_FALSE(one.proxy || one.reverse);
  EXPECT_THAT([&] { (void)evaluate_density(alone, plane_table()); },
              ThrowsMessage<InputError>(HasSubstr("x1")));
}

TEST(EvaluateDensity, ChecksAnEnergyModelInsteadOfComparingConditionalOnes) {
  const Table table = plane_table();
  const TableFit energy = fit_table(table, kColumns, quick_settings({"proxy=energy"}));
  EXPECT_EQ(evaluate_density(energy.fit.density, table).energy.conditions, 1);
  const TableFit given = fit_table(table, {.condition = {"share"}}, quick_settings());
  const DensityEvaluation found = evaluate_density(given.fit.density, table);
  EXPECT_TRUE(found.proxy);
  EXPECT_FALSE(found.reverse);
}

}  // namespace
}  // namespace jeffreys::testing
