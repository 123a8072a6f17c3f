// SiLU with its sums: values against the formula, gradients against finite differences.
#include "kernels/silu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "kernels/aligned_random.h"
#include "kernels/error_meter.h"

namespace jeffreys::kernels {
namespace {

constexpr std::size_t kSiluSize = 3 * kTileRows;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Inputs of one call; what a case does not use stays null in the call.
template <typename T>
struct Operands {
  bool with_gamma;
  bool with_beta;
  bool with_residual;
  T alpha = T(0.75);
  AlignedVector<T> input, gamma, beta, residual;

  // One of the eight choices of optional operands.
  Operands(unsigned choice, Draw& draw)
      : with_gamma((choice & 1) != 0),
        with_beta((choice & 2) != 0),
        with_residual((choice & 4) != 0),
        input(draw.buffer<T>(kSiluSize, -4, 4)),
        gamma(draw.buffer<T>(kSiluSize, -2, 2)),
        beta(draw.buffer<T>(kSiluSize, -2, 2)),
        residual(draw.buffer<T>(kSiluSize, -3, 3)) {}

  SiluArguments<T> arguments(T* output, T* slope) const {
    return {.size = kSiluSize,
            .input = input.data(),
            .gamma = with_gamma ? gamma.data() : nullptr,
            .beta = with_beta ? beta.data() : nullptr,
            .residual = with_residual ? residual.data() : nullptr,
            .alpha = alpha,
            .output = output,
            .slope = slope};
  }

  double pre(std::size_t i) const {
    double value = static_cast<double>(input[i]);
    if (with_gamma) value *= static_cast<double>(gamma[i]);
    if (with_beta) value += static_cast<double>(beta[i]);
    if (with_residual) value += static_cast<double>(alpha) * static_cast<double>(residual[i]);
    return value;
  }

