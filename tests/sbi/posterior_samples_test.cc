// Samples of a posterior: inside the support, and of the density that log_prob tells.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>

#include "jeffreys/sbi/posterior.h"
#include "jeffreys/sbi/task_prior.h"
#include "sbi/posterior_grid.h"
#include "sbi/small_posteriors.h"

namespace jeffreys::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Eigen::Index outside(const Prior& prior, const Matrix<double>& parameters) {
  Eigen::Index count = 0;
  for (Eigen::Index row = 0; row < parameters.rows(); ++row) {
    for (Eigen::Index i = 0; i < 2; ++i) {
      const auto [lower, upper] =
          prior.parameters()[static_cast<std::size_t>(i)].distribution.support();
      const double value = parameters(row, i);
      if (!(std::isfinite(value) && value > lower && value < upper)) ++count;
    }
  }
  return count;
}

template <typename Error>
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

// A posterior under the box prior, trained for a moment, with an energy model as its proxy.
Posterior with_energy() {
  const PreparedTable table = prepared_pairs(pairs_of(box_prior()), box_prior());
  FitOptions options = default_posterior_options(table.rows(), 2, 2, ModelChoice{"energy"});
  options.proxy = ModelChoice{"energy"};
  options.flow = {.transforms = 2, .bins = 6, .hidden = {16}};
  options.energy.hidden = 32;
  options.train.method = Method::weighted;
  options.train.learning_rate.proxy = 2e-3;
  options.train.warm_start = 300;
  options.train.iterations = 60;
  return make_posterior(table, fit(table, options).density, box_prior());
}

