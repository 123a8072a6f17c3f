#include <algorithm>
#include <cmath>

#include "experiment/small_results.h"

namespace jeffreys::experiment {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const char* const kTeaserPlan = R"(
[[data]]
source = "two_gaussians"
rows = 100
test_rows = 100
[[method]]
name = "ours"
[[method]]
name = "wgan"
wgan = {critic_steps = 5, penalty = 0.1}
)";

constexpr const char* kFit = "One Gaussian";
constexpr const char* kModes = "collapses";
constexpr const char* kLoss = "oscillations";

std::vector<double> settling(double amplitude) {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(5 * std::exp(-i / 4.0) + amplitude * std::cos(i));
  return values;
}

class Teaser : public SmallResults {
 protected:
  void ours(double modes, double amplitude, double nll_amplitude = 0) {
    const std::vector<double> half = settling(amplitude / 2);
    run("two_gaussians", "ours", 0,
        {{"loss.forward", half},
         {"loss.reverse", half},
         {"main.test_nll", settling(std::max(amplitude, nll_amplitude))}},
        {{"main.modes", 2}, {"main.modes_covered", modes}, {"main.mode_precision", 0.9}});
  }
  void wgan(double modes, double amplitude, const std::string& stop = "finished") {
    const std::vector<double> values = settling(amplitude);
    run("two_gaussians", "wgan", 0, {{"loss.wasserstein", values}, {"main.test_nll", values}},
        {{"main.modes", 2}, {"main.modes_covered", modes}, {"main.mode_precision", 0.9}}, stop);
  }
};

TEST_F(Teaser, TheGaussianFitsNeedNoRuns) {
  const Told told = tell("teaser", kTeaserPlan, true);
  EXPECT_THAT(told.page, HasSubstr("No runs yet"));
  EXPECT_THAT(told.page, HasSubstr("test-parts.png"));
  EXPECT_EQ(told.finding(kFit), Finding::holds);
  for (const Claim& claim : told.claims) {
    if (claim.paper == "fig:mle") continue;
    EXPECT_EQ(claim.finding, Finding::not_enough_runs) << claim.text;
    EXPECT_THAT(claim.methods, SizeIs(2));
  }
}

TEST_F(Teaser, ClaimsHoldWhereOnlyTheWganCollapsesAndOscillates) {
  ours(2, 0.01);
  wgan(1, 2);
  const Told told = tell("teaser", kTeaserPlan, true);
  EXPECT_EQ(told.finding(kModes), Finding::holds);
  EXPECT_EQ(told.finding(kLoss), Finding::holds);
  EXPECT_THAT(told.claim(kModes).numbers, HasSubstr("WGAN-GP: 1 of 2 modes"));
}

TEST_F(Teaser, ClaimsHoldInPartWhereTheWganDoesAsWell) {
  ours(2, 0.01);
  wgan(2, 0.01);
  const Told told = tell("teaser", kTeaserPlan);
  EXPECT_EQ(told.finding(kModes), Finding::in_part);
  EXPECT_EQ(told.finding(kLoss), Finding::in_part);
}

TEST_F(Teaser, ClaimsFailWhereOursIsTheWorse) {
  ours(1, 2);
  wgan(2, 0.01);
  const Told told = tell("teaser", kTeaserPlan);
  EXPECT_EQ(told.finding(kModes), Finding::fails);
  EXPECT_EQ(told.finding(kLoss), Finding::fails);
}

TEST_F(Teaser, ADivergedWganIsNotStable) {
  ours(2, 0.01);
  wgan(1, 0.01, "diverged");
  EXPECT_EQ(tell("teaser", kTeaserPlan).finding(kLoss), Finding::holds);
}

TEST_F(Teaser, AStableObjectiveWithARestlessModelIsNotEnough) {
  ours(2, 0.01, 3);
  wgan(1, 2);
  EXPECT_EQ(tell("teaser", kTeaserPlan).finding(kLoss), Finding::in_part);
}

TEST_F(Teaser, OneMethodAloneDecidesNothing) {
  ours(2, 0.01);
  const Told told = tell("teaser", kTeaserPlan, true);
  EXPECT_EQ(told.finding(kModes), Finding::not_enough_runs);
  EXPECT_EQ(told.finding(kLoss), Finding::not_enough_runs);
}

}  // namespace
}  // namespace jeffreys::experiment
