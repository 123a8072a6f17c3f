// The loop around the steps: evaluation and selection, reasons to stop, schedule, averaging, and
// what is recorded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "jeffreys/train/trainer.h"
#include "support/gaussian_models.h"
#include "support/model_helpers.h"

namespace jeffreys {
namespace {

using testing::GaussianDensity;
using testing::GaussianEnergy;
using testing::SlopeModel;

using Parameters = std::vector<double>;

Parameters parameters_of(const UnnormalizedDensity<double>& model) {
  return {model.parameters().begin(), model.parameters().end()};
}

double nll_of(const UnnormalizedDensity<double>& model, const Matrix<double>& x) {
  return -model.log_unnormalized(x).mean();
}

// Keeps everything that happens, with the parameters after each step.
class Witness final : public TrainObserver {
 public:
  explicit Witness(const UnnormalizedDensity<double>& main_model,
                   const UnnormalizedDensity<double>* proxy_model = nullptr,
                   std::int64_t stop_after = 0)
      : main_(main_model), proxy_(proxy_model), stop_after_(stop_after) {}
  void on_step(const StepRecord& record) override {
    steps.push_back(record);
    main.push_back(parameters_of(main_));
    if (proxy_ != nullptr) proxy.push_back(parameters_of(*proxy_));
  }
  void on_evaluation(const Evaluation& evaluation) override { evaluations.push_back(evaluation); }
  bool should_stop() override {
    return stop_after_ > 0 && static_cast<std::int64_t>(steps.size()) >= stop_after_;
  }

  std::vector<StepRecord> steps;
  std::vector<Evaluation> evaluations;
  std::vector<Parameters> main;
  std::vector<Parameters> proxy;

