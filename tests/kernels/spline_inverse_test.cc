// The inverse undoes the forward direction: inside, at knots, in the tails, in the tiniest bins.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "kernels/spline_bounds.h"
#include "kernels/spline_kernels.h"
#include "kernels/spline_reference.h"

namespace jeffreys::kernels {
namespace {

// Values all over the range and beyond, and every knot with its neighbours.
template <typename T>
std::vector<T> inputs(const std::vector<long double>& knots, Draw& draw) {
  std::vector<T> values;
  for (int i = 0; i < 500; ++i) values.push_back(static_cast<T>(draw.uniform(-6, 6)));
  for (const long double knot : knots) {
    const T centre = static_cast<T>(knot);
    T above = centre;
    T below = centre;
    values.push_back(centre);
    for (int i = 0; i < 4; ++i) {
      values.push_back(above = std::nextafter(above, T(9)));
      values.push_back(below = std::nextafter(below, T(-9)));
    }
  }
  for (const double tail : {-5.0, 5.0, -5.0001, 5.0001, -20.0, 20.0}) {
    values.push_back(static_cast<T>(tail));
  }
  return values;
}

template <typename Kernel>
class SplineInverseTest : public ::testing::Test {};
TYPED_TEST_SUITE(SplineInverseTest, SplineKernels, SplineKernelName);

// Parameters up to 1, as a fresh network gives them, leave slopes above 0.03: the inverse magnifies
// the rounding errors of y, some epsilon of 5, at most thirty times.
TYPED_TEST(SplineInverseTest, UndoesForwardForOrdinaryParameters) {
  using T = typename TypeParam::Value;
  constexpr double kBound = std::is_same_v<T, float> ? 1e-4 : 1e-10;
  Draw draw(1);
  for (const std::size_t bins : kBinCounts) {
    for (int repeat = 0; repeat < 5; ++repeat) {
      const auto raw = random_parameters<T>(bins, 1, draw);
      const auto x = inputs<T>(ExactSpline(bins, raw).x_knots(), draw);
      TypeParam spline(bins, raw);
      const auto forward = spline.forward(x);
      const auto back = spline.inverse(forward.value);
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(back.value[i], x[i], kBound);
        ASSERT_NEAR(back.log_determinant[i], forward.log_determinant[i], kBound);
      }
    }
  }
}

// Where a bin is wide, low and steep at its ends, the slope in its middle goes down to 1e-10, and
// 1e-16 in y is 1e-6 in x. So for any parameters the law is the one of spline_bounds.h: with the
// rounding of y and x, the exact spline takes x back to where it came from.
TYPED_TEST(SplineInverseTest, UndoesForwardForAnyParameters) {
  using T = typename TypeParam::Value;
  Draw draw(2);
  for (const std::size_t bins : kBinCounts) {
    for (const double size : {5.0, 50.0}) {
      ErrorMeter errors;
      for (int repeat = 0; repeat < 10; ++repeat) {
        const auto raw = repeat < 5 ? random_parameters<T>(bins, size, draw)
                                    : extreme_parameters<T>(bins, size, draw);
        const ExactSpline exact(bins, raw);
        const auto x = inputs<T>(exact.x_knots(), draw);
        TypeParam spline(bins, raw);
        const auto y = spline.forward(x).value;
        const auto back = spline.inverse(y).value;
        for (std::size_t i = 0; i < x.size(); ++i) {
          add_value_error(exact, back[i], y[i], errors);
        }
      }
      EXPECT_LE(errors.worst(), 1) << bins << " bins, parameters " << size << ", " << errors;
    }
  }
}

template <typename Kernel>
class DoubleSplineInverseTest : public ::testing::Test {};
TYPED_TEST_SUITE(DoubleSplineInverseTest, DoubleSplineKernels, SplineKernelName);

// In plain numbers, with the tiniest bins: 1e-10, over the slope where that is less than 1. (In
// float the slope changes too much over the error itself for such a bound.)
TYPED_TEST(DoubleSplineInverseTest, ErrorIsThatOfYOverTheSlope) {
  Draw draw(3);
  for (const std::size_t bins : kBinCounts) {
    ErrorMeter errors;
    for (int repeat = 0; repeat < 10; ++repeat) {
      const auto raw = extreme_parameters<double>(bins, 50, draw);
      const ExactSpline exact(bins, raw);
      const auto x = inputs<double>(exact.x_knots(), draw);
      TypeParam spline(bins, raw);
      const auto back = spline.inverse(spline.forward(x).value).value;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto slope = static_cast<double>(std::exp(exact.log_determinant(x[i])));
        errors.add(back[i], x[i], 1e-10 / std::min(1.0, slope));
      }
    }
    EXPECT_LE(errors.worst(), 1) << bins << " bins, " << errors;
  }
}

// Values that did not come from the forward direction: knots in y, and anything between.
TYPED_TEST(SplineInverseTest, FindsWhereTheSplineHasAnyValue) {
  using T = typename TypeParam::Value;
  Draw draw(4);
  for (const std::size_t bins : kBinCounts) {
    for (const double size : {1.0, 5.0, 50.0}) {
      ErrorMeter errors;
      for (int repeat = 0; repeat < 5; ++repeat) {
        const auto raw = extreme_parameters<T>(bins, size, draw);
        const ExactSpline exact(bins, raw);
        const auto y = inputs<T>(exact.y_knots(), draw);
        TypeParam spline(bins, raw);
        const auto x = spline.inverse(y).value;
        for (std::size_t i = 0; i < y.size(); ++i) add_value_error(exact, x[i], y[i], errors);
      }
      EXPECT_LE(errors.worst(), 1) << bins << " bins, parameters " << size << ", " << errors;
    }
  }
}

// The inverse gives log dy/dx at the x that it found.
TYPED_TEST(SplineInverseTest, LogDeterminantIsThatOfForward) {
  using T = typename TypeParam::Value;
  Draw draw(5);
  for (const std::size_t bins : kBinCounts) {
    for (const double size : {1.0, 5.0, 50.0}) {
      ErrorMeter errors;
      for (int repeat = 0; repeat < 5; ++repeat) {
        const auto raw = extreme_parameters<T>(bins, size, draw);
        const ExactSpline exact(bins, raw);
        TypeParam spline(bins, raw);
        const auto back = spline.inverse(inputs<T>(exact.y_knots(), draw));
        for (std::size_t i = 0; i < back.value.size(); ++i) {
          add_log_determinant_error(exact, back.value[i], back.log_determinant[i], errors);
        }
      }
      EXPECT_LE(errors.worst(), 1) << bins << " bins, parameters " << size << ", " << errors;
    }
  }
}

}  // namespace
}  // namespace jeffreys::kernels
