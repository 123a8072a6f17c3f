// What fresh samples tell about an energy model whose normaliser is known.
#include "jeffreys/fit/energy_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "jeffreys/model/defensive_samples.h"
#include "support/gaussian_models.h"

namespace jeffreys {
namespace {

using testing::GaussianDensity;
using testing::GaussianEnergy;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Eigen::Index kSamples = 20000;

EnergyCheck check(const GaussianDensity& main, const GaussianEnergy& proxy) {
  return summarize(normalize_energy<double>(main, proxy, Matrix<double>(), kSamples, 3), kSamples);
}

// Weights have a deviation below 2: the error of zeta is below 0.015.
TEST(EnergyCheck, FindsTheNormaliser) {
  const GaussianDensity main(0, 1);
  const GaussianEnergy proxy(0.3, 1.1, 2);
  const EnergyCheck found = check(main, proxy);
  EXPECT_NEAR(found.log_zeta, proxy.log_zeta(), 0.03);
  EXPECT_NEAR(found.log_zeta_half, proxy.log_zeta(), 0.05);
  EXPECT_NEAR(found.unseen, 0, 0.03);
  EXPECT_TRUE(found.usable());
  EXPECT_THAT(found.warnings(), IsEmpty());
}

// The proxy is centred four deviations away: the main model's samples see a few ends of it.
TEST(EnergyCheck, FindsMassThatTheMainModelDoesNotSee) {
  const GaussianDensity main(0, 1);
  const GaussianEnergy proxy(4, 0.5, -1);
  const EnergyCheck found = check(main, proxy);
  EXPECT_NEAR(found.log_zeta, proxy.log_zeta(), 0.1);
  EXPECT_GT(found.unseen, 0.1);
  EXPECT_FALSE(found.usable());
  ASSERT_FALSE(found.warnings().empty());
  EXPECT_THAT(found.warnings().front(), HasSubstr("not usable"));
}

TEST(EnergyCheck, SaysNothingWhereNothingWasLookedAt) {
  EXPECT_THAT(EnergyCheck().warnings(), IsEmpty());
}

// Mean of exp(g - mixture) is 1 for any normalised g, here the density itself.
TEST(DefensiveSamples, HaveTheDensityOfTheirMixture) {
  const GaussianDensity main(0.5, 2);
  const DefensiveSamples<double> drawn =
      defensive_samples<double>(main, kSamples, Matrix<double>(), {.seed = 4});
  ASSERT_EQ(drawn.x.rows(), kSamples);
  // Weights of at most 2: an error below 0.01.
  EXPECT_NEAR((drawn.log_prob - drawn.log_mixture).array().exp().mean(), 1, 0.02);
  EXPECT_LE((drawn.log_prob - drawn.log_mixture).maxCoeff(), std::log(2.0) + 1e-12);
  EXPECT_LT((main.log_prob(drawn.x) - drawn.log_prob).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_GT(drawn.x.bottomRows(kSamples / 2).cwiseAbs().mean(),
            2 * drawn.x.topRows(kSamples / 2).cwiseAbs().mean());
  EXPECT_THROW((void)defensive_samples<double>(main, 3, Matrix<double>(), {}),
               std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys
