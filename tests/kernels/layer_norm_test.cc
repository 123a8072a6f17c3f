// LayerNorm with SiLU: values against the formula, gradients against finite differences.
#include "kernels/layer_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/aligned_random.h"
#include "kernels/error_meter.h"

namespace jeffreys::kernels {
namespace {

constexpr std::size_t kWidths[] = {1, 2, 3, 4, 5, 8, 17, 64, 129};

template <typename T>
struct Norm {
  std::size_t width;
  AlignedVector<T> input, weight, bias;
  AlignedVector<T> output, slope, mean, inverse_std;

  Norm(std::size_t w, Draw& draw)
      : width(w),
        input(draw.buffer<T>(w * kTileRows, -3, 3)),
        weight(draw.buffer<T>(w, -2, 2)),
        bias(draw.buffer<T>(w)),
        output(w * kTileRows),
        slope(w * kTileRows),
        mean(kTileRows),
        inverse_std(kTileRows) {}

  template <typename U>
  explicit Norm(const Norm<U>& other)
      : width(other.width),
        input(other.input.begin(), other.input.end()),
        weight(other.weight.begin(), other.weight.end()),
        bias(other.bias.begin(), other.bias.end()),
        output(other.output.size()),
        slope(other.slope.size()),
        mean(kTileRows),
        inverse_std(kTileRows) {}

