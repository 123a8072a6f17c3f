// One table for all rows gives what a table for each row gives.
#include "kernels/shared_spline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/error_meter.h"
#include "kernels/spline_kernels.h"

namespace jeffreys::kernels {
namespace {

template <typename T>
struct Tile {
  std::vector<T> x, gy, gl;

  explicit Tile(Draw& draw) {
    for (std::size_t i = 0; i < kTileRows; ++i) {
      x.push_back(static_cast<T>(draw.uniform(-5.5, 5.5)));
      gy.push_back(static_cast<T>(draw.uniform()));
      gl.push_back(static_cast<T>(draw.uniform()));
    }
  }
};

// Slopes up to 10 and curvatures up to 100 magnify the rounding of numbers up to 5.
template <typename T>
constexpr double kBound = std::is_same_v<T, float> ? 1e-4 : 1e-12;

template <typename T>
class SharedSplineTest : public ::testing::Test {};
TYPED_TEST_SUITE(SharedSplineTest, FloatAndDouble, FloatOrDoubleName);

TYPED_TEST(SharedSplineTest, MovesLikeTheRowsSpline) {
  Draw draw(1);
  for (const std::size_t bins : kBinCounts) {
    const auto raw = random_parameters<TypeParam>(bins, 1, draw);
    const Tile<TypeParam> tile(draw);
    RowSpline<TypeParam> rows(bins, raw);
    SharedSpline<TypeParam> shared(bins, raw);
    ErrorMeter errors;
    const auto compare = [&](const Moved<TypeParam>& a, const Moved<TypeParam>& e) {
      for (std::size_t i = 0; i < kTileRows; ++i) {
        errors.add(a.value[i], e.value[i], kBound<TypeParam>);
        errors.add(a.log_determinant[i], e.log_determinant[i], kBound<TypeParam>);
      }
    };
    compare(shared.forward(tile.x), rows.forward(tile.x));
    compare(shared.inverse(tile.x), rows.inverse(tile.x));
    EXPECT_LE(errors.worst(), 1) << bins << " bins, " << errors;
  }
}

TYPED_TEST(SharedSplineTest, GradientIsTheSumOverTheRows) {
  Draw draw(2);
  for (const std::size_t bins : kBinCounts) {
    const auto raw = random_parameters<TypeParam>(bins, 1, draw);
    const Tile<TypeParam> tile(draw);
    const auto e = RowSpline<TypeParam>(bins, raw).backward(tile.x, tile.gy, tile.gl);
    const auto a = SharedSpline<TypeParam>(bins, raw).backward(tile.x, tile.gy, tile.gl);
    ErrorMeter errors;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      errors.add(a.raw[i], e.raw[i], 10 * kBound<TypeParam>);
    }
    for (std::size_t i = 0; i < kTileRows; ++i) {
      errors.add(a.input[i], e.input[i], 10 * kBound<TypeParam>);
    }
    EXPECT_LE(errors.worst(), 1) << bins << " bins, " << errors;
  }
}

// Both gradients are added to what is there.
TYPED_TEST(SharedSplineTest, GradientsAddUp) {
  constexpr std::size_t kBins = 5;
  Draw draw(3);
  const auto raw = random_parameters<TypeParam>(kBins, 1, draw);
  const Tile<TypeParam> values(draw);
  SplineTable<TypeParam> table;
  table.build(kBins, raw.data());
  const AlignedVector<TypeParam> x(values.x.begin(), values.x.end());
  const AlignedVector<TypeParam> gy(values.gy.begin(), values.gy.end());
  const AlignedVector<TypeParam> gl(values.gl.begin(), values.gl.end());
  AlignedVector<TypeParam> input_gradient(kTileRows);
  std::vector<TypeParam> once(kBinNumbers * kBins);
  const auto backward = [&](std::vector<TypeParam>& bin_gradient) {
    shared_spline_backward(SharedSplineBackwardArguments<TypeParam>{
        &table, x.data(), gy.data(), gl.data(), bin_gradient.data(), input_gradient.data()});
  };
  backward(once);
  std::vector<TypeParam> twice = once;
  backward(twice);
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(twice[i], once[i] + once[i]);

  std::vector<TypeParam> alone(raw.size());
  table.add_raw_gradient(raw.data(), once.data(), alone.data());
  std::vector<TypeParam> added(raw.size(), TypeParam(0.75));
  table.add_raw_gradient(raw.data(), once.data(), added.data());
  for (std::size_t i = 0; i < raw.size(); ++i) EXPECT_EQ(added[i], TypeParam(0.75) + alone[i]);
}

TYPED_TEST(SharedSplineTest, LogDeterminantsAddUp) {
  Draw draw(4);
  SplineTable<TypeParam> table;
  table.build(8, random_parameters<TypeParam>(8, 1, draw).data());
  const auto x = draw.buffer<TypeParam>(kTileRows, -5.5, 5.5);
  AlignedVector<TypeParam> output(kTileRows);
  AlignedVector<TypeParam> alone(kTileRows);
  AlignedVector<TypeParam> added(kTileRows, TypeParam(0.625));
  using Arguments = SharedSplineArguments<TypeParam>;
  shared_spline_forward(Arguments{&table, x.data(), output.data(), alone.data()});
  shared_spline_forward(Arguments{&table, x.data(), output.data(), added.data()});
  for (std::size_t i = 0; i < kTileRows; ++i) EXPECT_EQ(added[i], TypeParam(0.625) + alone[i]);
}

TYPED_TEST(SharedSplineTest, NanStaysInItsRow) {
  constexpr std::size_t kLane = 50;
  Draw draw(5);
  SharedSpline<TypeParam> spline(8, random_parameters<TypeParam>(8, 1, draw));
  Tile<TypeParam> tile(draw);
  const auto forward = spline.forward(tile.x);
  const auto inverse = spline.inverse(tile.x);
  const auto gradient = spline.backward(tile.x, tile.gy, tile.gl);
  tile.x[kLane] = std::numeric_limits<TypeParam>::quiet_NaN();
  const auto forward_nan = spline.forward(tile.x);
  const auto inverse_nan = spline.inverse(tile.x);
  const auto gradient_nan = spline.backward(tile.x, tile.gy, tile.gl);
  for (std::size_t i = 0; i < kTileRows; ++i) {
    if (i == kLane) {
      EXPECT_TRUE(std::isnan(forward_nan.value[i]));
      EXPECT_TRUE(std::isnan(inverse_nan.value[i]));
      continue;
    }
    ASSERT_EQ(forward_nan.value[i], forward.value[i]);
    ASSERT_EQ(forward_nan.log_determinant[i], forward.log_determinant[i]);
    ASSERT_EQ(inverse_nan.value[i], inverse.value[i]);
    ASSERT_EQ(inverse_nan.log_determinant[i], inverse.log_determinant[i]);
    ASSERT_EQ(gradient_nan.input[i], gradient.input[i]);
  }
}

}  // namespace
}  // namespace jeffreys::kernels
