#include "experiment/small_results.h"

namespace jeffreys::experiment {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const char* const kUciPlan = R"(
[[data]]
table = "wine"
[[data]]
table = "heart"
[[data]]
table = "heart-dequantised"
[[method]]
name = "ours"
[[method]]
name = "mle"
[[method]]
name = "noise-0.1"
[[method]]
name = "noise-0.01"
[[method]]
name = "entropy"
[[method]]
name = "ours-validated"
[[method]]
name = "mle-validated"
[[method]]
name = "gaussian"
baseline = "gaussian"
[[method]]
name = "mixture"
baseline = "mixture"
)";

class Uci : public SmallResults {
 protected:
  // Test and training NLL of one run; seeds differ by a little, differently for each method.
  void likelihood(const std::string& data, const std::string& method, std::uint64_t seed,
                  const std::vector<double>& test, const std::vector<double>& train) {
    std::vector<double> moved = test;
    moved.back() += 0.01 * static_cast<double>((seed + 1) * method.size() % 3);
    run(data, method, seed, {{"main.test_nll", moved}, {"main.train_nll", train}});
  }

  // MLE overfits, ours does not.
  void overfit(const std::string& data, std::uint64_t seed) {
    const std::vector<double> falling = {20, 10, 5, 1};
    likelihood(data, "mle", seed, {20, 11, 15, 20}, falling);
    likelihood(data, "entropy", seed, {20, 11, 14, 19}, falling);
    run(data, "ours", seed,
        {{"main.test_nll", {20, 12, 10, 10.1}},
         {"main.train_nll", {20, 12, 10, 9}},
         {"proxy.test_nll", {20, 11, 9, 9.1 + 0.01 * static_cast<double>(seed)}},
         {"proxy.train_nll", {20, 11, 9, 8}},
         {"multiplier.forward", {0, 1, 2, 3}}});
  }
};

TEST_F(Uci, SaysThatThereAreNoRuns) {
  const Told told = tell("uci", kUciPlan);
  EXPECT_THAT(told.page, HasSubstr("No runs yet."));
  told.expect_nothing_decided();
}

TEST_F(Uci, FindsOverfittingWhereTestRisesAndTrainingFalls) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    overfit("wine", seed);
    overfit("heart", seed);
  }
  const Told told = tell("uci", kUciPlan, true);
  EXPECT_EQ(told.finding("Ours ends at a lower NLL"), Finding::holds);
  EXPECT_EQ(told.finding("MLE overfits:"), Finding::holds);
  EXPECT_EQ(told.finding("Ours remains stable"), Finding::holds);
  EXPECT_EQ(told.finding("does not prevent overfitting"), Finding::holds);
  EXPECT_EQ(told.finding("training NLL of all methods"), Finding::holds);
  EXPECT_EQ(told.finding("The proxy"), Finding::holds);
  EXPECT_EQ(told.finding("noise even outperforms"), Finding::not_enough_runs);
  EXPECT_THAT(told.claim("MLE overfits:").numbers, Not(HasSubstr("Dequantised")));
}

TEST_F(Uci, ARunThatOnlyImprovesDoesNotOverfit) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    likelihood("wine", "mle", seed, {20, 15, 11, 10}, {20, 15, 11, 9});
  }
  const Told told = tell("uci", kUciPlan);
  EXPECT_EQ(told.finding("MLE overfits:"), Finding::fails);
}

TEST_F(Uci, DequantisedTablesStandBesideTheVerdict) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    overfit("wine", seed);
    overfit("heart", seed);
    likelihood("heart-dequantised", "mle", seed, {20, 15, 11, 10}, {20, 15, 11, 9});
  }
  const Told told = tell("uci", kUciPlan);
  EXPECT_EQ(told.finding("MLE overfits:"), Finding::holds);
  EXPECT_THAT(told.claim("MLE overfits:").numbers, HasSubstr("Dequantised (does not hold): heart"));
}