  AlignedVector<T> outputs() const {
    AlignedVector<T> output(kSiluSize);
    silu(arguments(output.data(), nullptr));
    return output;
  }
};

template <typename T>
struct Gradients {
  AlignedVector<T> input, gamma, beta, residual;
  T alpha = T(0.5);  // added to
};

template <typename T>
Gradients<T> backward(const Operands<T>& operands, const AlignedVector<T>& output_gradient) {
  AlignedVector<T> output(kSiluSize);
  AlignedVector<T> slope(kSiluSize);
  silu(operands.arguments(output.data(), slope.data()));
  const AlignedVector<T> nothing(kSiluSize, T(9));
  Gradients<T> g{nothing, nothing, nothing, nothing};
  silu_backward(SiluBackwardArguments<T>{
      .size = kSiluSize,
      .output_gradient = output_gradient.data(),
      .slope = slope.data(),
      .input = operands.with_gamma ? operands.input.data() : nullptr,
      .gamma = operands.with_gamma ? operands.gamma.data() : nullptr,
      .residual = operands.with_residual ? operands.residual.data() : nullptr,
      .alpha = operands.alpha,
      .input_gradient = g.input.data(),
      .gamma_gradient = operands.with_gamma ? g.gamma.data() : nullptr,
      .beta_gradient = operands.with_beta ? g.beta.data() : nullptr,
      .residual_gradient = operands.with_residual ? g.residual.data() : nullptr,
      .alpha_gradient = operands.with_residual ? &g.alpha : nullptr});
  return g;
}

template <typename T>
class SiluTest : public ::testing::Test {};
TYPED_TEST_SUITE(SiluTest, FloatAndDouble, FloatOrDoubleName);

// Magnitudes are at most 4 * 2 + 2 + 3; a handful of roundings each.
template <typename T>
constexpr double kSiluBound = 13 * 8 * static_cast<double>(std::numeric_limits<T>::epsilon());

TYPED_TEST(SiluTest, Values) {
  Draw draw(1);
  for (unsigned choice = 0; choice < 8; ++choice) {
    const Operands<TypeParam> operands(choice, draw);
    AlignedVector<TypeParam> output(kSiluSize);
    AlignedVector<TypeParam> slope(kSiluSize);
    silu(operands.arguments(output.data(), slope.data()));
    ErrorMeter errors;
    for (std::size_t i = 0; i < kSiluSize; ++i) {
      const double pre = operands.pre(i);
      const double s = sigmoid(pre);
      errors.add(output[i], pre * s, kSiluBound<TypeParam>);
      errors.add(slope[i], s + pre * s * (1 - s), kSiluBound<TypeParam>);
    }
    EXPECT_LE(errors.worst(), 1) << "choice " << choice << ", " << errors;
    EXPECT_EQ(operands.outputs(), output) << "the slope is optional";
  }
}

// Far out, SiLU is 0 or the identity and its slope 0 or 1 (to 30 exp(-30) < 1e-10), however large
// the number.
TYPED_TEST(SiluTest, FarOut) {
  const double far[] = {30,  88,  100, 103,   110, 150, 200,  400, 700,
                        720, 800, 1e3, 1.5e3, 1e4, 1e6, 1e10, 1e30};
  AlignedVector<TypeParam> input(kTileRows, TypeParam(0));
  for (std::size_t i = 0; i < std::size(far); ++i) {
    input[2 * i] = static_cast<TypeParam>(far[i]);
    input[2 * i + 1] = static_cast<TypeParam>(-far[i]);
  }
  AlignedVector<TypeParam> output(kTileRows);
  AlignedVector<TypeParam> slope(kTileRows);
  silu(SiluArguments<TypeParam>{
      .size = kTileRows, .input = input.data(), .output = output.data(), .slope = slope.data()});
  for (std::size_t i = 0; i < 2 * std::size(far); ++i) {
    const double x = static_cast<double>(input[i]);
    const double s = sigmoid(x);
    const double bound = 8 * kEpsilon<TypeParam>;
    EXPECT_NEAR(output[i], s > 0 ? x * s : 0, bound * std::max(x, 1.0)) << "at " << x;
    EXPECT_NEAR(slope[i], x < 0 ? 0 : 1, bound + 1e-10) << "at " << x;
  }
}

TYPED_TEST(SiluTest, NanStaysInItsRow) {
  Draw draw(2);
  Operands<TypeParam> operands(7, draw);
  const auto clean = operands.outputs();
  operands.beta[70] = std::numeric_limits<TypeParam>::quiet_NaN();
  const auto output = operands.outputs();
  for (std::size_t i = 0; i < kSiluSize; ++i) {
    if (i == 70) {
      EXPECT_TRUE(std::isnan(output[i]));
    } else {
      ASSERT_EQ(output[i], clean[i]);
    }
  }
}

// What was not asked for stays as it is, and what does not exist has no influence.
TYPED_TEST(SiluTest, WritesOnlyWhatIsAskedFor) {
  Draw draw(3);
  for (unsigned choice = 0; choice < 8; ++choice) {
    const Operands<TypeParam> operands(choice, draw);
    const auto g = backward(operands, draw.buffer<TypeParam>(kSiluSize));
    const AlignedVector<TypeParam> nothing(kSiluSize, TypeParam(9));
    EXPECT_EQ(g.gamma == nothing, !operands.with_gamma);
    EXPECT_EQ(g.beta == nothing, !operands.with_beta);
    EXPECT_EQ(g.residual == nothing, !operands.with_residual);
    EXPECT_EQ(g.alpha == TypeParam(0.5), !operands.with_residual);
    if (!operands.with_gamma && operands.with_beta) {
      EXPECT_EQ(g.input, g.beta);
    }
  }
}

// sum of weights * (difference of outputs) / (2 h), for each element or in all.
AlignedVector<double> differences(Operands<double>& operands, AlignedVector<double>& moved,
                                  const AlignedVector<double>& weights) {
  constexpr double kStep = 1e-5;
  const AlignedVector<double> start = moved;
  for (double& v : moved) v += kStep;
  AlignedVector<double> result = operands.outputs();
  moved = start;
  for (double& v : moved) v -= kStep;
  const AlignedVector<double> below = operands.outputs();
  moved = start;
  for (std::size_t i = 0; i < kSiluSize; ++i) {
    result[i] = weights[i] * (result[i] - below[i]) / (2 * kStep);
  }
  return result;
}

// Central differences with step 1e-5: h^2 f''' / 6 + epsilon |f| / h < 1e-9 here.
TEST(SiluGradientTest, FiniteDifferences) {
  Draw draw(4);
  for (unsigned choice = 0; choice < 8; ++choice) {
    Operands<double> operands(choice, draw);
    const auto weights = draw.buffer<double>(kSiluSize);
    const auto g = backward(operands, weights);
    ErrorMeter errors;
    const auto compare = [&](const AlignedVector<double>& actual, AlignedVector<double>& moved) {
      const auto expected = differences(operands, moved, weights);
      for (std::size_t i = 0; i < kSiluSize; ++i) {
        errors.add(actual[i], expected[i], 1e-6 * std::max(std::abs(expected[i]), 1e-2));
      }
    };
    compare(g.input, operands.input);
    if (operands.with_gamma) compare(g.gamma, operands.gamma);
    if (operands.with_beta) compare(g.beta, operands.beta);
    if (operands.with_residual) {
      compare(g.residual, operands.residual);
      constexpr double kStep = 1e-5;
      double sum = 0.5;
      operands.alpha += kStep;
      const auto above = operands.outputs();
      operands.alpha -= 2 * kStep;
      const auto below = operands.outputs();
      for (std::size_t i = 0; i < kSiluSize; ++i) {
        sum += weights[i] * (above[i] - below[i]) / (2 * kStep);
      }
      errors.add(g.alpha, sum, 1e-6 * std::max(std::abs(sum), 1.0));
    }
    EXPECT_LE(errors.worst(), 1) << "choice " << choice << ", " << errors;
  }
}

TEST(SiluGradientTest, FloatIsNearDouble) {
  Draw draw(5);
  const Operands<float> coarse(7, draw);
  Draw unused(5);
  Operands<double> fine(7, unused);
  fine.input.assign(coarse.input.begin(), coarse.input.end());
  fine.gamma.assign(coarse.gamma.begin(), coarse.gamma.end());
  fine.beta.assign(coarse.beta.begin(), coarse.beta.end());
  fine.residual.assign(coarse.residual.begin(), coarse.residual.end());
  const auto weights = draw.buffer<float>(kSiluSize);
  const auto a = backward(coarse, weights);
  const auto e = backward(fine, AlignedVector<double>(weights.begin(), weights.end()));
  ErrorMeter errors;
  for (std::size_t i = 0; i < kSiluSize; ++i) {
    errors.add(a.input[i], e.input[i], 1e-5);
    errors.add(a.gamma[i], e.gamma[i], 1e-5);
    errors.add(a.beta[i], e.beta[i], 1e-5);
    errors.add(a.residual[i], e.residual[i], 1e-5);
  }
  errors.add(a.alpha, e.alpha, 1e-5 * std::sqrt(static_cast<double>(kSiluSize)));
  EXPECT_LE(errors.worst(), 1) << errors;
}

}  // namespace
}  // namespace jeffreys::kernels
