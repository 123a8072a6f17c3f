// Splines forward: the definition, tails, knots, Jacobian, and rows that do not know each other.
#include "kernels/spline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/spline_bounds.h"
#include "kernels/spline_kernels.h"
#include "kernels/spline_reference.h"

namespace jeffreys::kernels {
namespace {

template <typename T>
std::vector<T> random_inputs(std::size_t count, double low, double high, Draw& draw) {
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(draw.uniform(low, high));
  return values;
}

template <typename T>
void expect_definition(const ExactSpline& exact, const std::vector<T>& x, const Moved<T>& moved) {
  ErrorMeter values;
  ErrorMeter logs;
  for (std::size_t i = 0; i < x.size(); ++i) {
    add_value_error(exact, x[i], moved.value[i], values);
    add_log_determinant_error(exact, x[i], moved.log_determinant[i], logs);
  }
  EXPECT_LE(values.worst(), 1) << values;
  EXPECT_LE(logs.worst(), 1) << logs;
}

template <typename Kernel>
class SplineTest : public ::testing::Test {};
TYPED_TEST_SUITE(SplineTest, SplineKernels, SplineKernelName);

TYPED_TEST(SplineTest, FollowsItsDefinition) {
  using T = typename TypeParam::Value;
  Draw draw(1);
  for (const std::size_t bins : kBinCounts) {
    for (const double size : {1.0, 5.0, 50.0}) {
      const auto raw = size < 50 ? random_parameters<T>(bins, size, draw)
                                 : extreme_parameters<T>(bins, size, draw);
      const auto x = random_inputs<T>(1000, -6, 6, draw);
      SCOPED_TRACE(::testing::Message() << bins << " bins, parameters " << size);
      TypeParam spline(bins, raw);
      expect_definition({bins, raw}, x, spline.forward(x));
    }
  }
}

// For parameters as a fresh network gives them, in plain numbers.
TYPED_TEST(SplineTest, OrdinaryParameters) {
  using T = typename TypeParam::Value;
  constexpr double kValueBound = std::is_same_v<T, float> ? 1e-5 : 1e-13;
  constexpr double kLogBound = std::is_same_v<T, float> ? 1e-4 : 1e-12;
  Draw draw(2);
  for (const std::size_t bins : kBinCounts) {
    const auto raw = random_parameters<T>(bins, 1, draw);
    const ExactSpline exact(bins, raw);
    const auto x = random_inputs<T>(1000, -6, 6, draw);
    TypeParam spline(bins, raw);
    const auto moved = spline.forward(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto value = static_cast<double>(exact.value(x[i]));
      const auto log_determinant = static_cast<double>(exact.log_determinant(x[i]));
      ASSERT_NEAR(moved.value[i], value, kValueBound);
      ASSERT_NEAR(moved.log_determinant[i], log_determinant, kLogBound);
    }
  }
}

TYPED_TEST(SplineTest, ZeroParametersGiveTheIdentity) {
  using T = typename TypeParam::Value;
  Draw draw(3);
  for (const std::size_t bins : kBinCounts) {
    const auto x = random_inputs<T>(300, -6, 6, draw);
    TypeParam spline(bins, std::vector<T>(spline_parameters(bins)));
    const auto moved = spline.forward(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(moved.value[i], x[i], kDelta<T>);
      ASSERT_NEAR(moved.log_determinant[i], 0, kDelta<T>);
    }
  }
}

// To the bit, and whatever the parameters. -5 itself lies outside.
TYPED_TEST(SplineTest, TailsAreTheIdentityInBothDirections) {
  using T = typename TypeParam::Value;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  Draw draw(4);
  const auto below = std::nextafter(T(-5), T(-6));
  const std::vector<T> x = {T(-5),   below,  T(-5.0001), T(5.0001), T(-7),      T(7),
                            T(-1e3), T(1e3), T(-1e30),   T(1e30),   -kInfinity, kInfinity};
  for (const std::size_t bins : kBinCounts) {
    for (const double size : {1.0, 50.0}) {
      TypeParam spline(bins, extreme_parameters<T>(bins, size, draw));
      const auto forward = spline.forward(x);
      const auto inverse = spline.inverse(x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(forward.value[i], x[i]);
        EXPECT_EQ(forward.log_determinant[i], T(0)) << x[i];
        EXPECT_EQ(inverse.value[i], x[i]);
        EXPECT_EQ(inverse.log_determinant[i], T(0)) << x[i];
      }
    }
  }
}

// Each knot as the table computes it, the exact one, and their neighbours, so that either side of
// each kernel's own knots is met.
TYPED_TEST(SplineTest, KnotsAndTheirNeighbours) {
  using T = typename TypeParam::Value;
  Draw draw(5);
  for (const std::size_t bins : kBinCounts) {
    for (const double size : {1.0, 50.0}) {
      const auto raw = extreme_parameters<T>(bins, size, draw);
      const ExactSpline exact(bins, raw);
      SplineTable<T> table;
      table.build(bins, raw.data());
      std::vector<T> knots(table.bin_numbers.begin(),
                           table.bin_numbers.begin() + static_cast<std::ptrdiff_t>(bins));
      knots.push_back(table.last_x);
      knots.push_back(T(5));
      for (const long double knot : exact.x_knots()) knots.push_back(static_cast<T>(knot));
      std::vector<T> x = knots;
      for (const T knot : knots) {
        T above = knot;
        T below = knot;
        for (int i = 0; i < 4; ++i) {
          x.push_back(above = std::nextafter(above, T(9)));
          x.push_back(below = std::nextafter(below, T(-9)));
        }
      }
      SCOPED_TRACE(::testing::Message() << bins << " bins, parameters " << size);
      TypeParam spline(bins, raw);
      expect_definition(exact, x, spline.forward(x));
    }
  }
}

template <typename Kernel>
class SplineJacobianTest : public ::testing::Test {};
TYPED_TEST_SUITE(SplineJacobianTest, DoubleSplineKernels, SplineKernelName);

// The kernel's own values, 1e-5 apart: h^2 f''' / (6 f') + epsilon f / (h f') < 1e-6 when the
// points of one difference lie in one bin. Points closer to a knot are left out, less than 1 in
// 100.
TYPED_TEST(SplineJacobianTest, LogDeterminantIsTheNumericalDerivative) {
  constexpr double kStep = 1e-5;
  Draw draw(6);
  std::size_t left_out = 0;
  for (const std::size_t bins : kBinCounts) {
    for (int repeat = 0; repeat < 5; ++repeat) {
      const auto raw = random_parameters<double>(bins, 2, draw);
      const ExactSpline exact(bins, raw);
      const auto x = random_inputs<double>(200, -5.5, 5.5, draw);
      std::vector<double> above = x;
      std::vector<double> below = x;
      for (double& v : above) v += kStep;
      for (double& v : below) v -= kStep;
      TypeParam spline(bins, raw);
      const auto moved = spline.forward(x);
      const auto upper = spline.forward(above);
      const auto lower = spline.forward(below);
      for (std::size_t i = 0; i < x.size(); ++i) {
        bool knot_between = false;
        for (const long double knot : exact.x_knots()) {
          knot_between = knot_between || std::abs(knot - x[i]) <= 2 * kStep;
        }
        if (knot_between) {
          ++left_out;
          continue;
        }
        const double slope = (upper.value[i] - lower.value[i]) / (2 * kStep);
        ASSERT_NEAR(moved.log_determinant[i], std::log(slope), 1e-6) << bins << ", " << x[i];
      }
    }
  }
  EXPECT_LT(left_out, 50U);
}

// One tile of splines with parameters of their own.
template <typename T>
struct OwnSplines {
  std::size_t bins;
  AlignedVector<T> raw, input, scratch;

