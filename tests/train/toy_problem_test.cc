// Whole runs on problems with a known optimum: Gaussian models, whose best mean and deviation are
// those of the data, and the multipliers that belong to them.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <ostream>

#include "jeffreys/train/trainer.h"
#include "support/gaussian_models.h"
#include "support/model_helpers.h"

namespace jeffreys {
namespace {

using testing::GaussianDensity;
using testing::GaussianEnergy;
using testing::TwoHumps;

constexpr double kMean = 0.7;
constexpr double kDeviation = 1.5;
// NLL of the data at the optimum: the entropy of a Gaussian.
const double kNll = std::log(kDeviation) + 0.5 * std::log(2 * std::numbers::pi * std::numbers::e);

// Rows whose mean and deviation are exactly these.
Matrix<double> gaussian_rows(Eigen::Index rows) {
  Matrix<double> x = testing::normals(rows, 1, 11);
  x.array() -= x.mean();
  x *= kDeviation / std::sqrt(x.squaredNorm() / static_cast<double>(rows));
  return x.array() + kMean;
}

// The rate falls to 0, so that AdamW comes to rest.
TrainOptions toy_options(Method method, std::int64_t iterations) {
  return {.method = method,
          .iterations = iterations,
          .seed = 3,
          .learning_rate = {.main = 0.02, .proxy = 0.02, .multipliers = 0.02, .zeta = 0.02},
          .schedule = {.kind = Schedule::cosine},
          .optimizer = {.weight_decay = 0}};
}

template <typename Model>
void expect_optimum(const Model& model, double tolerance) {
  EXPECT_NEAR(model.mean(), kMean, tolerance);
  EXPECT_NEAR(model.deviation(), kDeviation, tolerance);
}

struct Rest {
  const char* name;
  MultiplierOptimizer optimizer;
  double rate;
  double tolerance;  // AdamW's steps do not shrink: it circles within a few times its rate
};

void PrintTo(const Rest& rest, std::ostream* stream) { *stream << rest.name; }

class MultipliersAtRest : public ::testing::TestWithParam<Rest> {};

// At the optimum main and proxy are equal: the reverse KL is 0 in every sample, so nothing is
// random there.
TEST_P(MultipliersAtRest, AreTheSettledOnesOfTheAnalyticLevels) {
  GaussianDensity main(0, 1);
  GaussianDensity proxy(0.3, 0.8);
  TrainOptions options = toy_options(Method::dual, 2000);
  options.multiplier_optimizer = GetParam().optimizer;
  options.learning_rate.multipliers = GetParam().rate;
  options.multipliers = {0.5, 0.5, 0.5, 0, 0};
  options.dual = {.level_scale = 0.8, .level_offset = 0.5, .reverse_scale = 2};
  const TrainResult result =
      Trainer<double>(main, &proxy, {gaussian_rows(200), {}, {}, {}}, options).run();
  EXPECT_EQ(result.stop_reason, StopReason::finished);
  EXPECT_EQ(result.skipped, 0);
  expect_optimum(main, 4e-3);
  expect_optimum(proxy, 4e-3);

  const StepRecord& last = result.history.back();
  EXPECT_NEAR(last.divergences.forward, kNll, 1e-5);
  EXPECT_NEAR(last.divergences.reverse, 0, 1e-4);
  EXPECT_NEAR(last.divergences.proxy, kNll, 1e-5);
  const double level = 0.8 * (kNll - 0.5);
  const double tolerance = GetParam().tolerance;
  EXPECT_NEAR(result.multipliers.at("forward"), settled_multiplier(level), tolerance);
  EXPECT_NEAR(result.multipliers.at("reverse"), 0.7937, 1e-4 + tolerance);
  EXPECT_NEAR(result.multipliers.at("proxy"), settled_multiplier(level), tolerance);
  EXPECT_NEAR(last.constraint("forward").residual, 0, 2 * tolerance);
  EXPECT_NEAR(last.constraint("reverse").residual, 0, 2 * tolerance);
  EXPECT_NEAR(last.constraint("proxy").residual, 0, 2 * tolerance);
  EXPECT_NEAR(last.balance, settled_multiplier(level) / (settled_multiplier(level) + 0.7937),
              tolerance);
  // No zeta: its multipliers have nothing to do.
  EXPECT_FALSE(result.multipliers.contains("zeta_lower"));
  EXPECT_FALSE(result.multipliers.contains("zeta_upper"));
}

INSTANTIATE_TEST_SUITE_P(Optimizers, MultipliersAtRest,
                         ::testing::Values(Rest{"AdamW", MultiplierOptimizer::adamw, 0.005, 0.02},
                                           Rest{"Sgd", MultiplierOptimizer::sgd, 0.1, 1e-3},
                                           Rest{"Exact", MultiplierOptimizer::exact, 0, 1e-3}),
                         [](const auto& test) { return test.param.name; });

// zeta far below and far above its bounds: a constraint pulls it in.
TEST(ToyProblem, AnEnergyProxyEndsNormalized) {
  for (const double offset : {-3.0, 1.5}) {
    GaussianDensity main(0, 1);
    GaussianEnergy proxy(0.3, 0.8, offset);
    TrainOptions options = toy_options(Method::dual, 4000);
    options.multipliers = {0.5, 0.5, 0.5, 0, 0};
    options.multiplier_optimizer = MultiplierOptimizer::exact;
    options.dual.zeta_slack = 0.1;
    options.zeta.samples = 200;
    const TrainResult result =
        Trainer<double>(main, &proxy, {gaussian_rows(200), {}, {}, {}}, options).run();
    expect_optimum(main, 5e-3);
    expect_optimum(proxy, 5e-3);
    const double zeta = std::exp(proxy.log_zeta());
    EXPECT_GT(zeta, 0.98) << offset;
    EXPECT_LT(zeta, 1.12) << offset;
    // The estimate is the truth: at the optimum all importance weights are equal.
    EXPECT_NEAR(result.history.back().log_zeta, proxy.log_zeta(), 5e-3);
    EXPECT_GT(result.history.back().effective_sample_size, 0.999);
    EXPECT_LT(result.history.front().effective_sample_size, 0.95);
    EXPECT_NEAR(result.multipliers.at("forward"), settled_multiplier(kNll), 1e-3);
    EXPECT_NEAR(result.multipliers.at("reverse"), 0.7937, 5e-3);
    EXPECT_NEAR(result.multipliers.at("proxy"), settled_multiplier(kNll), 5e-3);
    EXPECT_GE(result.multipliers.at("zeta_lower"), 0);
    EXPECT_GE(result.multipliers.at("zeta_upper"), 0);
  }
}

TEST(ToyProblem, MaximumLikelihoodFindsTheMomentsOfTheData) {
  GaussianDensity main(0, 1);
  const TrainResult result = Trainer<double>(main, nullptr, {gaussian_rows(200), {}, {}, {}},
                                             toy_options(Method::mle, 1000))
                                 .run();
  expect_optimum(main, 1e-4);
  EXPECT_NEAR(result.history.back().divergences.forward, kNll, 1e-7);
}

// Fresh noise for 1000 rows in each step: a step's variance has a standard error of 5 %, which the
// falling rate averages over some 100 steps to 0.5 % of the variance, 0.005 of the deviation.
TEST(ToyProblem, NoiseOnTheDataWidensTheFit) {
  GaussianDensity main(0, 1);
  TrainOptions options = toy_options(Method::mle_noise, 2000);
  options.noise = 0.8;
  Trainer<double>(main, nullptr, {gaussian_rows(1000), {}, {}, {}}, options).run();
  EXPECT_NEAR(main.mean(), kMean, 0.02);
  EXPECT_NEAR(main.deviation(), std::hypot(kDeviation, 0.8), 0.02);
}

// NLL - w H = (1 - w) log deviation + s^2 / (2 deviation^2) + constant is least at
// deviation^2 = s^2 / (1 - w): 1.7928 in place of 1.5. Standard error as above.
TEST(ToyProblem, TheEntropyTermWidensTheFit) {
  GaussianDensity main(0, 1);
  TrainOptions options = toy_options(Method::mle_entropy, 2000);
  options.entropy_weight = 0.3;
  Trainer<double>(main, nullptr, {gaussian_rows(1000), {}, {}, {}}, options).run();
  EXPECT_NEAR(main.mean(), kMean, 0.03);
  EXPECT_NEAR(main.deviation(), kDeviation / std::sqrt(0.7), 0.03);
}

struct Gaussian {
  double mean;
  double deviation;
};

// forward KL(humps || N) + reverse KL(N || humps) by quadrature, but for a constant.
double divergence(const Gaussian& g, double forward, double reverse) {
  double sum = 0;
  for (double x = -8; x <= 8; x += 0.02) {
    const double log_p = testing::log_normal(x, g.mean, g.deviation);
    const double log_q = TwoHumps::log_density(x);
    sum +=
        0.02 * (-forward * std::exp(log_q) * log_p + reverse * std::exp(log_p) * (log_p - log_q));
  }
  return sum;
}

// The least divergence, by steps along each coordinate that shrink.
Gaussian best_gaussian(double forward, double reverse) {
  Gaussian best{0, 1};
  for (double step = 0.1; step > 1e-4;) {
    const Gaussian before = best;
    for (const Gaussian move : {Gaussian{step, 0}, {-step, 0}, {0, step}, {0, -step}}) {
      const Gaussian next{best.mean + move.mean, best.deviation + move.deviation};
      if (divergence(next, forward, reverse) < divergence(best, forward, reverse)) best = next;
    }
    if (before.mean == best.mean && before.deviation == best.deviation) step /= 2;
  }
  return best;
}

// Quantiles of the mixture: the NLL of 400 of them is that of the mixture to 1e-2.
Matrix<double> quantile_rows() {
  Matrix<double> rows(400, 1);
  double below = 0;
  Eigen::Index next = 0;
  for (double x = -6; next < rows.rows(); x += 1e-4) {
    below += 1e-4 * std::exp(TwoHumps::log_density(x));
    if (below >= (static_cast<double>(next) + 0.5) / 400) rows(next++, 0) = x;
  }
  return rows;
}

// A Gaussian cannot be the mixture. With fixed weights, and the mixture itself as the proxy, it
// becomes the one that minimises the generalised Jeffreys divergence: between the forward one,
// which covers both humps, and the reverse one, which prefers the larger. The reverse gradient is
// estimated from 400 samples in each of 3000 steps at a falling rate: standard error below 0.01.
TEST(ToyProblem, FixedWeightsLeadBetweenTheForwardAndTheReverseSolution) {
  const Gaussian forward = best_gaussian(1, 0);
  const Gaussian reverse = best_gaussian(0, 1);
  ASSERT_GT(forward.mean, reverse.mean + 0.2);
  ASSERT_GT(forward.deviation, reverse.deviation + 0.2);
  for (const ReverseEstimator estimator :
       {ReverseEstimator::score_function, ReverseEstimator::leave_one_out}) {
    const Gaussian expected = best_gaussian(0.4, 0.6);
    GaussianDensity main(0, 1);
    TwoHumps proxy;
    TrainOptions options = toy_options(Method::weighted, 3000);
    options.multipliers = {0.4, 0.6, 1, 0, 0};
    options.dual.reverse_estimator = estimator;
    const TrainResult result =
        Trainer<double>(main, &proxy, {quantile_rows(), {}, {}, {}}, options).run();
    EXPECT_NEAR(main.mean(), expected.mean, 0.04);
    EXPECT_NEAR(main.deviation(), expected.deviation, 0.04);
    EXPECT_GT(main.mean(), reverse.mean);
    EXPECT_LT(main.mean(), forward.mean);
    EXPECT_GT(main.deviation(), reverse.deviation);
    EXPECT_LT(main.deviation(), forward.deviation);
    EXPECT_EQ(result.multipliers.at("forward"), 0.4);
    EXPECT_EQ(result.multipliers.at("reverse"), 0.6);
    EXPECT_EQ(result.multipliers.at("proxy"), 1);
  }
}

// Without a forward weight the main model knows the data through the proxy alone.
TEST(ToyProblem, FixedWeightsReachTheDataThroughTheProxy) {
  GaussianDensity main(0, 1);
  GaussianDensity proxy(0, 1);
  TrainOptions options = toy_options(Method::weighted, 2500);
  options.multipliers = {0, 0.5, 0.5, 0, 0};
  Trainer<double>(main, &proxy, {gaussian_rows(300), {}, {}, {}}, options).run();
  expect_optimum(main, 0.02);
  expect_optimum(proxy, 0.02);
}

}  // namespace
}  // namespace jeffreys