  void forward(bool with_slope = true) {
    norm_silu(NormSiluArguments<T>{.width = width,
                                   .input = input.data(),
                                   .weight = weight.data(),
                                   .bias = bias.data(),
                                   .output = output.data(),
                                   .slope = with_slope ? slope.data() : nullptr,
                                   .mean = mean.data(),
                                   .inverse_std = inverse_std.data()});
  }
};

template <typename T>
struct NormGradients {
  AlignedVector<T> input, weight, bias;
};

// Adds to `start` where the kernel adds, and writes over it where it does not.
template <typename T>
NormGradients<T> backward(const Norm<T>& norm, AlignedVector<T> output_gradient,
                          NormGradients<T> start, bool accumulate, bool parameters) {
  norm_silu_backward(
      NormSiluBackwardArguments<T>{.width = norm.width,
                                   .input = norm.input.data(),
                                   .weight = norm.weight.data(),
                                   .slope = norm.slope.data(),
                                   .mean = norm.mean.data(),
                                   .inverse_std = norm.inverse_std.data(),
                                   .output_gradient = output_gradient.data(),
                                   .input_gradient = start.input.data(),
                                   .accumulate = accumulate,
                                   .weight_gradient = parameters ? start.weight.data() : nullptr,
                                   .bias_gradient = parameters ? start.bias.data() : nullptr});
  return start;
}

template <typename T>
NormGradients<T> random_gradients(std::size_t width, Draw& draw) {
  return {draw.buffer<T>(width * kTileRows), draw.buffer<T>(width), draw.buffer<T>(width)};
}

template <typename T>
NormGradients<T> zero_gradients(std::size_t width) {
  return {AlignedVector<T>(width * kTileRows), AlignedVector<T>(width), AlignedVector<T>(width)};
}

// Compares with the formula. The bounds count roundings relative to the input's magnitude over the
// standard deviation: that is how subtracting the mean magnifies them.
template <typename T>
void expect_values(const Norm<T>& norm) {
  ErrorMeter errors;
  const auto width = static_cast<double>(norm.width);
  for (std::size_t r = 0; r < kTileRows; ++r) {
    double mean = 0;
    double magnitude = 0;
    for (std::size_t w = 0; w < norm.width; ++w) {
      const auto x = static_cast<double>(norm.input[w * kTileRows + r]);
      mean += x / width;
      magnitude = std::max(magnitude, std::abs(x));
    }
    double variance = 0;
    for (std::size_t w = 0; w < norm.width; ++w) {
      const double x = static_cast<double>(norm.input[w * kTileRows + r]) - mean;
      variance += x * x / width;
    }
    const double inverse_std = 1 / std::sqrt(variance + 1e-5);
    const double roundings = (width + 10) * kEpsilon<T>;
    errors.add(norm.mean[r], mean, roundings * magnitude);
    const double relative = roundings * (1 + magnitude * inverse_std);
    errors.add(norm.inverse_std[r], inverse_std, relative * inverse_std);
    for (std::size_t w = 0; w < norm.width; ++w) {
      const std::size_t i = w * kTileRows + r;
      const double normal = (static_cast<double>(norm.input[i]) - mean) * inverse_std;
      const double pre = normal * static_cast<double>(norm.weight[w]) + norm.bias[w];
      const double s = 1 / (1 + std::exp(-pre));
      const double bound = relative * (2 + std::abs(normal) * 2);
      errors.add(norm.output[i], pre * s, bound);
      errors.add(norm.slope[i], s + pre * s * (1 - s), bound);
    }
  }
  EXPECT_LE(errors.worst(), 1) << "width " << norm.width << ", " << errors;
}

template <typename T>
class LayerNormTest : public ::testing::Test {};
TYPED_TEST_SUITE(LayerNormTest, FloatAndDouble, FloatOrDoubleName);

TYPED_TEST(LayerNormTest, Values) {
  Draw draw(1);
  for (const std::size_t width : kWidths) {
    Norm<TypeParam> norm(width, draw);
    norm.forward();
    expect_values(norm);
    const AlignedVector<TypeParam> output = norm.output;
    norm.slope.assign(norm.slope.size(), TypeParam(9));
    norm.forward(false);
    EXPECT_EQ(norm.output, output) << "the slope is optional";
    EXPECT_EQ(norm.slope, AlignedVector<TypeParam>(norm.slope.size(), TypeParam(9)));
  }
}

// The mean of the squares minus the square of the mean would lose the variance here: 1e6 against 3
// in float has no digits left.
TYPED_TEST(LayerNormTest, LargeMeanKeepsTheVariance) {
  Draw draw(2);
  for (const std::size_t width : kWidths) {
    Norm<TypeParam> norm(width, draw);
    for (TypeParam& x : norm.input) x += TypeParam(1000);
    norm.forward();
    expect_values(norm);
  }
}

// A width of 1 has no variance: the bias alone remains, and no gradient reaches the input.
TYPED_TEST(LayerNormTest, WidthOneGivesTheBias) {
  Draw draw(3);
  Norm<TypeParam> norm(1, draw);
  norm.forward();
  const auto g = backward(norm, draw.buffer<TypeParam>(kTileRows),
                          random_gradients<TypeParam>(1, draw), false, true);
  const auto b = static_cast<double>(norm.bias[0]);
  for (std::size_t r = 0; r < kTileRows; ++r) {
    EXPECT_NEAR(norm.output[r], b / (1 + std::exp(-b)), 4 * kEpsilon<TypeParam>);
    EXPECT_EQ(g.input[r], TypeParam(0));
  }
}

TYPED_TEST(LayerNormTest, NanStaysInItsRow) {
  Draw draw(4);
  constexpr std::size_t kLane = 21;
  for (const std::size_t width : {1, 4, 17}) {
    Norm<TypeParam> norm(width, draw);
    norm.forward();
    const auto gradient = draw.buffer<TypeParam>(width * kTileRows);
    const auto clean = norm.output;
    const auto clean_gradient =
        backward(norm, gradient, zero_gradients<TypeParam>(width), false, false);
    norm.input[(width - 1) * kTileRows + kLane] = std::numeric_limits<TypeParam>::quiet_NaN();
    norm.forward();
    const auto g = backward(norm, gradient, zero_gradients<TypeParam>(width), false, false);
    for (std::size_t i = 0; i < clean.size(); ++i) {
      if (i % kTileRows == kLane) {
        EXPECT_TRUE(std::isnan(norm.output[i]));
        EXPECT_TRUE(std::isnan(g.input[i]));
      } else {
        ASSERT_EQ(norm.output[i], clean[i]);
        ASSERT_EQ(g.input[i], clean_gradient.input[i]);
      }
    }
  }
}

// Weight and bias gradients always add; the input's only if asked to; without parameter gradients
// the input's is the same.
TYPED_TEST(LayerNormTest, AddsOrWrites) {
  Draw draw(5);
  for (const std::size_t width : kWidths) {
    Norm<TypeParam> norm(width, draw);
    norm.forward();
    const auto gradient = draw.buffer<TypeParam>(width * kTileRows);
    const auto zero = zero_gradients<TypeParam>(width);
    const auto start = random_gradients<TypeParam>(width, draw);
    const auto written = backward(norm, gradient, start, false, true);
    const auto added = backward(norm, gradient, start, true, true);
    const auto alone = backward(norm, gradient, zero, false, true);
    const auto input_only = backward(norm, gradient, start, false, false);
    EXPECT_EQ(written.input, alone.input);
    EXPECT_EQ(input_only.input, alone.input);
    EXPECT_EQ(input_only.weight, start.weight);
    EXPECT_EQ(input_only.bias, start.bias);
    for (std::size_t i = 0; i < added.input.size(); ++i) {
      ASSERT_EQ(added.input[i], alone.input[i] + start.input[i]);
    }
    for (std::size_t w = 0; w < width; ++w) {
      ASSERT_EQ(added.weight[w], start.weight[w] + alone.weight[w]);
      ASSERT_EQ(added.bias[w], start.bias[w] + alone.bias[w]);
    }
  }
}

constexpr double kStep = 1e-5;

// The outputs' change when `moved` (some elements of the norm's input or parameters) moves by a
// step to both sides, over twice the step.
template <typename Move>
AlignedVector<double> differences(Norm<double> norm, const Move& move) {
  Norm<double> below = norm;
  move(norm, kStep);
  move(below, -kStep);
  norm.forward(false);
  below.forward(false);
  for (std::size_t i = 0; i < norm.output.size(); ++i) {
    norm.output[i] = (norm.output[i] - below.output[i]) / (2 * kStep);
  }
  return norm.output;
}

// Errors are measured by the largest gradient of the same kind: the normalisation makes most of a
// gradient cancel, at width 2 all but 1e-5 of it.
TEST(LayerNormGradientTest, FiniteDifferences) {
  Draw draw(6);
  for (const std::size_t width : {1, 2, 3, 4, 5, 8, 17}) {
    Norm<double> norm(width, draw);
    norm.forward();
    const auto weights = draw.buffer<double>(width * kTileRows);
    const auto g = backward(norm, weights, zero_gradients<double>(width), false, true);
    ErrorMeter errors;
    for (std::size_t w = 0; w < width; ++w) {
      // A row's outputs depend on this row's inputs only, so all rows move at once.
      const auto change = differences(norm, [w](Norm<double>& n, double step) {
        for (std::size_t r = 0; r < kTileRows; ++r) n.input[w * kTileRows + r] += step;
      });
      for (std::size_t r = 0; r < kTileRows; ++r) {
        double expected = 0;
        double scale = 1e-3;
        for (std::size_t i = r; i < change.size(); i += kTileRows) {
          expected += weights[i] * change[i];
          scale = std::max(scale, std::abs(g.input[i]));
        }
        errors.add(g.input[w * kTileRows + r], expected, 1e-6 * scale);
      }
      const auto total = [&](const AlignedVector<double>& moved) {
        double sum = 0;
        for (std::size_t i = 0; i < moved.size(); ++i) sum += weights[i] * moved[i];
        return sum;
      };
      const double by_weight =
          total(differences(norm, [w](Norm<double>& n, double step) { n.weight[w] += step; }));
      const double by_bias =
          total(differences(norm, [w](Norm<double>& n, double step) { n.bias[w] += step; }));
      errors.add(g.weight[w], by_weight, 1e-6 * std::max(1.0, std::abs(by_weight)));
      errors.add(g.bias[w], by_bias, 1e-6 * std::max(1.0, std::abs(by_bias)));
    }
    EXPECT_LE(errors.worst(), 1) << "width " << width << ", " << errors;
  }
}

TEST(LayerNormGradientTest, FloatIsNearDouble) {
  Draw draw(7);
  for (const std::size_t width : kWidths) {
    Norm<float> coarse(width, draw);
    Norm<double> fine(coarse);
    coarse.forward();
    fine.forward();
    const auto weights = draw.buffer<float>(width * kTileRows);
    const auto a = backward(coarse, weights, zero_gradients<float>(width), false, true);
    const auto e = backward(fine, AlignedVector<double>(weights.begin(), weights.end()),
                            zero_gradients<double>(width), false, true);
    ErrorMeter errors;
    for (std::size_t i = 0; i < e.input.size(); ++i) {
      // Two or three features may lie close together: their inverse standard deviation magnifies
      // rounding once in the normalisation and once in its gradient.
      const double inverse_std = std::max(1.0, fine.inverse_std[i % kTileRows]);
      errors.add(a.input[i], e.input[i], 1e-5 * inverse_std * inverse_std);
    }
    const double scale = *std::max_element(fine.inverse_std.begin(), fine.inverse_std.end());
    for (std::size_t w = 0; w < width; ++w) {
      errors.add(a.weight[w], e.weight[w], 1e-4 * std::max(1.0, scale));
      errors.add(a.bias[w], e.bias[w], 1e-4 * std::max(1.0, scale));
    }
    EXPECT_LE(errors.worst(), 1) << "width " << width << ", " << errors;
  }
}

}  // namespace
}  // namespace jeffreys::kernels