 private:
  const UnnormalizedDensity<double>& main_;
  const UnnormalizedDensity<double>* proxy_;
  std::int64_t stop_after_;
};

// On the way from mean 0 to the data at 2, a model passes the held-out rows at 1.
TrainingData<double> moving_target() {
  return {testing::normals(60, 1, 1).array() + 2, {}, testing::normals(40, 1, 2).array() + 1, {}};
}

TrainOptions options_of(Method method, std::int64_t iterations) {
  return {.method = method,
          .iterations = iterations,
          .seed = 5,
          .learning_rate = {.main = 0.02, .proxy = 0.03, .multipliers = 0.01},
          .optimizer = {.weight_decay = 0},
          .zeta = {.samples = 100},
          .validation = {.every = 10}};
}

TEST(Selection, GivesBackTheBestEvaluatedState) {
  GaussianDensity main(0, 1);
  Witness witness(main);
  const TrainingData<double> data = moving_target();
  const TrainResult result =
      Trainer<double>(main, nullptr, data, options_of(Method::mle, 205)).run(&witness);
  EXPECT_EQ(result.stop_reason, StopReason::finished);
  ASSERT_EQ(result.evaluations.size(), 21U);  // every tenth step and the last
  EXPECT_EQ(result.evaluations.back().iteration, 205);
  const auto best =
      std::min_element(result.evaluations.begin(), result.evaluations.end(),
                       [](const Evaluation& a, const Evaluation& b) { return a.main < b.main; });
  EXPECT_EQ(result.main.iteration, best->iteration);
  EXPECT_LT(best->iteration, 150);
  EXPECT_EQ(result.main.nll, best->main);
  EXPECT_FALSE(result.main.averaged);
  EXPECT_EQ(nll_of(main, data.validation_x), result.main.nll);
  EXPECT_EQ(parameters_of(main), witness.main[static_cast<std::size_t>(best->iteration - 1)]);
  EXPECT_EQ(result.proxy.iteration, 0);
  EXPECT_TRUE(std::isnan(best->main_averaged) && std::isnan(best->proxy));
}

TEST(Selection, ChoosesForMainAndFlowProxyApart) {
  GaussianDensity main(0, 1);
  GaussianDensity proxy(-1.5, 1);
  const TrainingData<double> data = moving_target();
  const TrainResult result =
      Trainer<double>(main, &proxy, data, options_of(Method::dual, 300)).run();
  EXPECT_NE(result.main.iteration, result.proxy.iteration);
  EXPECT_EQ(nll_of(main, data.validation_x), result.main.nll);
  EXPECT_EQ(nll_of(proxy, data.validation_x), result.proxy.nll);
}

TEST(Selection, KeepsAnEnergyProxyWithItsMainModel) {
  GaussianDensity main(0, 1);
  GaussianEnergy proxy(-0.5, 1, -1);
  Witness witness(main, &proxy);
  const TrainResult result =
      Trainer<double>(main, &proxy, moving_target(), options_of(Method::dual, 300)).run(&witness);
  EXPECT_EQ(result.main.iteration, result.proxy.iteration);
  const auto at = static_cast<std::size_t>(result.main.iteration - 1);
  EXPECT_EQ(parameters_of(main), witness.main[at]);
  EXPECT_EQ(parameters_of(proxy), witness.proxy[at]);
  // Its NLL is that of the normalised model, to the error of zeta's 2000 samples.
  EXPECT_NEAR(result.proxy.nll, nll_of(proxy, moving_target().validation_x) + proxy.log_zeta(),
              0.1);
}

TEST(Selection, WithoutHeldOutRowsTheLastStateStays) {
  GaussianDensity main(0, 1);
  Witness witness(main);
  TrainingData<double> data = moving_target();
  data.validation_x.resize(0, 0);
  const TrainResult result =
      Trainer<double>(main, nullptr, data, options_of(Method::mle, 50)).run(&witness);
  EXPECT_EQ(result.main.iteration, 0);
  EXPECT_TRUE(result.evaluations.empty());
  EXPECT_EQ(parameters_of(main), witness.main.back());
}

// Large steps circle around the optimum: their average is better than any of them.
TEST(Averaging, IsEvaluatedBesideTheRawWeightsAndChosenWhereBetter) {
  GaussianDensity main(0.4, 1.4);
  TrainOptions options = options_of(Method::mle, 200);
  options.learning_rate.main = 0.3;
  options.averaging = 0.95;
  const Matrix<double> x = testing::normals(50, 1, 3);
  const Matrix<double> start{{0.4, std::log(1.4)}};
  Witness witness(main);
  const TrainResult result = Trainer<double>(main, nullptr, {x, {}, x, {}}, options).run(&witness);
  EXPECT_TRUE(result.main.averaged);
  EXPECT_EQ(nll_of(main, x), result.main.nll);

  Parameters average{start(0, 0), start(0, 1)};
  for (std::size_t step = 1; step <= witness.main.size(); ++step) {
    const auto n = static_cast<double>(step);
    const double decay = std::min(0.95, (1 + n) / (10 + n));
    for (std::size_t i = 0; i < 2; ++i) {
      average[i] = decay * average[i] + (1 - decay) * witness.main[step - 1][i];
    }
    if (step % 10 != 0) continue;
    const GaussianDensity averaged(average[0], std::exp(average[1]));
    const GaussianDensity raw(witness.main[step - 1][0], std::exp(witness.main[step - 1][1]));
    EXPECT_NEAR(witness.evaluations[step / 10 - 1].main_averaged, nll_of(averaged, x), 1e-10);
    EXPECT_NEAR(witness.evaluations[step / 10 - 1].main, nll_of(raw, x), 1e-10);
  }
}

TEST(Stopping, PatienceCountsFromTheLastImprovement) {
  GaussianDensity main(0, 1);
  TrainOptions options = options_of(Method::mle, 1000);
  options.validation.patience = 40;
  const TrainResult result = Trainer<double>(main, nullptr, moving_target(), options).run();
  EXPECT_EQ(result.stop_reason, StopReason::patience);
  EXPECT_EQ(result.iterations, result.main.iteration + 40);
  EXPECT_EQ(nll_of(main, moving_target().validation_x), result.main.nll);
}

TEST(Stopping, PatienceMayBeRelativeToWhatTheBestTook) {
  ValidationOptions validation{.patience = 4000, .relative_patience = 2};
  EXPECT_EQ(validation.patience_after(0), 1000);
  EXPECT_EQ(validation.patience_after(500), 1000);
  EXPECT_EQ(validation.patience_after(501), 1002);
  EXPECT_EQ(validation.patience_after(3000), 4000);
  validation.patience = 40;
  EXPECT_EQ(validation.patience_after(3000), 40);
  validation.relative_patience = 0;
  EXPECT_EQ(validation.patience_after(0), 40);

  GaussianDensity main(0, 1);
  TrainOptions options = options_of(Method::mle, 5000);
  options.validation.patience = 4000;
  options.validation.relative_patience = 2;
  const TrainResult result = Trainer<double>(main, nullptr, moving_target(), options).run();
  EXPECT_EQ(result.stop_reason, StopReason::patience);
  EXPECT_EQ(result.iterations, result.main.iteration + 1000);
}

TEST(Stopping, AtTheTimeLimit) {
  GaussianDensity main(0, 1);
  TrainOptions options = options_of(Method::mle, 1000);
  options.time_limit = 1e-9;
  const TrainResult result = Trainer<double>(main, nullptr, moving_target(), options).run();
  EXPECT_EQ(result.stop_reason, StopReason::time_limit);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_GT(result.seconds, 0);
}

TEST(Stopping, AnInterruptedRunKeepsItsStateAndGoesOn) {
  GaussianDensity whole(0, 1);
  const TrainResult straight =
      Trainer<double>(whole, nullptr, moving_target(), options_of(Method::mle, 200)).run();

  GaussianDensity main(0, 1);
  Witness witness(main, nullptr, 120);
  Trainer<double> trainer(main, nullptr, moving_target(), options_of(Method::mle, 200));
  const TrainResult half = trainer.run(&witness);
  EXPECT_EQ(half.stop_reason, StopReason::interrupted);
  EXPECT_EQ(half.iterations, 120);
  EXPECT_EQ(trainer.iteration(), 120);
  EXPECT_EQ(parameters_of(main), witness.main.back());  // not the best one
  EXPECT_LT(half.main.iteration, 120);

  const TrainResult result = trainer.run();
  EXPECT_EQ(result.stop_reason, StopReason::finished);
  EXPECT_EQ(parameters_of(main), parameters_of(whole));
  EXPECT_EQ(result.main.nll, straight.main.nll);
  EXPECT_EQ(result.history.size(), 200U);
}

// Time limits and the pauses between checkpoints count all of a run.
TEST(Stopping, TheSecondsOfAnInterruptedRunCount) {
  GaussianDensity main(0, 1);
  Witness witness(main, nullptr, 1000);
  Trainer<double> trainer(main, nullptr, moving_target(), options_of(Method::mle, 1001));
  const double first = trainer.run(&witness).seconds;
  EXPECT_GT(trainer.run().seconds, first);
}

// On rows of 1 the gradient is -1 in every step, and a step of AdamW is the rate.
std::vector<double> rates(const ScheduleOptions& schedule, std::int64_t iterations) {
  SlopeModel main;
  TrainOptions options = options_of(Method::mle, iterations);
  options.schedule = schedule;
  Trainer<double> trainer(main, nullptr, {Matrix<double>::Ones(3, 1), {}, {}, {}}, options);
  std::vector<double> result;
  for (std::int64_t i = 0; i < iterations; ++i) {
    const double before = main.slope();
    trainer.step();
    result.push_back((main.slope() - before) / 0.02);
  }
  return result;
}

void expect_rates(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
}

TEST(ScheduleFactor, GrowsInTheWarmUp) {
  expect_rates(rates({}, 3), {1, 1, 1});
  expect_rates(rates({.warm_up = 4}, 6), {0.25, 0.5, 0.75, 1, 1, 1});
}

TEST(ScheduleFactor, FallsAsACosine) {
  const double half = std::sqrt(0.5) / 2;
  expect_rates(rates({.kind = Schedule::cosine}, 4), {1, 0.5 + half, 0.5, 0.5 - half});
  expect_rates(rates({.kind = Schedule::cosine, .warm_up = 2, .final_share = 0.2}, 6),
               {0.5, 1, 1, 0.2 + 0.8 * (0.5 + half), 0.6, 0.2 + 0.8 * (0.5 - half)});
}

// Rows 1 and 1000 come as batches of one, whose gradients are clipped to the same norm.
TEST(Clipping, LimitsTheNormOfTheGradient) {
  for (const double limit : {0.0, 0.5}) {
    SlopeModel main;
    TrainOptions options = options_of(Method::mle, 6);
    options.batch_size = 1;
    options.optimizer.clip_norm = limit;
    Trainer<double> trainer(main, nullptr, {Matrix<double>{{1.0}, {1000.0}}, {}, {}, {}}, options);
    double least = 1;
    double norms = 0;
    for (int i = 0; i < 6; ++i) {
      const double before = main.slope();
      norms += trainer.step().main_gradient_norm;  // before clipping
      least = std::min(least, (main.slope() - before) / 0.02);
    }
    EXPECT_NEAR(norms, 3003, 1e-6);
    if (limit > 0) {
      EXPECT_NEAR(least, 1, 1e-5);
    } else {
      EXPECT_LT(least, 0.1);
    }
  }
}

TEST(History, IsThinned) {
  const auto lengths = [](std::int64_t iterations, std::int64_t every) {
    SlopeModel main;
    TrainOptions options = options_of(Method::mle, iterations);
    options.record_every = every;
    const TrainResult result =
        Trainer<double>(main, nullptr, {Matrix<double>::Ones(1, 1), {}, {}, {}}, options).run();
    EXPECT_EQ(result.history.front().iteration, 1);
    for (std::size_t i = 1; i < result.history.size(); ++i) {
      EXPECT_EQ(result.history[i].iteration % std::max<std::int64_t>(every, 1), 0);
    }
    return result.history.size();
  };
  EXPECT_EQ(lengths(500, 0), 500U);
  EXPECT_EQ(lengths(3000, 0), 1001U);  // every third and the first
  EXPECT_EQ(lengths(100, 7), 15U);
}

}  // namespace
}  // namespace jeffreys