  OwnSplines(std::size_t bin_count, double size, Draw& draw)
      : bins(bin_count),
        raw(draw.buffer<T>(spline_parameters(bin_count) * kTileRows, -size, size)),
        input(draw.buffer<T>(kTileRows, -5.5, 5.5)),
        scratch(2 * bin_count * kTileRows) {}

  Moved<T> run(bool inverse, T log_determinant = 0) {
    AlignedVector<T> output(kTileRows);
    AlignedVector<T> log(kTileRows, log_determinant);
    const SplineArguments<T> arguments{bins,          raw.data(), input.data(),
                                       output.data(), log.data(), scratch.data()};
    inverse ? spline_inverse(arguments) : spline_forward(arguments);
    return {{output.begin(), output.end()}, {log.begin(), log.end()}};
  }

  std::vector<T> row(std::size_t r) const {
    std::vector<T> values;
    for (std::size_t i = r; i < raw.size(); i += kTileRows) values.push_back(raw[i]);
    return values;
  }
};

template <typename T>
class RowSplineTest : public ::testing::Test {};
TYPED_TEST_SUITE(RowSplineTest, FloatAndDouble, FloatOrDoubleName);

TYPED_TEST(RowSplineTest, EveryRowHasItsOwnSpline) {
  Draw draw(7);
  for (const std::size_t bins : kBinCounts) {
    OwnSplines<TypeParam> splines(bins, 3, draw);
    const auto moved = splines.run(false);
    for (std::size_t r = 0; r < kTileRows; ++r) {
      expect_definition<TypeParam>({bins, splines.row(r)}, {splines.input[r]},
                                   {{moved.value[r]}, {moved.log_determinant[r]}});
    }
  }
}

TYPED_TEST(RowSplineTest, LogDeterminantsAddUp) {
  Draw draw(8);
  OwnSplines<TypeParam> splines(8, 1, draw);
  for (const bool inverse : {false, true}) {
    const auto alone = splines.run(inverse);
    const auto added = splines.run(inverse, TypeParam(0.625));
    EXPECT_EQ(added.value, alone.value);
    for (std::size_t r = 0; r < kTileRows; ++r) {
      EXPECT_EQ(added.log_determinant[r], TypeParam(0.625) + alone.log_determinant[r]);
    }
  }
}

constexpr std::size_t kNanLane = 29;

// Runs with clean splines and again after `spoil`; rows other than kNanLane must keep their bits.
template <typename T, typename Spoil>
Moved<T> run_spoiled(const OwnSplines<T>& clean, bool inverse, const Spoil& spoil) {
  OwnSplines<T> splines = clean;
  const auto expected = splines.run(inverse);
  spoil(splines);
  const auto moved = splines.run(inverse);
  for (std::size_t r = 0; r < kTileRows; ++r) {
    if (r == kNanLane) continue;
    EXPECT_EQ(moved.value[r], expected.value[r]) << "row " << r;
    EXPECT_EQ(moved.log_determinant[r], expected.log_determinant[r]) << "row " << r;
  }
  return moved;
}

TYPED_TEST(RowSplineTest, NanInputStaysInItsRow) {
  Draw draw(9);
  const OwnSplines<TypeParam> clean(4, 1, draw);
  for (const bool inverse : {false, true}) {
    const auto moved = run_spoiled(clean, inverse, [](OwnSplines<TypeParam>& splines) {
      splines.input[kNanLane] = std::numeric_limits<TypeParam>::quiet_NaN();
    });
    EXPECT_TRUE(std::isnan(moved.value[kNanLane]));
  }
}

// Any one of the parameters that a value depends on: a NaN may not disappear.
TYPED_TEST(RowSplineTest, NanParameterStaysInItsRow) {
  Draw draw(10);
  const OwnSplines<TypeParam> clean(4, 0.5, draw);
  for (const bool inverse : {false, true}) {
    // The last inner derivative is that of the third knot; the value lies in the second bin.
    for (std::size_t p = 0; p + 1 < spline_parameters(4); ++p) {
      const auto moved = run_spoiled(clean, inverse, [p](OwnSplines<TypeParam>& splines) {
        splines.input[kNanLane] = TypeParam(-1.25);
        splines.raw[p * kTileRows + kNanLane] = std::numeric_limits<TypeParam>::quiet_NaN();
      });
      EXPECT_TRUE(std::isnan(moved.value[kNanLane])) << "parameter " << p << ", " << inverse;
    }
  }
}

}  // namespace
}  // namespace jeffreys::kernels
