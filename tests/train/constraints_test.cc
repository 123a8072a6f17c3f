// Problems other than the paper's default one: a fixed epsilon (P:proxy), and requirements h. The
// models are normal densities, so that the constrained optimum and its multipliers are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "jeffreys/train/record_arrays.h"
#include "jeffreys/train/trainer.h"
#include "support/gaussian_models.h"
#include "support/model_helpers.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using testing::GaussianDensity;
using ::testing::HasSubstr;

constexpr double kDataMean = 0.7;
constexpr double kDataDeviation = 1.5;
const double kLeastNll =
    std::log(kDataDeviation) + 0.5 * std::log(2 * std::numbers::pi * std::numbers::e);

Matrix<double> data_rows(Eigen::Index rows) {
  Matrix<double> x = testing::normals(rows, 1, 11);
  x.array() -= x.mean();
  x *= kDataDeviation / std::sqrt(x.squaredNorm() / static_cast<double>(rows));
  return x.array() + kDataMean;
}

TrainOptions bounded(double epsilon, std::int64_t iterations) {
  return {.method = Method::fixed_epsilon,
          .iterations = iterations,
          .seed = 3,
          .learning_rate = {.main = 0.02, .proxy = 0.02, .multipliers = 0.05},
          .schedule = {.kind = Schedule::cosine},
          .optimizer = {.weight_decay = 0},
          .multipliers = {.proxy = 0.5},
          .epsilon = epsilon,
          .multiplier_optimizer = MultiplierOptimizer::sgd,
          .dual = {.reverse_estimator = ReverseEstimator::leave_one_out}};
}

Constraint mean_at_most(double bound) {
  return requirement(
      "mean", [](const MatrixView<double>& y) { return Vector<double>(y.col(0)); }, bound);
}

TrainResult train(GaussianDensity& main, GaussianDensity& proxy, const TrainOptions& options,
                  Eigen::Index rows = 500) {
  return Trainer<double>(main, &proxy, {data_rows(rows), {}, {}, {}}, options).run();
}

TEST(FixedEpsilon, ThatIsReachedLeavesTheProxyToTheReverseKl) {
  GaussianDensity main(0, 1);
  GaussianDensity proxy(0.3, 0.8);
  const TrainResult result = train(main, proxy, bounded(kLeastNll + 0.3, 3000));
  EXPECT_NEAR(main.mean(), kDataMean, 0.02);
  EXPECT_NEAR(main.deviation(), kDataDeviation, 0.02);
  EXPECT_EQ(result.multipliers.at("proxy"), 0);
  EXPECT_EQ(result.multipliers.at("forward"), 1);
  EXPECT_EQ(result.multipliers.at("reverse"), 1);
  EXPECT_LT(result.history.back().divergences.proxy, kLeastNll + 0.3);
}

TEST(FixedEpsilon, ThatCannotBeReachedRaisesItsMultiplierWithoutEnd) {
  GaussianDensity main(0, 1);
  GaussianDensity proxy(0.3, 0.8);
  const TrainResult result = train(main, proxy, bounded(kLeastNll - 0.5, 2000));
  // 0.05 a step times half a nat.
  EXPECT_NEAR(result.multipliers.at("proxy"), 0.5 + 2000 * 0.05 * 0.5, 10);
  EXPECT_NEAR(proxy.mean(), kDataMean, 0.01);
  EXPECT_NEAR(result.history.back().constraint("proxy").residual, 0.5, 1e-3);
}

TEST(FixedEpsilon, HasToBeGiven) {
  GaussianDensity main(0, 1);
  GaussianDensity proxy(0, 1);
  TrainOptions options = bounded(0, 1);
  options.epsilon.reset();
  try {
    train(main, proxy, options);
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("epsilon"));
  }
}

// Minimise the NLL where the mean is at most 0.2: the mean is 0.2, the variance that of the data
// around it, and the multiplier the slope of the NLL there, (0.7 - 0.2) / 2.5.
TEST(Requirement, HoldsAtTheConstrainedOptimumWithItsMultiplier) {
  GaussianDensity main(0, 1);
  GaussianDensity proxy(0, 1);
  TrainOptions options = bounded(10, 6000);
  options.learning_rate.multipliers = 0.02;
  options.requirements = {mean_at_most(0.2)};
  const TrainResult result = train(main, proxy, options, 1000);
  EXPECT_NEAR(main.mean(), 0.2, 0.03);
  EXPECT_NEAR(main.deviation(), std::sqrt(2.5), 0.04);
  // The level of a step has a standard error of 0.05, which the multiplier follows: a mean tells.
  double sum = 0;
  const std::size_t half = result.history.size() / 2;
  for (std::size_t i = half; i < result.history.size(); ++i) {
    sum += result.history[i].constraint("mean").multiplier;
  }
  EXPECT_NEAR(sum / static_cast<double>(result.history.size() - half), 0.2, 0.02);
  EXPECT_EQ(result.history.back().constraint("mean").epsilon, 0.2);
}