TEST(PosteriorSamples, NeverLeaveTheSupport) {
  // A million draws in all, from flows as they begin, rough ones and such as no training gives.
  for (const Prior& prior : {box_prior(), open_prior()}) {
    for (const double roughness : {0.0, 0.3, 2.0}) {
      const Posterior posterior = untrained_posterior({.prior = prior, .roughness = roughness});
      for (const Matrix<double>& observed : {observation(0.9, 3), observation(-1e6, 1e9)}) {
        const PosteriorSamples drawn =
            posterior.sample(observed, 85'000, {.far = FarObservations::extrapolate});
        EXPECT_EQ(outside(prior, drawn.parameters), 0) << roughness << " at " << observed;
      }
    }
  }
}

// Distances between distribution functions are below 1.95 / sqrt(samples) but for one in 1000;
// the grid's own error is a tenth of that.
TEST(PosteriorSamples, HaveTheDensity) {
  constexpr Eigen::Index kSamples = 20'000;
  const Posterior posterior = untrained_posterior({.proxy = ModelChoice{"flow"}});
  const Matrix<double> observed = observation(0.9, 5);
  for (const From from : {From::main, From::proxy}) {
    const PosteriorGrid grid(posterior, observed, box_prior(), 150, 0.7, from);
    const PosteriorSamples drawn = posterior.sample(observed, kSamples, {.from = from});
    for (const Eigen::Index i : {0, 1}) {
      EXPECT_LT(grid.largest_distance(drawn.parameters, i), 2.2 / std::sqrt(kSamples));
    }
    // The test can tell: another observation's samples are others.
    const PosteriorSamples other = posterior.sample(observation(0.8, 5), kSamples);
    EXPECT_GT(grid.largest_distance(other.parameters, 0), 10 / std::sqrt(kSamples));
  }
}

TEST(PosteriorSamples, OfAnEnergyModelHaveItsDensity) {
  constexpr Eigen::Index kSamples = 5000;
  const Matrix<double> observed = observation(0.3, 5);
  const Posterior posterior = with_energy();
  const PosteriorGrid grid(posterior, observed, box_prior(), 150, 0.7, From::proxy);
  // zeta is estimated from 1,024 samples, with weights whose variance is about 0.2.
  EXPECT_NEAR(grid.mass(), 1, 0.08);
  const PosteriorSamples drawn =
      posterior.sample(observed, kSamples, {.from = From::proxy, .proposals = 50});
  EXPECT_GT(drawn.acceptance_rate, 0.5);
  EXPECT_LT(drawn.acceptance_rate, 1);
  // The test can tell: the main model's samples are others.
  const PosteriorSamples main = posterior.sample(observed, 4 * kSamples, {.from = From::main});
  double farthest = 0;
  for (const Eigen::Index i : {0, 1}) {
    EXPECT_LT(grid.largest_distance(drawn.parameters, i), 2.2 / std::sqrt(kSamples));
    farthest = std::max(farthest, grid.largest_distance(main.parameters, i));
  }
  EXPECT_GT(farthest, 2.2 / std::sqrt(kSamples));
}

TEST(PosteriorSamples, ByLangevinStepsComeNearTheDensity) {
  constexpr Eigen::Index kSamples = 2000;
  const Matrix<double> observed = observation(0.3, 5);
  const Posterior posterior = with_energy();
  const PosteriorGrid grid(posterior, observed, box_prior(), 150, 0.7, From::proxy);
  const PosteriorSamples drawn = posterior.sample(observed, kSamples,
                                                  {.from = From::proxy,
                                                   .energy_sampler = EnergySampler::langevin,
                                                   .langevin_steps = 200,
                                                   .langevin_step_size = 2e-2});
  EXPECT_EQ(outside(box_prior(), drawn.parameters), 0);
  EXPECT_EQ(drawn.lost, 0);
  for (const Eigen::Index i : {0, 1}) {
    // Uncorrected steps of 0.02 widen the density by about that share.
    EXPECT_LT(grid.largest_distance(drawn.parameters, i), 2.2 / std::sqrt(kSamples) + 0.02);
  }
}

TEST(PosteriorSamples, OfSeveralObservationsComeOneAfterTheOther) {
  constexpr Eigen::Index kSamples = 4000;
  Matrix<double> observed(3, 2);
  observed << 0.2, 5, -0.7, 3, 0.2, 5;
  const Posterior posterior = untrained_posterior();
  const Matrix<double> all = posterior.sample(observed, kSamples).parameters;
  ASSERT_EQ(all.rows(), 3 * kSamples);
  for (const Eigen::Index i : {0, 1, 2}) {
    const Matrix<double> part = all.middleRows(i * kSamples, kSamples);
    const Matrix<double> alone =
        posterior.sample(observed.row(i), 4 * kSamples, {.seed = 77}).parameters;
    for (const Eigen::Index p : {0, 1}) {
      const double deviation =
          std::sqrt((alone.col(p).array() - alone.col(p).mean()).square().mean());
      // Standard error of the difference of means.
      const double error = deviation * std::sqrt(1.25 / static_cast<double>(kSamples));
      EXPECT_NEAR(part.col(p).mean(), alone.col(p).mean(), 4 * error) << i << " " << p;
    }
  }
}

TEST(PosteriorSamples, AreIndependentBetweenObservations) {
  const Matrix<double> twice = observation(0.2, 5).replicate(2, 1);
  const auto halves_differ = [&](const Posterior& posterior, Eigen::Index samples,
                                 const PosteriorSampling& options) {
    const Matrix<double> all = posterior.sample(twice, samples, options).parameters;
    for (Eigen::Index r = 0; r < samples; ++r) {
      if (all.row(r) == all.row(samples + r)) return false;
    }
    return true;
  };
  const Posterior posterior = untrained_posterior({.proxy = ModelChoice{"energy"}});
  EXPECT_TRUE(halves_differ(posterior, 50, {}));
  EXPECT_TRUE(halves_differ(posterior, 40'000, {}));  // more than are drawn at once
  EXPECT_TRUE(halves_differ(posterior, 50, {.from = From::proxy, .proposals = 3}));
  EXPECT_TRUE(halves_differ(
      posterior, 50,
      {.from = From::proxy, .energy_sampler = EnergySampler::langevin, .langevin_steps = 3}));
}

std::vector<PosteriorSampling> every_sampling() {
  return {{},
          {.from = From::proxy, .proposals = 5},
          {.from = From::proxy,
           .energy_sampler = EnergySampler::langevin,
           .langevin_steps = 5,
           .langevin_step_size = 1e-3}};
}

TEST(PosteriorSamples, AreAFunctionOfTheSeed) {
  Matrix<double> observed(2, 2);
  observed << 0.2, 5, -0.7, 3;
  const Posterior posterior = untrained_posterior({.proxy = ModelChoice{"energy"}});
  for (PosteriorSampling options : every_sampling()) {
    const Matrix<double> first = posterior.sample(observed, 30, options).parameters;
    EXPECT_TRUE(same_bits(first, posterior.sample(observed, 30, options).parameters));
    options.seed = 1;
    const Matrix<double> other = posterior.sample(observed, 30, options).parameters;
    for (Eigen::Index r = 0; r < first.rows(); ++r) EXPECT_NE(first.row(r), other.row(r));
  }
}

TEST(PosteriorSamples, AreTheSameForAnyNumberOfThreads) {
  Matrix<double> observed(2, 2);
  observed << 0.2, 5, -0.7, 3;
  Posterior posterior = untrained_posterior({.proxy = ModelChoice{"energy"}});
  std::vector<Matrix<double>> samples;
  std::vector<Vector<double>> densities;
  for (const std::size_t threads : {1U, 2U}) {
    posterior.use_threads(std::make_shared<ThreadPool>(threads));
    Eigen::Index place = 0;
    for (const PosteriorSampling& options : every_sampling()) {
      const Matrix<double> drawn = posterior.sample(observed, 300, options).parameters;
      const Vector<double> density =
          posterior.log_prob(drawn.topRows(300), observed.row(0), options.from);
      if (threads == 1) {
        samples.push_back(drawn);
        densities.push_back(density);
      } else {
        EXPECT_TRUE(same_bits(drawn, samples[static_cast<std::size_t>(place)])) << place;
        EXPECT_TRUE(same_bits(density, densities[static_cast<std::size_t>(place)])) << place;
      }
      ++place;
    }
  }
}

TEST(PosteriorSamples, LangevinChainsThatGetLostAreDrawnAnew) {
  TabularDensity<float> density =
      untrained_posterior({.prior = {}, .proxy = ModelChoice{"energy"}}).density();
  // Steep enough for a step of this length to overflow in one chain of 15.
  scale_parameters<float>(*density.edit_proxy(), 3);
  const Posterior posterior(density);
  PosteriorSampling options{.from = From::proxy,
                            .energy_sampler = EnergySampler::langevin,
                            .langevin_steps = 1,
                            .langevin_step_size = 1e-3};
  const auto draw = [&] { return posterior.sample(observation(3, 0.4), 200, options); };
  EXPECT_EQ(draw().lost, 0);
  options.langevin_step_size = 1e38;
  const PosteriorSamples drawn = draw();
  EXPECT_EQ(drawn.parameters.rows(), 200);
  EXPECT_TRUE(drawn.parameters.allFinite());
  EXPECT_GT(drawn.lost, 0);
  EXPECT_LT(drawn.lost, 200);
  options.langevin_step_size = 2e38;
  options.seconds = 0.02;
  EXPECT_THAT(message_of<std::runtime_error>(draw),
              ContainsRegex("^only 0 of 200 samples .* Langevin chains left the finite numbers"));
}

TEST(PosteriorSamples, TellsWrongArguments) {
  const Posterior posterior = untrained_posterior();
  const auto problem = [&](const Matrix<double>& observed, Eigen::Index samples,
                           const PosteriorSampling& options = {}) {
    return message_of<std::invalid_argument>(
        [&] { (void)posterior.sample(observed, samples, options); });
  };
  const Matrix<double> good = observation(0, 5);
  EXPECT_EQ(problem(good, -1), "samples: expected at least 0, got -1");
  EXPECT_EQ(problem(Matrix<double>::Zero(1, 3), 1), "observed: expected 2 outcomes, got 3");
  EXPECT_EQ(problem(observation(0, std::nan("")), 1), "observed: expected finite numbers");
  EXPECT_THAT(problem(observation(0, 1e100), 1), StartsWith("observed: expected outcomes within"));
  EXPECT_THAT(problem(good, 1, {.from = From::proxy}), StartsWith("from: there is no proxy model"));
  const std::string text = ": expected a number above 0, got ";
  EXPECT_EQ(problem(good, 1, {.proposals = 0}), "PosteriorSampling.proposals" + text + "0");
  EXPECT_EQ(problem(good, 1, {.langevin_steps = -3}),
            "PosteriorSampling.langevin_steps" + text + "-3");
  EXPECT_EQ(problem(good, 1, {.langevin_step_size = 0}),
            "PosteriorSampling.langevin_step_size" + text + "0");
  EXPECT_EQ(problem(good, 1, {.seconds = std::nan("")}),
            "PosteriorSampling.seconds" + text + "nan");
  EXPECT_EQ(posterior.sample(good.replicate(3, 1), 0).parameters.rows(), 0);
  EXPECT_EQ(posterior.sample(Matrix<double>(0, 2), 5).parameters.rows(), 0);
}

TEST(PosteriorFit, ManyPairsTakeMoreTransforms) {
  const Eigen::Index few = default_posterior_options(900, 2, 2).flow.transforms;
  EXPECT_EQ(default_posterior_options(9000, 2, 2).flow.transforms, few + 2);
  EXPECT_EQ(default_posterior_options(9000, 2, 2, ModelChoice{"energy"}).flow.transforms, few);
}

// Parameters are normal around half the outcome with variance 0.05.
TEST(PosteriorFit, ComesNearAnExactPosterior) {
  const auto task = make_task("linear_gaussian", 2);
  const Matrix<double> parameters = task->sample_prior(2000, 1);
  const Matrix<double> outcomes = task->simulate(parameters, 1);
  TableMaker maker;
  PairColumns columns{task->parameter_names(), task->outcome_names()};
  for (const Eigen::Index i : {0, 1}) {
    const auto place = static_cast<std::size_t>(i);
    maker.numbers(columns.parameters[place], {parameters.col(i).begin(), parameters.col(i).end()});
    maker.numbers(columns.outcomes[place], {outcomes.col(i).begin(), outcomes.col(i).end()});
  }
  const Prior prior = task_prior(*task);
  FitOptions options = default_posterior_options(1800, 2, 2);
  options.schema = pair_schema(maker.table(), columns, prior);
  options.flow = {.transforms = 2, .bins = 6, .hidden = {16}};
  options.train.method = Method::mle;
  options.train.iterations = 300;
  const PreparedTable table = prepare(maker.table(), options);
  const Posterior posterior = make_posterior(table, fit(table, options).density, prior);
  const double exact_deviation = std::sqrt(0.05);
  for (const Matrix<double>& observed : {observation(0, 0), observation(0.5, -0.4)}) {
    const Matrix<double> drawn = posterior.sample(observed, 10'000).parameters;
    const Eigen::RowVector2d mean = drawn.colwise().mean();
    const Matrix<double> centered = drawn.rowwise() - mean;
    const Eigen::Matrix2d covariance = centered.transpose() * centered / 10'000;
    // A line through 1800 pairs misses the mean by 0.04 deviations where outcomes are a deviation
    // from 0, the variance by a share of 0.035; samples add 0.01. What the flow learns of chance
    // comes on top.
    EXPECT_LT((mean - 0.5 * observed).norm() / exact_deviation, 0.2) << observed;
    EXPECT_LT((covariance / 0.05 - Eigen::Matrix2d::Identity()).cwiseAbs().maxCoeff(), 0.2)
        << observed;
    // Its own entropy, log(2 pi e 0.05) = -0.158 here, is the best that log_prob can do.
    const Matrix<double> exact = task->sample_posterior(10'000, observed.row(0), 5);
    const double gap =
        (task->posterior_log_prob(exact, observed.row(0)) - posterior.log_prob(exact, observed))
            .mean();
    EXPECT_GT(gap, -0.02);  // its standard error is below 0.005
    EXPECT_LT(gap, 0.06);
  }
}

}  // namespace
}  // namespace jeffreys::testing
