// What a dual run does about zeta, and what its records hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "jeffreys/base/random_purpose.h"
#include "jeffreys/objective/importance.h"
#include "jeffreys/train/trainer.h"
#include "support/gaussian_models.h"
#include "support/model_helpers.h"
#include "train/training_run.h"
#include "train/warm_start.h"

namespace jeffreys {
namespace {

using testing::GaussianDensity;
using testing::GaussianEnergy;

constexpr Eigen::Index kRows = 50;
constexpr std::uint64_t kSeed = 5;
constexpr ZetaOptions kSeparate{.estimator = ZetaEstimator::separate, .samples = 80};

TrainingData<double> rows() { return {testing::normals(kRows, 1, 1), {}, {}, {}}; }

TrainOptions options_of(std::int64_t iterations) {
  return {.iterations = iterations,
          .seed = kSeed,
          .learning_rate = {.main = 0.02, .proxy = 0.02, .multipliers = 0.01},
          .multipliers = {0.5, 0.5, 0.5, 0, 0},
          .zeta = {.estimator = ZetaEstimator::separate, .samples = 80}};
}

std::vector<double> log_zetas(const ZetaOptions& zeta, int steps) {
  GaussianDensity main(0, 1);
  GaussianEnergy proxy(0.5, 1.5, -1);
  TrainOptions options = options_of(steps);
  options.zeta = zeta;
  Trainer<double> trainer(main, &proxy, rows(), options);
  std::vector<double> result;
  for (int i = 0; i < steps; ++i) result.push_back(trainer.step().log_zeta);
  return result;
}

TEST(Zeta, IsEstimatedAnewInEveryStep) {
  const std::vector<double> found = log_zetas(kSeparate, 11);
  EXPECT_EQ(std::set<double>(found.begin(), found.end()).size(), 11U);
}

TEST(Zeta, IsKeptBetweenRefreshes) {
  const std::vector<double> found =
      log_zetas({.estimator = ZetaEstimator::separate, .samples = 80, .refresh = 5}, 11);
  EXPECT_EQ(std::set<double>(found.begin(), found.end()).size(), 3U);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], found[i / 5 * 5]) << i;
}

TEST(Zeta, OfAKeptEstimateIsSaidToBeUnmeasured) {
  GaussianDensity main(0, 1);
  GaussianEnergy proxy(0.5, 1.5, -1);
  TrainOptions options = options_of(3);
  options.zeta.refresh = 5;
  Trainer<double> trainer(main, &proxy, rows(), options);
  EXPECT_TRUE(std::isfinite(trainer.step().pareto_k));
  EXPECT_TRUE(std::isnan(trainer.step().pareto_k));
}

// The first step's log zeta, from the samples that it should come from.
TEST(Zeta, ComesFromItsOwnSamplesOrFromThoseOfTheReverseTermOrBoth) {
  const GaussianDensity main(0, 1);
  const GaussianEnergy proxy(0.5, 1.5, -1);
  const auto weights = [&](Eigen::Index count, std::uint16_t purpose) {
    const Samples<double> y = main.sample(count, {kSeed, purpose, 1});
    return Vector<double>(proxy.log_unnormalized(y.x, Matrix<double>()) - y.log_prob);
  };
  const auto log_zeta = [](const Vector<double>& w) {
    return importance_estimate({w.data(), static_cast<std::size_t>(w.size())}).log_zeta;
  };
  const Vector<double> own = weights(80, kZetaSamples);
  const Vector<double> reverse = weights(kRows, kReverseSamples);
  EXPECT_EQ(log_zetas(kSeparate, 1)[0], log_zeta(own));
  EXPECT_EQ(log_zetas({.estimator = ZetaEstimator::shared}, 1)[0], log_zeta(reverse));
  Vector<double> both(own.size() + reverse.size());
  both << reverse, own;
  EXPECT_EQ(log_zetas({.estimator = ZetaEstimator::pooled, .samples = 80}, 1)[0], log_zeta(both));
}

