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

// A value inside of a random bin, away from the knots by more than any step, with random gradients
// of the value and of the log determinant.
struct Point {
  double x, gy, gl, step;
};

Point random_point(const ExactSpline& spline, Draw& draw) {
  const auto& x = spline.x_knots();
  const auto& y = spline.y_knots();
  const std::size_t k = draw.integer(0, x.size() - 2);
  const auto width = static_cast<double>(x[k + 1] - x[k]);
  const auto height = static_cast<double>(y[k + 1] - y[k]);
  // Both knots move by at most 10 steps of a parameter: here, by less than 1e-3 of the bin.
  const double step = 1e-4 * std::min({1.0, width, height});
  return {static_cast<double>(x[k]) + width * draw.uniform(0.05, 0.95), draw.uniform(),
          draw.uniform(), step};
}

// Central difference of f at 0. In narrow or low bins third derivatives are so large that a second
// difference, with half the step, has to take the first one's error away; what remains is of the
// order of (step / bin)^4. The rounding errors of long double, about 1e-17 / step, stay far below
// the bound.
template <typename Function>
double derivative(const Function& f, long double step) {
  const auto difference = [&](long double h) { return (f(h) - f(-h)) / (2 * h); };
  return static_cast<double>((4 * difference(step / 2) - difference(step)) / 3);
}

struct Differences {
  std::vector<double> raw;
  double input;
};

// Derivatives of gy y + gl log dy/dx.
Differences finite_differences(std::size_t bins, const std::vector<double>& raw, const Point& p) {
  const auto objective = [&](const std::vector<long double>& parameters, long double x) {
    const ExactSpline spline(bins, parameters);
    return p.gy * spline.value(x) + p.gl * spline.log_determinant(x);
  };
  Differences d;
  std::vector<long double> parameters(raw.begin(), raw.end());
  for (long double& parameter : parameters) {
    const long double start = parameter;
    const auto moved = [&](long double by) {
      parameter = start + by;
      return objective(parameters, p.x);
    };
    d.raw.push_back(derivative(moved, p.step));
    parameter = start;
  }
  d.input = derivative([&](long double by) { return objective(parameters, p.x + by); }, p.step);
  return d;
}

template <typename Kernel>
class SplineBackwardTest : public ::testing::Test {};
TYPED_TEST_SUITE(SplineBackwardTest, DoubleSplineKernels, SplineKernelName);

// Every number by itself is right to 1e-6 of itself, or of 1e-2 where terms cancel.
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
        const auto bound = [](double value) { return 1e-6 * std::max(std::abs(value), 1e-2); };
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
      errors.add(g.input[i], inputs[i], 1e-6 * std::max(1e-2, std::abs(inputs[i])));
    }
    EXPECT_LE(errors.worst(), 1) << bins << " bins, " << errors;
  }
}

template <typename Kernel>
class SplineGradientTest : public ::testing::Test {};
TYPED_TEST_SUITE(SplineGradientTest, SplineKernels, SplineKernelName);

// Outside, y = x whatever the parameters.
TYPED_TEST(SplineGradientTest, ParametersHaveNoInfluenceOnTails) {
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

// dy/dx is exp(log dy/dx), also at knots, where t rounds to a little more than 1, and with the
// tiniest bins. Both pass through the same few operations; exp of a logarithm l has a relative
// error of l epsilon.
TYPED_TEST(SplineGradientTest, InputGradientIsTheJacobian) {
  using T = typename TypeParam::Value;
  Draw draw(4);
  for (const std::size_t bins : kBinCounts) {
    ErrorMeter errors;
    for (int repeat = 0; repeat < 10; ++repeat) {
      const auto raw = extreme_parameters<T>(bins, 50, draw);
      const ExactSpline exact(bins, raw);
      std::vector<T> x;
      for (int i = 0; i < 200; ++i) x.push_back(static_cast<T>(draw.uniform(-6, 6)));
      for (const long double knot : exact.x_knots()) {
        const auto centre = static_cast<T>(knot);
        T above = centre;
        T below = centre;
        x.push_back(centre);
        for (int i = 0; i < 8; ++i) {
          x.push_back(above = std::nextafter(above, T(9)));
          x.push_back(below = std::nextafter(below, T(-9)));
        }
      }
      TypeParam spline(bins, raw);
      const auto moved = spline.forward(x);
      const auto g = spline.backward(x, std::vector<T>(x.size(), T(1)), std::vector<T>(x.size()));
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double slope = std::exp(static_cast<double>(moved.log_determinant[i]));
        errors.add(g.input[i], slope, 100 * kEpsilon<T> * slope);
      }
    }
    EXPECT_LE(errors.worst(), 1) << bins << " bins, " << errors;
  }
}

// Float against double on parameters that both hold: sums of 64 numbers below 100.
TEST(SplineGradientPrecisionTest, FloatIsNearDouble) {
  Draw draw(5);
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
