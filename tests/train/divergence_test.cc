// Steps that are not finite: they change nothing, are counted, and end training.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>

#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/spline_flow.h"
#include "jeffreys/train/trainer.h"
#include "support/gaussian_models.h"
#include "support/model_helpers.h"
#include "support/not_finite.h"

namespace jeffreys {
namespace {

using testing::GaussianDensity;
using testing::GaussianEnergy;
using testing::SlopeModel;

constexpr double kRate = 0.1;

// Its values are NaN while `broken`, or once the slope is beyond `limit`. On rows of 1 every step
// adds kRate to the slope.
class Fragile final : public SlopeModel {
 public:
  bool broken = false;
  double limit = 1e9;

 protected:
  [[nodiscard]] double value(double x) const override {
    return broken || slope() > limit ? kNan : SlopeModel::value(x);
  }
};

// Breaks the model in steps from `first` to `last`.
class Breaker final : public TrainObserver {
 public:
  Breaker(Fragile& model, std::int64_t first, std::int64_t last)
      : model_(model), first_(first), last_(last) {}
  void on_step(const StepRecord& record) override {
    const std::int64_t next = record.iteration + 1;
    model_.broken = next >= first_ && next <= last_;
  }

 private:
  Fragile& model_;
  std::int64_t first_;
  std::int64_t last_;
};

TrainOptions options_of(std::int64_t iterations, std::int64_t max_skipped) {
  return {.method = Method::mle,
          .iterations = iterations,
          .learning_rate = {.main = kRate},
          .optimizer = {.weight_decay = 0},
          .max_skipped = max_skipped,
          .record_every = 1};
}

TrainingData<double> ones() { return {Matrix<double>::Ones(4, 1), {}, {}, {}}; }

TEST(Divergence, ASkippedStepChangesNothingAndIsCounted) {
  Fragile main;
  TrainOptions options = options_of(12, 4);
  options.record_every = 100;
  Breaker breaker(main, 5, 7);
  const TrainResult result = Trainer<double>(main, nullptr, ones(), options).run(&breaker);
  EXPECT_EQ(result.stop_reason, StopReason::finished);
  EXPECT_EQ(result.iterations, 12);
  EXPECT_EQ(result.skipped, 3);
  EXPECT_NEAR(main.slope(), 9 * kRate, 1e-6);
  // What went wrong is in the history however thin it is.
  ASSERT_EQ(result.history.size(), 4U);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(result.history[i].iteration, 4 + static_cast<std::int64_t>(i));
    EXPECT_TRUE(result.history[i].skipped);
    EXPECT_TRUE(std::isnan(result.history[i].divergences.forward));
  }
}

TEST(Divergence, EndsTrainingAfterTooManyStepsInARow) {
  Fragile main;
  Breaker breaker(main, 6, 1000);
  const TrainResult result =
      Trainer<double>(main, nullptr, ones(), options_of(1000, 4)).run(&breaker);
  EXPECT_EQ(result.stop_reason, StopReason::diverged);
  EXPECT_EQ(result.iterations, 9);
  EXPECT_EQ(result.skipped, 4);
  ASSERT_EQ(result.history.size(), 9U);
  EXPECT_FALSE(result.history[4].skipped);
  EXPECT_TRUE(result.history[5].skipped);
  EXPECT_TRUE(std::isfinite(main.slope()));
}

TEST(Divergence, SkipsThatAreNotInARowDoNotEndTraining) {
  Fragile main;
  class EverySecond final : public TrainObserver {
   public:
    explicit EverySecond(Fragile& model) : model_(model) {}
    void on_step(const StepRecord&) override { model_.broken = !model_.broken; }

   private:
    Fragile& model_;
  } observer(main);
  const TrainResult result =
      Trainer<double>(main, nullptr, ones(), options_of(20, 2)).run(&observer);
  EXPECT_EQ(result.stop_reason, StopReason::finished);
  EXPECT_EQ(result.skipped, 10);
  EXPECT_NEAR(main.slope(), 10 * kRate, 1e-6);
}

TEST(Divergence, EndsWithAnEarlierStateThatWasGood) {
  Fragile main;
  main.limit = 2.5 * kRate;
  const TrainResult result = Trainer<double>(main, nullptr, ones(), options_of(1000, 4)).run();
  EXPECT_EQ(result.stop_reason, StopReason::diverged);
  EXPECT_EQ(result.iterations, 7);
  EXPECT_TRUE(std::isfinite(main.log_prob(ones().x).mean()));
}

// The first step, and the one after which the good state is taken again, lead out of what is good.
TEST(Divergence, DoesNotTakeAStateForGoodBeforeItWasEvaluated) {
  for (const double good_steps : {0.0, 199.0, 399.0}) {
    Fragile main;
    main.limit = (good_steps + 0.5) * kRate;
    const TrainResult result = Trainer<double>(main, nullptr, ones(), options_of(1000, 4)).run();
    EXPECT_EQ(result.stop_reason, StopReason::diverged);
    EXPECT_TRUE(std::isfinite(main.log_prob(ones().x).mean())) << good_steps << " good steps";
  }
}

TEST(Divergence, EndsWithTheStateThatValidationChose) {
  Fragile main;
  main.limit = 7.5 * kRate;
  TrainOptions options = options_of(1000, 4);
  options.validation.every = 3;
  TrainingData<double> data = ones();
  data.validation_x = data.x;
  const TrainResult result = Trainer<double>(main, nullptr, data, options).run();
  EXPECT_EQ(result.stop_reason, StopReason::diverged);
  EXPECT_EQ(result.main.iteration, 6);
  EXPECT_NEAR(main.slope(), 6 * kRate, 1e-6);
  EXPECT_EQ(result.evaluations.size(), 2U);
}

// As the paper writes zeta's constraints, with a force that grows with zeta.
TrainOptions raw_options() {
  return {.multipliers = {0.5, 0.5, 0.5, 0.1, 0.2},
          .dual = {.zeta_constraint = ZetaConstraint::raw},
          .zeta = {.estimator = ZetaEstimator::separate, .samples = 30}};
}

TEST(Divergence, AProxyThatIsNotFiniteStopsBothModelsAndTheMultipliers) {
  for (const double bad : {kNan, std::numeric_limits<double>::infinity()}) {
    GaussianDensity main(0, 1);
    GaussianEnergy proxy(0.5, 2, bad);
    Trainer<double> trainer(main, &proxy, {testing::normals(20, 1, 1), {}, {}, {}}, raw_options());
    const StepRecord record = trainer.step();
    EXPECT_TRUE(record.skipped) << bad;
    EXPECT_EQ(main.mean(), 0) << bad;
    EXPECT_EQ(proxy.mean(), 0.5) << bad;
    EXPECT_EQ(trainer.multipliers().at("forward"), 0.5) << bad;
    EXPECT_EQ(trainer.multipliers().at("zeta_upper"), 0.2) << bad;
  }
}

// zeta is finite only as a logarithm. Its weights are cut, so that the step is taken, and the
// multipliers, which bring zeta back, go on and are not frozen by what they saw.
TEST(Divergence, AZetaThatOverflowsStillMovesItsMultipliers) {
  GaussianDensity main(0, 1);
  GaussianEnergy proxy(0.5, 2, 1e5);
  const TrainingData<double> data{testing::normals(20, 1, 1), {}, {}, {}};
  Trainer<double> trainer(main, &proxy, data, raw_options());
  const StepRecord record = trainer.step();
  EXPECT_FALSE(record.skipped);
  EXPECT_GT(record.proxy_gradient_norm, 1e12);
  EXPECT_GT(trainer.multipliers().at("zeta_upper"), 0.2);
  EXPECT_LT(trainer.multipliers().at("zeta_lower"), 0.1);
  EXPECT_LT(proxy.parameter(2), 1e5);
  proxy.edit_parameters([](std::span<double> p) { p[2] = -5; });
  for (int i = 0; i < 200; ++i) trainer.step();
  EXPECT_GT(trainer.multipliers().at("zeta_lower"), 0.1);  // zeta is far below 1
}

TEST(Divergence, AZetaThatOverflowsLeavesRoomForClippingInSinglePrecision) {
  SplineFlow<float> main({.features = 1, .transforms = 1, .bins = 4, .hidden = {4}});
  ResidualEnergy<float> proxy({.features = 1, .hidden = 4, .blocks = 1});
  const std::size_t bias = proxy.layout().size() - 1;  // of the last layer: the offset of f
  proxy.edit_parameters([&](std::span<float> p) { p[bias] = 1000; });
  TrainOptions options = raw_options();
  options.optimizer.clip_norm = 5;
  Trainer<float> trainer(main, &proxy, {testing::normals(20, 1, 1).cast<float>(), {}, {}, {}},
                         options);
  EXPECT_FALSE(trainer.step().skipped);
  EXPECT_LT(proxy.parameters()[bias], 1000);
  EXPECT_GT(trainer.multipliers().at("zeta_upper"), 0.2);
}

}  // namespace
}  // namespace jeffreys
