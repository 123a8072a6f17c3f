// The affine transform and the Student-t base of a flow, beyond density_contract_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/math/distributions/students_t.hpp>

#include <cmath>
#include <numbers>
#include <vector>

#include "jeffreys/model/zuko_archive.h"
#include "kernels/tile.h"
#include "model/flow_base.h"
#include "support/mistake_of.h"
#include "support/model_helpers.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using kernels::kTileRows;
using ::testing::HasSubstr;

// The quantiles of a Cauchy distribution, which is Student's with one degree of freedom, have a
// closed form.
TEST(FlowBase, NormalNumbersBecomeStudents) {
  const FlowBase<double> base(1, 1);
  std::vector<double> z(kTileRows);
  for (std::size_t r = 0; r < kTileRows; ++r) z[r] = 0.15 * (static_cast<double>(r) - 32);
  std::vector<double> made = z;
  base.from_normal(made.data());
  for (std::size_t r = 0; r < kTileRows; ++r) {
    const double lower = 0.5 * std::erfc(std::abs(z[r]) / std::numbers::sqrt2);
    const double quantile = 1 / std::tan(std::numbers::pi * lower);
    EXPECT_NEAR(made[r], std::copysign(quantile, z[r]), 1e-9 * (1 + quantile)) << z[r];
  }
  made.assign(kTileRows, 50);  // so far out that no probability is left
  base.from_normal(made.data());
  EXPECT_EQ(made[0], INFINITY);
}

// Against quantiles, between nodes and near both ends.
TEST(NormalToStudent, IsTheQuantileOfTheSameProbability) {
  for (const double freedom : {1.0, 2.5, 5.0, 30.0, 1000.0}) {
    const NormalToStudent map(freedom);
    const boost::math::students_t student(freedom);
    EXPECT_EQ(map(0), 0);
    double before = -INFINITY;
    for (double z = -9.99; z < 10; z += 0.0371) {
      const double tail = 0.5 * std::erfc(std::abs(z) / std::numbers::sqrt2);
      const double expected = std::copysign(-boost::math::quantile(student, tail), z);
      const double made = map(z);
      EXPECT_NEAR(made, expected, 1e-9 * std::abs(expected)) << freedom << " " << z;
      EXPECT_GT(made, before);
      before = made;
    }
    EXPECT_GT(map(12), before);
    EXPECT_TRUE(std::isnan(map(NAN)));
  }
}

// Beyond its splines a flow is its base.
TEST(FlowBase, TailsAreThoseOfTheBase) {
  const SplineFlow<double> student({.features = 1, .student_t = 3});
  const SplineFlow<double> normal({.features = 1});
  Matrix<double> far(2, 1);
  far << -40, 600;
  for (Eigen::Index i = 0; i < 2; ++i) {
    const double x = far(i, 0);
    const double density =
        2 / (std::numbers::pi * std::sqrt(3.0) * std::pow(1 + x * x / 3, 2));  // three degrees
    EXPECT_NEAR(student.log_prob(far)(i), std::log(density), 1e-9);
    EXPECT_LT(normal.log_prob(far)(i), -700);
  }
}

// Where squares overflow in single precision the tail goes on.
TEST(FlowBase, FarRowsHaveFiniteLogDensities) {
  const SplineFlow<float> student({.features = 1, .student_t = 1});
  Matrix<float> far(1, 1);
  far << 1e25F;
  // log(1 / (pi x^2))
  EXPECT_NEAR(student.log_prob(far)(0), -std::log(std::numbers::pi) - 50 * std::log(10.0), 1e-3);
  EXPECT_NEAR(student.input_gradient(far).x(0, 0) * 1e25F, -2, 1e-5);
  const FlowBase<double> base(1, 1.5);
  std::vector<double> z(kTileRows, 35);
  base.from_normal(z.data());  // beyond what the quantile's own terms can hold
  EXPECT_GT(z[0], 1e100);
}

TEST(FlowBase, HeavyTailsAreLearnedBetterByAHeavyBase) {
  FlowBase<double> base(1, 2);
  Matrix<double> x = testing::normals(20 * static_cast<Eigen::Index>(kTileRows), 1, 1);
  for (Eigen::Index tile = 0; tile < 20; ++tile) {
    base.from_normal(x.data() + tile * static_cast<Eigen::Index>(kTileRows));
  }
  SplineFlow<double> student({.features = 1, .transforms = 1, .student_t = 2});
  SplineFlow<double> normal({.features = 1, .transforms = 1});
  EXPECT_GT(testing::train(student, x, 200, 1e-2), testing::train(normal, x, 200, 1e-2) + 0.3);
}

TEST(AffineTransform, StartsAsTheIdentity) {
  const SplineFlowOptions plain{.features = 3, .context_features = 1, .hidden = {8}, .seed = 5};
  SplineFlowOptions affine = plain;
  affine.affine = true;
  const Matrix<double> x = testing::normals(70, 3, 1);
  const Matrix<double> c = testing::normals(70, 1, 2);
  EXPECT_EQ(SplineFlow<double>(affine).log_prob(x, c), SplineFlow<double>(plain).log_prob(x, c));
}

// Five columns that are one number and a little noise each.
TEST(AffineTransform, TakesCorrelationsOut) {
  Matrix<double> x = 0.1 * testing::normals(1000, 5, 3);
  x.colwise() += testing::normals(1000, 1, 4).col(0);
  // The covariance 0.01 I + 1 1^T has the determinant 0.01^5 (1 + 500).
  const double entropy =
      2.5 * (1 + std::log(2 * std::numbers::pi)) + 0.5 * (5 * std::log(0.01) + std::log(501.0));
  const auto lacks = [&](bool affine) {
    SplineFlow<double> flow({.features = 5,
                             .transforms = 1,
                             .hidden = {16},
                             .start = FlowStart::independent,
                             .affine = affine,
                             .seed = 1});
    return -testing::train(flow, x, 400, 1e-2) - entropy;
  };
  const double with = lacks(true);
  const double without = lacks(false);
  EXPECT_LT(with, 0.5 * without);
}

class FlowParts : public testing::ScratchTest {};

TEST_F(FlowParts, ZukoHasNoSuchFlow) {
  const SplineFlow<float> student({.features = 2, .student_t = 3});
  EXPECT_THAT(testing::mistake_of([&] { export_zuko<float>(student, path("f.npz")); }),
              HasSubstr("Student-t"));
}

TEST_F(FlowParts, FreedomOutOfRangeIsRefused) {
  for (const double freedom : {-1.0, 0.5, 2000.0, std::nan("")}) {
    EXPECT_THAT(
        testing::mistake_of([&] { SplineFlow<float>({.features = 2, .student_t = freedom}); }),
        HasSubstr("student_t"));
  }
}

}  // namespace
}  // namespace jeffreys
