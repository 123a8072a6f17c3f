// Divergences and zeta of normal densities against closed forms, and their standard errors against
// the spread over seeds.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "jeffreys/evaluate/divergence.h"
#include "support/model_helpers.h"
#include "support/not_finite.h"

namespace jeffreys {
namespace {

struct Normal {
  double mean;
  double deviation;

  [[nodiscard]] Vector<double> log_prob(const Vector<double>& x) const {
    return -0.5 * ((x.array() - mean) / deviation).square() - std::log(deviation) -
           0.5 * std::log(2 * std::numbers::pi);
  }
  [[nodiscard]] Vector<double> sample(Eigen::Index rows, std::uint64_t seed) const {
    return mean + deviation * testing::normals(rows, 1, seed).col(0).array();
  }
};

double kl(const Normal& p, const Normal& q) {
  const double shift = p.mean - q.mean;
  return std::log(q.deviation / p.deviation) - 0.5 +
         (p.deviation * p.deviation + shift * shift) / (2 * q.deviation * q.deviation);
}

const Normal kExact{0, 1};
const Normal kModel{0.4, 1.2};
const Normal kMain{0, 1.5};

Vector<double> values(std::initializer_list<double> list) {
  return Eigen::Map<const Vector<double>>(list.begin(), static_cast<Eigen::Index>(list.size()));
}

Jeffreys estimate(Eigen::Index rows, std::uint64_t seed) {
  const Vector<double> x = kExact.sample(rows, 2 * seed);
  const Vector<double> y = kModel.sample(rows, 2 * seed + 1);
  return jeffreys_divergence(kExact.log_prob(x), kModel.log_prob(x), kExact.log_prob(y),
                             kModel.log_prob(y));
}

// f of an energy model whose density is kModel's and whose zeta is exp(2.5).
Vector<double> log_unnormalized(const Vector<double>& x) {
  return kModel.log_prob(x).array() + 2.5;
}

ProxyDivergence proxy_estimate(Eigen::Index rows, std::uint64_t seed) {
  const Vector<double> x = kExact.sample(rows, 2 * seed);
  const Vector<double> y = kMain.sample(rows, 2 * seed + 1);
  return proxy_divergence(kExact.log_prob(x), log_unnormalized(x), kExact.log_prob(y),
                          kMain.log_prob(y), log_unnormalized(y));
}

// Over 400 seeds: the mean is the truth within 4 of its standard errors, and the stated standard
// error is the spread, which 400 values give with a standard error of 3.5 % (more where the tails
// are heavier than normal ones).
void expect_honest(const std::function<DivergenceEstimate(std::uint64_t)>& draw, double truth) {
  constexpr int kSeeds = 400;
  Vector<double> estimates(kSeeds);
  Vector<double> errors(kSeeds);
  for (int seed = 0; seed < kSeeds; ++seed) {
    const DivergenceEstimate one = draw(static_cast<std::uint64_t>(seed));
    estimates[seed] = one.value;
    errors[seed] = one.standard_error;
    EXPECT_EQ(one.outside, 0);
  }
  const double mean = estimates.mean();
  const double spread = std::sqrt((estimates.array() - mean).square().sum() / (kSeeds - 1));
  EXPECT_NEAR(mean, truth, 4 * spread / std::sqrt(kSeeds));
  EXPECT_NEAR(errors.mean() / spread, 1, 4 * 0.035);
}

TEST(Divergence, OfNormalDensitiesIsTheClosedForm) {
  const double forward = kl(kExact, kModel);
  const double reverse = kl(kModel, kExact);
  expect_honest([](std::uint64_t seed) { return estimate(500, seed).forward; }, forward);
  expect_honest([](std::uint64_t seed) { return estimate(500, seed).reverse; }, reverse);
  expect_honest([](std::uint64_t seed) { return estimate(500, seed).jeffreys; }, forward + reverse);
}

TEST(Divergence, OfADensityFromItselfIsExactlyZero) {
  const Vector<double> log_p = kExact.log_prob(kExact.sample(100, 1));
  const Jeffreys same = jeffreys_divergence(log_p, log_p, log_p, log_p);
  EXPECT_EQ(same.jeffreys.value, 0);
  EXPECT_EQ(same.jeffreys.standard_error, 0);
}

TEST(Divergence, BeyondABoundedSupportIsInfiniteAndSaysHowMuch) {
  const Vector<double> data = values({-1, -1, -1, -1});
  const Vector<double> model = values({-1, -2, -1.5, -1});
  const Jeffreys result = jeffreys_divergence(data, model, values({-1, -kInfinity, -1, -1}), model);
  EXPECT_NEAR(result.forward.value, 0.375, 1e-15);
  EXPECT_EQ(result.forward.outside, 0);
  EXPECT_EQ(result.reverse.value, kInfinity);
  EXPECT_TRUE(std::isnan(result.reverse.standard_error));
  EXPECT_EQ(result.reverse.outside, 0.25);
  EXPECT_EQ(result.jeffreys.value, kInfinity);
  EXPECT_TRUE(std::isnan(result.jeffreys.standard_error));
  EXPECT_EQ(result.jeffreys.outside, 0.25);
}

TEST(Divergence, OfAModelThatMissesDataIsInfinite) {
  const Vector<double> finite = values({-1, -1});
  const Jeffreys result = jeffreys_divergence(finite, values({-kInfinity, -1}), finite, finite);
  EXPECT_EQ(result.forward.value, kInfinity);
  EXPECT_EQ(result.forward.outside, 0.5);
  EXPECT_EQ(result.reverse.value, 0);
}

TEST(Divergence, DoesNotHideANan) {
  const Vector<double> finite = values({-1, -1});
  const Jeffreys result = jeffreys_divergence(finite, values({kNan, -1}), finite, finite);
  EXPECT_TRUE(std::isnan(result.forward.value));
  EXPECT_TRUE(std::isnan(result.jeffreys.value));
  EXPECT_EQ(result.reverse.value, 0);
}

TEST(Divergence, RefusesWhatCannotBe) {
  const Vector<double> two = values({-1, -1});
  const Vector<double> zero = values({-1, -kInfinity});
  const Vector<double> none(0);
  EXPECT_THROW((void)jeffreys_divergence(zero, two, two, two), std::invalid_argument);
  EXPECT_THROW((void)jeffreys_divergence(two, two, two, zero), std::invalid_argument);
  EXPECT_THROW((void)jeffreys_divergence(two, values({-1}), two, two), std::invalid_argument);
  EXPECT_THROW((void)jeffreys_divergence(two, two, values({-1}), two), std::invalid_argument);
  EXPECT_THROW((void)jeffreys_divergence(none, none, two, two), std::invalid_argument);
  EXPECT_THROW((void)proxy_divergence(two, two, two, zero, two), std::invalid_argument);
  EXPECT_THROW((void)proxy_divergence(two, two, two, two, none), std::invalid_argument);
  EXPECT_THROW((void)proxy_divergence(two, two, none, none, none), std::invalid_argument);
  EXPECT_THROW((void)estimate_zeta(none), std::invalid_argument);
}

TEST(Zeta, OfAScaledNormalDensityLiesInTheInterval) {
  // 1,000 intervals: the share that covers has a standard error of 0.007.
  constexpr int kSeeds = 1000;
  int covered = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Vector<double> y = kMain.sample(300, static_cast<std::uint64_t>(seed));
    const ZetaEstimate zeta = estimate_zeta(log_unnormalized(y) - kMain.log_prob(y));
    covered += zeta.lower <= std::exp(2.5) && std::exp(2.5) <= zeta.upper ? 1 : 0;
    EXPECT_NEAR(zeta.zeta, std::exp(zeta.log_zeta), 1e-9);
  }
  EXPECT_NEAR(static_cast<double>(covered) / kSeeds, 0.95, 4 * 0.007);
}

TEST(Zeta, EffectiveSampleSizeIsTheClosedForm) {
  // Weights of N(0, 1) over N(0, s^2) have a mean square of s^2 / sqrt(2 s^2 - 1). Over 30 seeds
  // the estimate has a standard deviation of 0.0007.
  const Vector<double> y = kMain.sample(100'000, 5);
  const double variance = kMain.deviation * kMain.deviation;
  EXPECT_NEAR(estimate_zeta(kExact.log_prob(y) - kMain.log_prob(y)).effective_sample_size,
              std::sqrt(2 * variance - 1) / variance, 4 * 0.0007);
}

TEST(Zeta, OfEqualWeightsIsCertain) {
  const ZetaEstimate zeta = estimate_zeta(Vector<double>::Constant(10, -900));
  EXPECT_EQ(zeta.log_zeta, -900);
  EXPECT_EQ(zeta.lower, zeta.upper);
  EXPECT_EQ(zeta.effective_sample_size, 1);
}

TEST(Zeta, OfNoWeightAtAllIsZeroWithoutAnInterval) {
  const ZetaEstimate zeta = estimate_zeta(Vector<double>::Constant(3, -kInfinity));
  EXPECT_EQ(zeta.log_zeta, -kInfinity);
  EXPECT_EQ(zeta.zeta, 0);
  EXPECT_TRUE(std::isnan(zeta.upper));
  EXPECT_TRUE(std::isnan(estimate_zeta(values({0, kNan})).zeta));
}

TEST(ProxyDivergence, OfNormalDensitiesIsTheClosedForm) {
  const double forward = kl(kExact, kModel);
  const double reverse = kl(kModel, kExact);
  const auto draw = [](std::uint64_t seed) { return proxy_estimate(1000, seed).divergence; };
  expect_honest([&](std::uint64_t seed) { return draw(seed).forward; }, forward);
  expect_honest([&](std::uint64_t seed) { return draw(seed).reverse; }, reverse);
  expect_honest([&](std::uint64_t seed) { return draw(seed).jeffreys; }, forward + reverse);
}

TEST(ProxyDivergence, WithTheMainModelAsProxyIsThatOfTheMainModel) {
  const Vector<double> x = kExact.sample(200, 1);
  const Vector<double> y = kModel.sample(200, 2);
  const Jeffreys main = jeffreys_divergence(kExact.log_prob(x), kModel.log_prob(x),
                                            kExact.log_prob(y), kModel.log_prob(y));
  const ProxyDivergence proxy =
      proxy_divergence(kExact.log_prob(x), log_unnormalized(x), kExact.log_prob(y),
                       kModel.log_prob(y), log_unnormalized(y));
  const auto expect_same = [](const DivergenceEstimate& a, const DivergenceEstimate& b) {
    EXPECT_NEAR(a.value, b.value, 1e-12);
    EXPECT_NEAR(a.standard_error, b.standard_error, 1e-12);
  };
  expect_same(proxy.divergence.forward, main.forward);
  expect_same(proxy.divergence.reverse, main.reverse);
  expect_same(proxy.divergence.jeffreys, main.jeffreys);
  EXPECT_NEAR(proxy.zeta.log_zeta, 2.5, 1e-12);
}

TEST(ProxyDivergence, OfAnExactProxyIsTheErrorOfZetaAlone) {
  const Vector<double> x = kModel.sample(300, 1);
  const Vector<double> y = kMain.sample(300, 2);
  const auto [divergence, zeta] =
      proxy_divergence(kModel.log_prob(x), log_unnormalized(x), kModel.log_prob(y),
                       kMain.log_prob(y), log_unnormalized(y));
  const double zeta_error = std::log(zeta.upper / zeta.lower) / (2 * 1.96);
  EXPECT_NEAR(divergence.forward.value, zeta.log_zeta - 2.5, 1e-12);
  EXPECT_NEAR(divergence.reverse.value, 2.5 - zeta.log_zeta, 1e-12);
  EXPECT_NEAR(divergence.forward.standard_error, zeta_error, 1e-4 * zeta_error);
  EXPECT_NEAR(divergence.reverse.standard_error, zeta_error, 1e-4 * zeta_error);
  EXPECT_NEAR(divergence.jeffreys.value, 0, 1e-12);
  EXPECT_NEAR(divergence.jeffreys.standard_error, 0, 1e-12);
}

TEST(ProxyDivergence, OutsideIsTheWeightThatLiesThere) {
  // Weights 3, 1 and 0: three quarters of the proxy's mass is outside; the row without weight,
  // outside of everything, does not count.
  const Vector<double> data = values({-1, -1});
  const Vector<double> exact = values({-kInfinity, -1, -kInfinity});
  const Vector<double> main = values({-1, -1, -1});
  const Vector<double> f = values({std::log(3.0) - 1, -1, -kInfinity});
  const ProxyDivergence result = proxy_divergence(data, data, exact, main, f);
  EXPECT_EQ(result.divergence.reverse.value, kInfinity);
  EXPECT_TRUE(std::isnan(result.divergence.reverse.standard_error));
  EXPECT_NEAR(result.divergence.reverse.outside, 0.75, 1e-15);
  EXPECT_EQ(result.divergence.jeffreys.value, kInfinity);
  const ProxyDivergence inside =
      proxy_divergence(data, data, values({-1, -1, -kInfinity}), main, f);
  EXPECT_TRUE(std::isfinite(inside.divergence.reverse.value));
  EXPECT_EQ(inside.divergence.reverse.outside, 0);
}

}  // namespace
}  // namespace jeffreys
