// Gradients of splines against central finite differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "kernels/error_meter.h"
#include "kernels/spline_kernels.h"
#include "kernels/spline_reference.h"

namespace jeffreys::kernels {
namespace {

// gy y + gl log dy/dx of one value, from the definition. Long double keeps the differences'
// rounding errors (1e-19 / step) far below the bound.
long double objective(std::size_t bins, const std::vector<double>& raw, std::size_t moved_parameter,
                      long double parameter_step, long double x, double gy, double gl) {
  std::vector<long double> parameters(raw.begin(), raw.end());
  if (moved_parameter < raw.size()) parameters[moved_parameter] += parameter_step;
  const ReferenceSpline<long double> spline(bins, parameters);
  return gy * spline.value(x) + gl * spline.log_determinant(x);
}

// A value in the middle part of a random bin, away from the knots by more than any step, with
// random gradients of the value and of the log determinant.
struct Point {
  double x, gy, gl, step;
};

Point random_point(const ReferenceSpline<double>& spline, Draw& draw) {
  const auto& x = spline.x_knots();
  const auto& y = spline.y_knots();
  const std::size_t k = draw.integer(0, x.size() - 2);
  const double width = x[k + 1] - x[k];
  // Both knots move by at most 10 steps of a parameter: here, by less than 1e-4 of the bin.
  const double step = 1e-5 * std::min({1.0, width, y[k + 1] - y[k]});
  return {x[k] + width * draw.uniform(0.05, 0.95), draw.uniform(), draw.uniform(), step};
}

struct Differences {
  std::vector<double> raw;
  double input;
};

Differences finite_differences(std::size_t bins, const std::vector<double>& raw, const Point& p) {
  Differences d;
  const long double h = p.step;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const long double above = objective(bins, raw, i, h, p.x, p.gy, p.gl);
    const long double below = objective(bins, raw, i, -h, p.x, p.gy, p.gl);
    d.raw.push_back(static_cast<double>((above - below) / (2 * h)));
  }
  const long double above = objective(bins, raw, raw.size(), 0, p.x + h, p.gy, p.gl);
  const long double below = objective(bins, raw, raw.size(), 0, p.x - h, p.gy, p.gl);
  d.input = static_cast<double>((above - below) / (2 * h));
  return d;
}

template <typename Kernel>
class SplineBackwardTest : public ::testing::Test {};
TYPED_TEST_SUITE(SplineBackwardTest, DoubleSplineKernels, SplineKernelName);

// Every number by itself is right to 1e-6 of itself, or of 1e-3 where terms cancel.
TYPED_TEST(SplineBackwardTest, FiniteDifferences) {
  Draw draw(1);
  for (const std::size_t bins : kBinCounts) {
    for (const double size : {0.5, 2.0, 5.0, 50.0}) {
      ErrorMeter errors;
      for (int repeat = 0; repeat < 40; ++repeat) {
        const auto raw = random_parameters<double>(bins, size, draw);
        const Point p = random_point({bins, raw}, draw);
        TypeParam spline(bins, raw);
        const auto g = spline.backward({p.x}, {p.gy}, {p.gl});
        const Differences expected = finite_differences(bins, raw, p);
        const auto bound = [](double value) { return 1e-6 * std::max(std::abs(value), 1e-3); };
        for (std::size_t i = 0; i < raw.size(); ++i) {
          errors.add(g.raw[i], expected.raw[i], bound(expected.raw[i]));
        }
        errors.add(g.input[0], expected.input, bound(expected.input));
      }
      EXPECT_LE(errors.worst(), 1) << bins << " bins, parameters " << size << ", " << errors;
    }
  }
}

// The sum over the rows of many tiles, each row with gradients of its own.
TYPED_TEST(SplineBackwardTest, RowsAddUp) {
  Draw draw(2);
  for (const std::size_t bins : kBinCounts) {
    const auto raw = random_parameters<double>(bins, 2, draw);
    std::vector<double> x, gy, gl;
    std::vector<double> sums(raw.size());
    std::vector<double> inputs;
    for (int i = 0; i < 150; ++i) {
      const Point p = random_point({bins, raw}, draw);
      x.push_back(p.x);
      gy.push_back(p.gy);
      gl.push_back(p.gl);
      const Differences d = finite_differences(bins, raw, p);
      for (std::size_t j = 0; j < raw.size(); ++j) sums[j] += d.raw[j];
      inputs.push_back(d.input);
    }
    TypeParam spline(bins, raw);
    const auto g = spline.backward(x, gy, gl);
    ErrorMeter errors;
    for (std::size_t j = 0; j < raw.size(); ++j) {
      errors.add(g.raw[j], sums[j], 1e-6 * std::max(1.0, std::abs(sums[j])));
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      errors.add(g.input[i], inputs[i], 1e-6 * std::max(1e-3, std::abs(inputs[i])));
    }
    EXPECT_LE(errors.worst(), 1) << bins << " bins, " << errors;
  }
}

template <typename Kernel>
class SplineTailGradientTest : public ::testing::Test {};
TYPED_TEST_SUITE(SplineTailGradientTest, SplineKernels, SplineKernelName);

// Outside, y = x whatever the parameters.
TYPED_TEST(SplineTailGradientTest, ParametersHaveNoInfluence) {
  using T = typename TypeParam::Value;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  Draw draw(3);
  for (const std::size_t bins : kBinCounts) {
    const std::vector<T> x = {T(-5), T(-5.01), T(5.01), T(1e4), T(-1e30), kInfinity, -kInfinity};
    std::vector<T> gy, gl;
    for (std::size_t i = 0; i < x.size(); ++i) {
      gy.push_back(static_cast<T>(draw.uniform()));
      gl.push_back(static_cast<T>(draw.uniform()));
    }
    TypeParam spline(bins, random_parameters<T>(bins, 50, draw));
    const auto g = spline.backward(x, gy, gl);
    EXPECT_EQ(g.input, gy);
    EXPECT_EQ(g.raw, std::vector<T>(g.raw.size()));
  }
}

// Float against double on parameters that both hold: sums of 64 numbers below 100.
TEST(SplineGradientPrecisionTest, FloatIsNearDouble) {
  Draw draw(4);
  for (const std::size_t bins : kBinCounts) {
    const auto raw = random_parameters<float>(bins, 1, draw);
    std::vector<float> x, gy, gl;
    for (std::size_t i = 0; i < kTileRows; ++i) {
      x.push_back(static_cast<float>(draw.uniform(-5, 5)));
      gy.push_back(static_cast<float>(draw.uniform()));
      gl.push_back(static_cast<float>(draw.uniform()));
    }
    RowSpline<double> fine(bins, {raw.begin(), raw.end()});
    const auto expected =
        fine.backward({x.begin(), x.end()}, {gy.begin(), gy.end()}, {gl.begin(), gl.end()});
    const auto compare = [&](const SplineGradient<float>& g, const char* kernel) {
      ErrorMeter errors;
      for (std::size_t i = 0; i < raw.size(); ++i) errors.add(g.raw[i], expected.raw[i], 1e-3);
      for (std::size_t i = 0; i < kTileRows; ++i) {
        errors.add(g.input[i], expected.input[i],
                   1e-4 * std::max(1.0, std::abs(expected.input[i])));
      }
      EXPECT_LE(errors.worst(), 1) << kernel << ", " << bins << " bins, " << errors;
    };
    compare(RowSpline<float>(bins, raw).backward(x, gy, gl), "rows");
    compare(SharedSpline<float>(bins, raw).backward(x, gy, gl), "shared");
  }
}

}  // namespace
}  // namespace jeffreys::kernels