// With shared samples the gradient with respect to the offset is that of the constraints, whatever
// the samples: all else cancels.
TEST(Zeta, OffsetIsLeftToTheConstraintsWhereSamplesAreShared) {
  GaussianDensity main(0, 1);
  GaussianEnergy proxy(0.5, 1.5, -1);
  TrainOptions options = options_of(1);
  options.method = Method::weighted;
  options.optimizer.weight_decay = 0;
  options.zeta.estimator = ZetaEstimator::shared;
  options.multipliers = {0.5, 0.7, 0, 0, 0};
  const double before = proxy.parameter(2);
  Trainer<double> trainer(main, &proxy, rows(), options);
  trainer.step();
  // AdamW makes a full step of anything but rounding.
  EXPECT_NEAR(proxy.parameter(2), before, 1e-6);
  options.multipliers.zeta_upper = 1;
  Trainer<double>(main, &proxy, rows(), options).step();
  EXPECT_NEAR(proxy.parameter(2), before - 0.02, 1e-3);
}

// Means over many batches of what the weights of log zeta's gradient add up to, with the weights'
// deviation 2 in their logarithm: 1 with exact zeta. From two separate samples it is far above.
TEST(Zeta, WeightsHaveMeanOneButWithSeparateSamples) {
  const auto mean_weight = [](ZetaEstimator estimator) {
    GaussianDensity main(0, 1);
    GaussianEnergy proxy(0.9, 0.8, 0);
    TrainOptions options = options_of(1);
    options.method = Method::weighted;
    options.optimizer.weight_decay = 0;
    options.zeta = {.estimator = estimator, .samples = 2};
    options.multipliers = {0, 0, 1, 0, 0};
    double sum = 0;
    constexpr int kSeeds = 4000;
    for (int seed = 0; seed < kSeeds; ++seed) {
      options.seed = static_cast<std::uint64_t>(seed);
      TrainingRun<double> run(main, &proxy, {Matrix<double>::Zero(2, 1), {}, {}, {}}, options);
      run.step();
      // The gradient of the offset: -1 from the data rows, plus the weights of the samples.
      sum += (run.proxy_gradient()[2] + 1) / kSeeds;
      proxy = GaussianEnergy(0.9, 0.8, 0);
      main = GaussianDensity(0, 1);
    }
    return sum;
  };
  EXPECT_NEAR(mean_weight(ZetaEstimator::shared), 1, 1e-9);
  // Weights of four samples lie between 0 and 2 on average over two of them: deviation below 0.5,
  // so the error of the mean is below 0.008.
  EXPECT_NEAR(mean_weight(ZetaEstimator::pooled), 1, 0.03);
  EXPECT_GT(mean_weight(ZetaEstimator::separate), 1.2);
}

// Conditions with very different zeta: the weights' unevenness is that inside the conditions.
class ConditionalZeta : public ::testing::TestWithParam<ZetaEstimator> {};

TEST_P(ConditionalZeta, IsEstimatedForEachCondition) {
  constexpr Eigen::Index kEach = 7;
  const bool shared = GetParam() == ZetaEstimator::shared;
  const Matrix<double> context = 3 * testing::normals(kRows, 2, 2);
  SplineFlow<double> main({.features = 1, .context_features = 2, .hidden = {6}});
  FilmEnergy<double> proxy({.features = 1, .context_features = 2, .hidden = 6, .blocks = 1});
  testing::add_parameter_noise<double>(proxy, 0.4, 3);
  FilmEnergy<double> twin = proxy;
  twin.advance_state();
  const Matrix<double> repeated = context.replicate(kEach, 1);
  const Samples<double> y =
      main.sample(repeated.rows(), repeated, {kSeed, shared ? kReverseSamples : kZetaSamples, 1});
  const Vector<double> w = twin.log_unnormalized(y.x, repeated) - y.log_prob;
  const auto all = static_cast<std::size_t>(w.size());
  const double uneven = importance_estimate({w.data(), all}).effective_sample_size;
  const Vector<double> log_zeta = log_zeta_by_condition({w.data(), all}, kRows);

  TrainOptions options = options_of(1);
  options.zeta.estimator = GetParam();
  options.zeta.samples_per_condition = kEach;
  const StepRecord record =
      Trainer<double>(main, &proxy, {rows().x, context, {}, {}}, options).step();
  EXPECT_NEAR(record.log_zeta, log_zeta.mean(), 1e-12);
  EXPECT_NEAR(record.log_zeta_lowest, log_zeta.minCoeff(), 1e-12);
  EXPECT_NEAR(record.log_zeta_highest, log_zeta.maxCoeff(), 1e-12);
  EXPECT_NEAR(record.effective_sample_size,
              importance_within_conditions({w.data(), all}, kRows).effective_sample_size, 1e-12);
  EXPECT_GT(record.effective_sample_size, uneven + 0.02);
  EXPECT_TRUE(std::isnan(record.pareto_k));
}

