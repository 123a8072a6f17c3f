// What a dual run does about zeta, and what its records hold.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "jeffreys/objective/importance.h"
#include "jeffreys/train/trainer.h"
#include "support/gaussian_models.h"
#include "support/model_helpers.h"
#include "train/random_purpose.h"
#include "train/warm_start.h"

namespace jeffreys {
namespace {

using testing::GaussianDensity;
using testing::GaussianEnergy;

constexpr Eigen::Index kRows = 50;
constexpr std::uint64_t kSeed = 5;

TrainingData<double> rows() { return {testing::normals(kRows, 1, 1), {}, {}, {}}; }

TrainOptions options_of(std::int64_t iterations) {
  return {.iterations = iterations,
          .seed = kSeed,
          .learning_rate = {.main = 0.02, .proxy = 0.02, .multipliers = 0.01},
          .multipliers = {0.5, 0.5, 0.5, 0, 0},
          .zeta = {.samples = 80}};
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
  const std::vector<double> found = log_zetas({.samples = 80}, 11);
  EXPECT_EQ(std::set<double>(found.begin(), found.end()).size(), 11U);
}

TEST(Zeta, IsKeptBetweenRefreshes) {
  const std::vector<double> found = log_zetas({.samples = 80, .refresh = 5}, 11);
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
TEST(Zeta, ComesFromItsOwnSamplesOrFromThoseOfTheReverseTerm) {
  const GaussianDensity main(0, 1);
  const GaussianEnergy proxy(0.5, 1.5, -1);
  const auto expected = [&](Eigen::Index count, std::uint16_t purpose) {
    const Samples<double> y = main.sample(count, {kSeed, purpose, 1});
    const Vector<double> w = proxy.log_unnormalized(y.x, Matrix<double>()) - y.log_prob;
    return importance_estimate({w.data(), static_cast<std::size_t>(w.size())}).log_zeta;
  };
  EXPECT_EQ(log_zetas({.samples = 80}, 1)[0], expected(80, kZetaSamples));
  EXPECT_EQ(log_zetas({.samples = 80, .share_samples = true}, 1)[0],
            expected(kRows, kReverseSamples));
}

// With shared samples, or with weights of mean 1, the gradient with respect to the offset is
// (upper - lower) zeta, whatever the samples: all else cancels.
class ZetaOffset : public ::testing::TestWithParam<ZetaOptions> {};

TEST_P(ZetaOffset, IsLeftToTheConstraints) {
  GaussianDensity main(0, 1);
  GaussianEnergy proxy(0.5, 1.5, -1);
  TrainOptions options = options_of(1);
  options.method = Method::weighted;
  options.optimizer.weight_decay = 0;
  options.zeta = GetParam();
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

INSTANTIATE_TEST_SUITE_P(Options, ZetaOffset,
                         ::testing::Values(ZetaOptions{.share_samples = true},
                                           ZetaOptions{.samples = 20, .normalize_weights = true}));

// Conditions with very different zeta: the weights' unevenness is that inside the conditions.
TEST(Zeta, OfConditionsIsEstimatedForEachOne) {
  constexpr Eigen::Index kEach = 7;
  const Matrix<double> context = 3 * testing::normals(kRows, 2, 2);
  SplineFlow<double> main({.features = 1, .context_features = 2, .hidden = {6}});
  FilmEnergy<double> proxy({.features = 1, .context_features = 2, .hidden = 6, .blocks = 1});
  testing::add_parameter_noise<double>(proxy, 0.5, 3);
  FilmEnergy<double> twin = proxy;
  twin.advance_state();
  const Matrix<double> repeated = context.replicate(kEach, 1);
  const Samples<double> y = main.sample(repeated.rows(), repeated, {kSeed, kZetaSamples, 1});
  Vector<double> w = twin.log_unnormalized(y.x, repeated) - y.log_prob;
  const auto all = static_cast<std::size_t>(w.size());
  const double uneven = importance_estimate({w.data(), all}).effective_sample_size;
  const Vector<double> log_zeta = log_zeta_by_condition({w.data(), all}, kRows);
  w -= log_zeta.replicate(kEach, 1);

  TrainOptions options = options_of(1);
  options.zeta.samples_per_condition = kEach;
  const StepRecord record =
      Trainer<double>(main, &proxy, {rows().x, context, {}, {}}, options).step();
  EXPECT_NEAR(record.log_zeta, log_mean_zeta(log_zeta), 1e-12);
  EXPECT_NEAR(record.effective_sample_size,
              importance_estimate({w.data(), all}).effective_sample_size, 1e-12);
  EXPECT_GT(record.effective_sample_size, uneven + 0.02);
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
    EXPECT_EQ(record.slack.epsilon.forward, record.multipliers.forward / 2);
    EXPECT_EQ(record.balance, balance(record.multipliers));
    EXPECT_EQ(record.residual.proxy, multiplier_residual(record.levels, record.multipliers).proxy);
  }
  EXPECT_EQ(result.history.front().multipliers.forward, 0.5);  // those that weighed the step
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
  visit_step(record, [&](const char* name, auto&) {
    names.insert(name);
    ++fields;
  });
  EXPECT_EQ(names.size(), static_cast<std::size_t>(fields));
  EXPECT_EQ(fields, 32);
}

}  // namespace
}  // namespace jeffreys