TEST_F(Uci, NoiseMustHelpOneTableAndHurtAnother) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    overfit("wine", seed);
    overfit("heart", seed);
    for (const char* noise : {"noise-0.1", "noise-0.01"}) {
      likelihood("wine", noise, seed, {20, 9, 9, 9}, {20, 10, 9, 8});
      likelihood("heart", noise, seed, {20, 19, 15, 15}, {20, 10, 9, 8});
    }
  }
  // At its best, noise hurts heart (15 against 11); at the end it helps both (20).
  const Told told = tell("uci", kUciPlan);
  EXPECT_EQ(told.finding("the same noise makes another worse"), Finding::in_part);
  EXPECT_EQ(told.finding("noise even outperforms"), Finding::holds);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    likelihood("heart", "noise-0.1", seed, {20, 19, 15, 25}, {20, 10, 9, 8});
  }
  EXPECT_EQ(tell("uci", kUciPlan).finding("the same noise makes another worse"), Finding::holds);
}

TEST_F(Uci, ValidationChoosesAmongModelsAndABaselineHasNothingToChoose) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const double small = 0.01 * static_cast<double>(seed);
    for (const char* data : {"wine", "heart"}) {
      run(data, "ours-validated", seed,
          {{"main.test_nll", {20, 9}},
           {"main.validation_nll", {20, 9}},
           {"proxy.test_nll", {20, 7 + small}},
           {"proxy.validation_nll", {20, 8}}});
      run(data, "mle-validated", seed,
          {{"main.test_nll", {6, 5}}, {"main.validation_nll", {6, 7}}});
      run(data, "gaussian", seed, {{"main.test_nll", {30}}});
      run(data, "mixture", seed, {{"main.test_nll", {11}}, {"main.validation_nll", {11}}});
    }
  }
  const Told told = tell("uci", kUciPlan);
  EXPECT_EQ(told.finding("better than MLE that is stopped early"), Finding::fails);
  EXPECT_EQ(told.finding("better than a mixture"), Finding::holds);
  EXPECT_THAT(told.page, HasSubstr("| gaussian | by validation | 30.000 ± 0.000 (3) |"));
  EXPECT_THAT(told.page, HasSubstr("| wine | ours-validated | 3 x proxy |"));
}

TEST_F(Uci, AClaimHoldsOnEveryTableOrNotAtAll) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) overfit("wine", seed);
  const Told told = tell("uci", kUciPlan);
  EXPECT_EQ(told.finding("MLE overfits:"), Finding::not_enough_runs);
  EXPECT_THAT(told.claim("MLE overfits:").numbers,
              HasSubstr("Holds on 1 of 2 data sets; too few runs on heart"));
}

// Of ours on one table; of MLE it would be no overfitting either.
TEST_F(Uci, ADivergenceIsNeitherALowEndNorStable) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    overfit("wine", seed);
    overfit("heart", seed);
  }
  const std::vector<double> falling = {20, 12, 10};
  run("wine", "ours", 3, {{"main.test_nll", falling}, {"main.train_nll", falling}}, {}, "diverged");
  run("heart", "mle", 3, {{"main.test_nll", falling}, {"main.train_nll", falling}}, {}, "diverged");
  const Told told = tell("uci", kUciPlan);
  EXPECT_EQ(told.finding("Ours ends at a lower NLL"), Finding::in_part);
  EXPECT_EQ(told.finding("Ours remains stable"), Finding::in_part);
  EXPECT_EQ(told.finding("training NLL of all methods"), Finding::fails);
  EXPECT_EQ(told.finding("MLE overfits:"), Finding::holds) << "with the other three seeds";
  EXPECT_THAT(told.claim("Ours ends at a lower NLL").numbers, HasSubstr("1 of 4 seeds diverged"));
  EXPECT_THAT(told.claim("Ours ends at a lower NLL").numbers,
              HasSubstr("only the other diverged with 1 of 4 seeds"));
}

TEST_F(Uci, OneSeedDecidesNothing) {
  overfit("wine", 0);
  const Told told = tell("uci", kUciPlan, true);
  for (const Claim& claim : told.claims) {
    EXPECT_EQ(claim.finding, Finding::not_enough_runs) << claim.text;
  }
}

}  // namespace
}  // namespace jeffreys::experiment