INSTANTIATE_TEST_SUITE_P(Estimators, ConditionalZeta,
                         ::testing::Values(ZetaEstimator::shared, ZetaEstimator::separate));

TEST(Zeta, EstimatorsThatDoNotFitTheModelAreRefused) {
  const auto problem = [](const ZetaOptions& zeta, Eigen::Index conditions) -> std::string {
    TrainOptions options = options_of(1);
    options.zeta = zeta;
    try {
      if (conditions > 0) {
        SplineFlow<double> main({.features = 1, .context_features = conditions, .hidden = {4}});
        FilmEnergy<double> proxy(
            {.features = 1, .context_features = conditions, .hidden = 4, .blocks = 1});
        Trainer<double>(main, &proxy, {rows().x, testing::normals(kRows, 1, 2), {}, {}}, options);
      } else {
        GaussianDensity main(0, 1);
        GaussianEnergy proxy(0.5, 1.5, -1);
        Trainer<double>(main, &proxy, rows(), options);
      }
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(problem({}, 1), "");
  EXPECT_EQ(problem({.estimator = ZetaEstimator::pooled, .samples_per_condition = 1}, 1), "");
  EXPECT_THAT(problem({.samples_per_condition = 1}, 1),
              ::testing::AllOf(::testing::HasSubstr("zeta.samples_per_condition"),
                               ::testing::HasSubstr("at least 2"),
                               ::testing::HasSubstr("zeta.estimator = shared")));
  EXPECT_THAT(problem({.estimator = ZetaEstimator::separate, .refresh = 2}, 1),
              ::testing::HasSubstr("zeta.refresh: expected 1 for a conditional model"));
  EXPECT_THAT(problem({.refresh = 2}, 0),
              ::testing::HasSubstr("zeta.refresh: expected 1 unless zeta has samples of its own"));
  EXPECT_THAT(problem({.estimator = ZetaEstimator::pooled, .refresh = 2}, 0),
              ::testing::HasSubstr("zeta.estimator = separate"));
}

double difference_after(std::int64_t steps, GaussianEnergy& proxy) {
  const GaussianDensity main(0, 1);
  TrainOptions options = options_of(1);
  options.warm_start = steps;
  options.optimizer.weight_decay = 0;
  ModelUpdate<double> update(proxy, options.optimizer, 0);
  return warm_start<double>(main, proxy, update, Matrix<double>(), 100, options);
}

TEST(WarmStart, ReducesTheMeanSquaredDifference) {
  GaussianEnergy proxy(0.3, 1.4, 1);
  const double before = difference_after(1, proxy);
  const double after = difference_after(1500, proxy);
  EXPECT_GT(before, 2);
  EXPECT_LT(after, 0.01);
  EXPECT_NEAR(proxy.mean(), 0, 0.1);
  EXPECT_NEAR(proxy.deviation(), 1, 0.1);
  EXPECT_NEAR(proxy.log_zeta(), 0, 0.1);
}

TEST(WarmStart, IsDoneOnceBeforeTheFirstStep) {
  const auto first_record = [](std::int64_t steps) {
    GaussianDensity main(0, 1);
    GaussianEnergy proxy(0.3, 1.4, 1);
    TrainOptions options = options_of(2);
    options.warm_start = steps;
    options.optimizer.weight_decay = 0;
    Trainer<double> trainer(main, &proxy, rows(), options);
    const StepRecord record = trainer.step();
    const double mean = proxy.mean();
    trainer.step();
    EXPECT_NEAR(proxy.mean(), mean, 0.05);  // one step of training
    return record;
  };
  const StepRecord cold = first_record(0);
  const StepRecord warm = first_record(1500);
  EXPECT_EQ(warm.iteration, 1);
  EXPECT_GT(std::abs(cold.log_zeta), 1);
  EXPECT_LT(std::abs(warm.log_zeta), 0.1);
  EXPECT_LT(cold.effective_sample_size, 0.9);
  EXPECT_GT(warm.effective_sample_size, 0.98);
}

TEST(WarmStart, IsWhereTheAverageBegins) {
  GaussianDensity main(0, 1);
  GaussianEnergy proxy(0.5, 1.4, 1);
  TrainOptions options = options_of(1);
  options.warm_start = 1500;
  options.averaging = 0.9;
  options.validation = {.every = 1};
  TrainingData<double> data = rows();
  data.validation_x = data.x;
  const TrainResult result = Trainer<double>(main, &proxy, data, options).run();
  ASSERT_EQ(result.evaluations.size(), 1U);
  // A share of 2/11 of one step lies between them. As much of the cold start would cost 0.007.
  EXPECT_NEAR(result.evaluations[0].proxy_averaged, result.evaluations[0].proxy, 0.001);
}

TEST(Records, HoldNothingButFiniteNumbers) {
  GaussianDensity main(0.2, 1.3);
  GaussianEnergy proxy(0.5, 1.5, -1);
  const TrainResult result = Trainer<double>(main, &proxy, rows(), options_of(40)).run();
  ASSERT_EQ(result.history.size(), 40U);
  for (const StepRecord& record : result.history) {
    visit_step(record, [&](const char* name, const auto& value) {
      EXPECT_TRUE(std::isfinite(static_cast<double>(value)))
          << name << " in step " << record.iteration;
    });
    EXPECT_FALSE(record.skipped);
    EXPECT_GT(record.main_gradient_norm, 0);
    EXPECT_GT(record.proxy_gradient_norm, 0);
    EXPECT_GE(record.times.sampling, 0);
    EXPECT_LE(record.effective_sample_size, 1 + 1e-12);
    const ConstraintRecord& forward = record.constraint("forward");
    EXPECT_EQ(forward.epsilon, forward.multiplier / 2);
    EXPECT_EQ(record.balance, balance(forward.multiplier, record.constraint("reverse").multiplier));
    EXPECT_EQ(forward.residual, forward.level - settled_level(forward.multiplier));
    EXPECT_EQ(record.constraint("zeta_upper").delta, 0);
    EXPECT_TRUE(std::isnan(record.constraint("unknown").level));
  }
  EXPECT_EQ(result.history.front().constraint("forward").multiplier,
            0.5);  // those that weighed the step
}

TEST(Records, OfLikelihoodMethodsLeaveTheProxyOut) {
  for (const Method method : {Method::mle, Method::mle_noise, Method::mle_entropy}) {
    GaussianDensity main(0.2, 1.3);
    TrainOptions options = options_of(3);
    options.method = method;
    for (const StepRecord& r : Trainer<double>(main, nullptr, rows(), options).run().history) {
      EXPECT_TRUE(std::isfinite(r.divergences.forward));
      EXPECT_TRUE(std::isfinite(r.main_gradient_norm));
      EXPECT_TRUE(std::isnan(r.divergences.reverse));
      EXPECT_TRUE(std::isnan(r.divergences.proxy));
      EXPECT_TRUE(std::isnan(r.proxy_gradient_norm));
    }
  }
}

TEST(Records, VisitEveryFieldUnderItsOwnName) {
  std::set<std::string> names;
  int fields = 0;
  StepRecord record;
  record.constraints = {{.name = "forward"}, {.name = "h"}};
  visit_step(record, [&](const char* name, auto&) {
    names.insert(name);
    ++fields;
  });
  EXPECT_EQ(names.size(), static_cast<std::size_t>(fields));
  EXPECT_EQ(fields, 17 + 2 * 5);
}

}  // namespace
}  // namespace jeffreys
