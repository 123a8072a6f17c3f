// What several fits say about rows that they have not seen.
#include "fit/left_out_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "fit/simple_models.h"
#include "fit/small_fits.h"
#include "fit/table_baseline.h"

namespace jeffreys::testing {
namespace {

// Two correlated columns, of which every other row lacks the second.
PreparedTable prepared_pairs() {
  std::vector<double> a = normal_numbers(80, 1);
  std::vector<double> b = normal_numbers(80, 2);
  for (std::size_t i = 0; i < 80; ++i) b[i] = i % 2 == 0 ? std::nan("") : 3 * a[i] + b[i];
  FitOptions options;
  options.schema.missing = Missing::keep;
  options.validation_fraction = 0;
  return prepare(TableMaker().numbers("a", a).numbers("b", b).table(), options);
}

class LeftOut : public ::testing::Test {
 protected:
  PreparedTable table_ = prepared_pairs();
  RowShape shape_ = row_shape(table_.schema);
  MemberParts parts_{80, 4, 2, 1};
  AnyDensity<float> gaussian_ = gaussian_model(shape_, table_.training);
};

// A row with a gap has the density of the cell that is there, which is a Gaussian's margin here.
TEST_F(LeftOut, GapsAreIntegratedOut) {
  const LeftOutRows left_out(table_, parts_, 1, 5, 1);
  std::vector<std::size_t> all(80);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Vector<double> found = left_out.score(gaussian_, all);
  const TableBaseline baseline(shape_, table_.training);
  const double mean = baseline.gaussian().coefficients()(0, 0);
  const double deviation = baseline.gaussian().factor()(0, 0);
  const Vector<double> whole =
      TabularDensity<float>(table_.schema, gaussian_).score(table_.training, From::main).log_prob;
  double apart = 0;
  int open = 0;
  for (Eigen::Index row = 0; row < 80; ++row) {
    if (!table_.training.has_gaps(row)) {
      EXPECT_EQ(found(row), whole(row));
      continue;
    }
    const double z = (table_.training.x(row, 0) - mean) / deviation;
    const double exact = -0.5 * z * z - std::log(deviation) - 0.5 * std::log(2 * std::numbers::pi) +
                         table_.training.log_jacobian(row);
    EXPECT_NEAR(found(row), exact, 0.25);
    apart += found(row) - exact;
    ++open;
  }
  EXPECT_EQ(open, 40);
  EXPECT_NEAR(apart / open, 0, 0.03);
  EXPECT_EQ(LeftOutRows(table_, parts_, 1, 5, 3).score(gaussian_, all), found);
}

// Members that are stopped by a part know it better by what is then taken off.
TEST_F(LeftOut, WhatStoppingGainsIsTakenOff) {
  const LeftOutRows left_out(table_, parts_, 1, 5, 1);
  const std::vector<AnyDensity<float>> same(4, gaussian_);
  Matrix<double> scores = left_out.scores_of(same);
  EXPECT_EQ(scores.col(0), scores.col(1));
  EXPECT_EQ(left_out.optimism_of(scores), 0);
  const Vector<double> fair = left_out.mixed_fairly(scores, 0, {});
  scores.col(0).array() += 0.5;
  EXPECT_NEAR(left_out.optimism_of(scores), 0.5, 1e-12);
  EXPECT_TRUE(left_out.mixed_fairly(scores, 0.5, {}).isApprox(fair, 1e-12));
  scores.col(0).array() -= 1;
  EXPECT_EQ(left_out.optimism_of(scores), 0) << "never negative";
}

}  // namespace
}  // namespace jeffreys::testing