TEST(Requirement, ThatHoldsAnywayChangesNothing) {
  GaussianDensity main(0, 1);
  GaussianDensity proxy(0, 1);
  TrainOptions options = bounded(10, 3000);
  options.requirements = {mean_at_most(5)};
  const TrainResult result = train(main, proxy, options);
  EXPECT_NEAR(main.mean(), kDataMean, 0.02);
  EXPECT_EQ(result.multipliers.at("mean"), 0);
}

TEST(Requirement, IsRefusedUnderTheNameOfAnotherConstraintOrWithTooFewNumbers) {
  const auto refusal = [](const Constraint& constraint) -> std::string {
    GaussianDensity main(0, 1);
    GaussianDensity proxy(0, 1);
    TrainOptions options = bounded(10, 1);
    options.requirements = {constraint};
    try {
      train(main, proxy, options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  Constraint taken = mean_at_most(1);
  taken.name = "proxy";
  EXPECT_THAT(refusal(taken), HasSubstr("'proxy' is the name of another constraint"));
  EXPECT_THAT(refusal({.name = "h"}), HasSubstr("'h' has no statistic"));
  EXPECT_THAT(
      refusal(requirement(
          "h", [](const MatrixView<double>&) { return Vector<double>::Zero(3).eval(); }, 0)),
      HasSubstr("h: expected a number for each of 500 samples, got 3"));
}

// Checkpoints and histories follow the list: a resumed run ends with the same bits.
// It would be ignored in silence.
TEST(Requirement, IsRefusedByLikelihoodMethods) {
  GaussianDensity main(0, 1);
  TrainOptions options = bounded(10, 1);
  options.method = Method::mle;
  options.requirements = {mean_at_most(0.2)};
  EXPECT_THROW(Trainer<double>(main, nullptr, {data_rows(50), {}, {}, {}}, options),
               std::invalid_argument);
}

class RequirementFiles : public testing::ScratchTest {};
TEST_F(RequirementFiles, OfCheckpointsAndHistoriesKeepIt) {
  TrainOptions options = bounded(10, 40);
  options.schedule.kind = Schedule::constant;
  options.requirements = {mean_at_most(0.2)};
  const TrainingData<double> data{data_rows(100), {}, {}, {}};
  GaussianDensity main(0, 1);
  GaussianDensity proxy(0, 1);
  const TrainResult whole = Trainer<double>(main, &proxy, data, options).run();

  GaussianDensity first_main(0, 1);
  GaussianDensity first_proxy(0, 1);
  Trainer<double> first(first_main, &first_proxy, data, options);
  for (int i = 0; i < 15; ++i) (void)first.step();
  first.save(path("run.checkpoint"));
  GaussianDensity again_main(0.5, 2);
  GaussianDensity again_proxy(0.5, 2);
  Trainer<double> again(again_main, &again_proxy, data, options);
  again.resume(path("run.checkpoint"));
  const TrainResult resumed = again.run();
  EXPECT_EQ(resumed.multipliers, whole.multipliers);
  EXPECT_EQ(again_main.mean(), main.mean());

  TrainOptions other = options;
  other.requirements = {mean_at_most(0.3)};
  Trainer<double> wrong(again_main, &again_proxy, data, other);
  EXPECT_THROW(wrong.resume(path("run.checkpoint")), std::runtime_error);

  const HistoryArray array = to_array(whole.history);
  EXPECT_THAT(array.columns, HasSubstr("lambda_mean"));
  const std::vector<StepRecord> read = to_step_records(array.numbers, array.columns);
  ASSERT_EQ(read.size(), whole.history.size());
  EXPECT_EQ(read.back().constraint("mean").multiplier,
            whole.history.back().constraint("mean").multiplier);
  EXPECT_EQ(read.back().constraint("forward").level,
            whole.history.back().constraint("forward").level);
  EXPECT_THROW((void)to_step_records(array.numbers, ""), std::invalid_argument);
  EXPECT_THROW((void)to_step_records(array.numbers, array.columns + ",more"),
               std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys
