// A fitted density is one: it integrates to 1 in the table's units, and its samples follow it.
#include <gtest/gtest.h>

#include <cmath>

#include "fit/small_fits.h"

namespace jeffreys::testing {
namespace {

constexpr int kCells = 400;
constexpr double kHeightFrom = 50;
constexpr double kHeightTo = 330;

// Midpoints of cells over (0, 1) x (50, 330).
Table grid() {
  std::vector<double> share;
  std::vector<double> height;
  for (int i = 0; i < kCells; ++i) {
    for (int j = 0; j < kCells; ++j) {
      share.push_back((i + 0.5) / kCells);
      height.push_back(kHeightFrom + (kHeightTo - kHeightFrom) * (j + 0.5) / kCells);
    }
  }
  return TableMaker().numbers("share", share).numbers("height", height).table();
}
constexpr double kCellArea = (kHeightTo - kHeightFrom) / kCells / kCells;

struct Mean {
  double value = 0;
  double standard_error = 0;
};
Mean mean_of(const Vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = values.mean();
  return {mean, std::sqrt((values.array() - mean).square().sum() / (count - 1) / count)};
}

class Laws : public ::testing::Test {
 protected:
  static const Fit& flow_fit() {
    static const Fit made = small_fit(plane_table(), small_fit_options(150));
    return made;
  }
};

TEST_F(Laws, DensitiesIntegrateToOne) {
  for (const From from : {From::main, From::proxy}) {
    const Vector<double> log_prob = flow_fit().density.log_prob(grid(), from).log_prob;
    EXPECT_NEAR(log_prob.array().exp().sum() * kCellArea, 1, 5e-3);
  }
}

Fit energy_fit(std::uint64_t seed) {
  FitOptions options = small_fit_options(400);
  options.seed = seed;
  options.proxy = ModelChoice{"energy"};
  return small_fit(plane_table(), options);
}

// Over the whole plane of encoded rows, also where the main model has no samples: zeta has others
// too. 20,000 of either kind, of which this share is effective.
TEST_F(Laws, EnergiesIntegrateToOneOnceNormalised) {
  constexpr double kReach = 14;
  constexpr double kStep = 0.07;
  constexpr auto kPoints = static_cast<Eigen::Index>(2 * kReach / kStep);
  Matrix<double> plane(kPoints * kPoints, 2);
  for (Eigen::Index i = 0; i < plane.rows(); ++i) {
    plane(i, 0) = -kReach + (static_cast<double>(i / kPoints) + 0.5) * kStep;
    plane(i, 1) = -kReach + (static_cast<double>(i % kPoints) + 0.5) * kStep;
  }
  for (const std::uint64_t seed : {5, 7, 8}) {
    const Fit made = energy_fit(seed);
    const double share = made.report.energy.effective_sample_size;
    ASSERT_GT(share, 0.02);
    const double error = std::sqrt((1 / share - 1) / 20000);
    const Vector<double> log_prob = made.density.log_prob(plane, Matrix<double>(), From::proxy);
    EXPECT_NEAR(log_prob.array().exp().sum() * kStep * kStep, 1, 5 * error + 1e-2)
        << seed << ": " << made.report.energy.unseen << " of the mass is unseen";
  }
}

TEST_F(Laws, ConditionalDensitiesIntegrateToOneForEveryCondition) {
  FitOptions options = small_fit_options(100);
  options.schema.condition = {"height"};
  const Fit made = small_fit(plane_table(), options);
  for (const double height : {150.0, 172.0, 200.0}) {
    std::vector<double> share;
    for (int i = 0; i < 4000; ++i) share.push_back((i + 0.5) / 4000);
    const Table line = TableMaker()
                           .numbers("share", share)
                           .numbers("height", std::vector<double>(share.size(), height))
                           .table();
    for (const From from : {From::main, From::proxy}) {
      const Vector<double> log_prob = made.density.log_prob(line, from).log_prob;
      EXPECT_NEAR(log_prob.array().exp().mean(), 1, 5e-3);
    }
  }
}

TEST_F(Laws, SamplesHaveTheEntropyOfTheDensity) {
  const Table cells = grid();
  for (const From from : {From::main, From::proxy}) {
    const Eigen::ArrayXd log_prob = flow_fit().density.log_prob(cells, from).log_prob.array();
    const double expected = (log_prob.exp() * log_prob).sum() * kCellArea;
    const Table samples = flow_fit().density.sample(20000, 7, Matrix<double>(), from).table;
    const Mean mean = mean_of(flow_fit().density.log_prob(samples, from).log_prob);
    EXPECT_NEAR(mean.value, expected, 5 * mean.standard_error + 5e-3);
  }
}

TEST_F(Laws, RatiosOfDensitiesHaveMeanOneUnderSamples) {
  for (const From from : {From::main, From::proxy}) {
    const From other = from == From::main ? From::proxy : From::main;
    const Table samples = flow_fit().density.sample(20000, 8, Matrix<double>(), from).table;
    const Vector<double> ratio = (flow_fit().density.log_prob(samples, other).log_prob -
                                  flow_fit().density.log_prob(samples, from).log_prob)
                                     .array()
                                     .exp();
    const Mean mean = mean_of(ratio);
    EXPECT_NEAR(mean.value, 1, 5 * mean.standard_error);
    EXPECT_LT(mean.standard_error, 0.05);
  }
}

TEST_F(Laws, UnitsShiftTheLogDensity) {
  Table scaled = plane_table();
  for (double& height : scaled.columns[1].numbers) height *= 1000;
  const Fit made = small_fit(scaled, small_fit_options(150));
  const Vector<double> before = flow_fit().density.log_prob(plane_table(), From::main).log_prob;
  const Vector<double> after = made.density.log_prob(scaled, From::main).log_prob;
  EXPECT_LT((after - (before.array() - std::log(1000.0)).matrix()).cwiseAbs().maxCoeff(), 1e-3);
}

TEST_F(Laws, FitDoesNotDependOnThreads) {
  const FitOptions options = small_fit_options(20);
  const PreparedTable table = prepare(plane_table(), options);
  const Fit one = fit(table, options, {.threads = 1});
  const Fit three = fit(table, options, {.threads = 3});
  EXPECT_EQ(one.density.log_prob(plane_table()).log_prob,
            three.density.log_prob(plane_table()).log_prob);
  EXPECT_THROW((void)fit(table, options, {.threads = 0}), std::invalid_argument);
}

TEST_F(Laws, ReportAgreesWithTheDensity) {
  const FitOptions options = small_fit_options(40);
  const PreparedTable table = prepare(plane_table(), options);
  const Fit made = fit(table, options);
  const double all = -made.density.log_prob(plane_table(), From::main).log_prob.mean();
  const FitReport& report = made.report;
  EXPECT_EQ(report.main.training.rows + report.main.held_out.rows, 200u);
  EXPECT_NEAR((report.main.training.nll * static_cast<double>(report.main.training.rows) +
               report.main.held_out.nll * static_cast<double>(report.main.held_out.rows)) /
                  200,
              all, 1e-5);
  EXPECT_EQ(made.density.chosen(), report.chosen);
  EXPECT_FALSE(report.verdict.empty());
}

}  // namespace
}  // namespace jeffreys::testing
