// Every instruction set that this machine has gives the same numbers, up to the order of additions
// and to fused multiply-adds: within 1e-5 (float) or 1e-12 (double) of a result's largest
// magnitude.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/targets_test.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace jeffreys::kernels::HWY_NAMESPACE {
namespace {

std::int64_t target_in_use() { return HWY_TARGET; }

}  // namespace
}  // namespace jeffreys::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/adamw.h"
#include "kernels/aligned_random.h"
#include "kernels/dense.h"
#include "kernels/layer_norm.h"
#include "kernels/matvec.h"
#include "kernels/piecewise_linear.h"
#include "kernels/random.h"
#include "kernels/reductions.h"
#include "kernels/silu.h"
#include "kernels/spline_kernels.h"
#include "kernels/weight_gradient.h"
#include "support/only_target.h"

namespace jeffreys::kernels {
namespace {

HWY_EXPORT(target_in_use);

struct Result {
  std::string kernel;
  std::vector<double> numbers;
  double scale;  // of the terms that the numbers are sums of, where these may cancel; else 0
};

template <typename T>
class Results {
 public:
  template <typename Numbers>
  void add(const std::string& kernel, const Numbers& numbers, double scale = 0) {
    results_.push_back({kernel, std::vector<double>(numbers.begin(), numbers.end()), scale});
  }
  std::vector<Result> take() { return std::move(results_); }

 private:
  std::vector<Result> results_;
};

template <typename T>
void run_products(Draw& draw, Results<T>& results) {
  constexpr std::size_t kInputs = 130;
  std::vector<DenseBlock> blocks;
  std::vector<GradientBlock> gradient_blocks;
  std::uint32_t row = 0;
  std::size_t offset = 0;
  for (std::uint32_t rows = 1; rows <= kMaxBlockRows; ++rows) {
    const std::uint32_t end = 20 * rows + 10;
    blocks.push_back({row, rows, rows, end, offset});
    gradient_blocks.push_back({row, rows, end});
    offset += rows * (end - rows);
    row += rows;
  }
  const auto weights = draw.buffer<T>(offset);
  const auto bias = draw.buffer<T>(row);
  const auto input = draw.buffer<T>(kInputs * kTileRows);
  AlignedVector<T> output(row * kTileRows);
  dense(DenseArguments<T>{.blocks = blocks.data(),
                          .block_count = blocks.size(),
                          .weights = weights.data(),
                          .bias = bias.data(),
                          .input = input.data(),
                          .output = output.data()});
  results.add("dense", output);

  constexpr std::size_t kStride = gradient_stride(kInputs);
  AlignedVector<T> gradient(row * kStride);
  AlignedVector<T> bias_gradient(row);
  AlignedVector<T> scratch(kTileRows * kStride);
  weight_gradient(WeightGradientArguments<T>{.blocks = gradient_blocks.data(),
                                             .block_count = gradient_blocks.size(),
                                             .output_gradient = output.data(),
                                             .input = input.data(),
                                             .weight_gradient = gradient.data(),
                                             .bias_gradient = bias_gradient.data(),
                                             .columns = kInputs,
                                             .scratch = scratch.data()});
  std::vector<T> wanted;
  for (const GradientBlock& block : gradient_blocks) {
    for (std::size_t i = 0; i < block.rows * block.columns; ++i) {
      wanted.push_back(gradient[(block.row + i / block.columns) * kStride + i % block.columns]);
    }
  }
  results.add("weight gradient", wanted);
  results.add("bias gradient", bias_gradient);

  constexpr std::size_t kRows = 37;
  const auto vector = draw.buffer<T>(kInputs);
  std::vector<T> product(kRows);
  matvec(MatVecArguments<T>{input.data(), kRows, kInputs, vector.data(), product.data()});
  results.add("matvec", product);
  std::vector<T> transposed(kInputs);
  matvec_transposed(
      MatVecArguments<T>{input.data(), kRows, kInputs, product.data(), transposed.data()});
  results.add("matvec transposed", transposed);
}

template <typename Kernel, typename T = typename Kernel::Value>
void run_spline(const std::string& name, Draw& draw, Results<T>& results) {
  for (const std::size_t bins : kBinCounts) {
    Kernel spline(bins, random_parameters<T>(bins, 1, draw));
    std::vector<T> x, gy, gl;
    for (std::size_t i = 0; i < 2 * kTileRows; ++i) {
      x.push_back(static_cast<T>(draw.uniform(-5.5, 5.5)));
      gy.push_back(static_cast<T>(draw.uniform()));
      gl.push_back(static_cast<T>(draw.uniform()));
    }
    const auto forward = spline.forward(x);
    const auto inverse = spline.inverse(x);
    const auto gradient = spline.backward(x, gy, gl);
    results.add(name + " forward", forward.value);
    // Logarithms of a product of order 1: of an identity, nothing but roundings is left.
    results.add(name + " log determinant", forward.log_determinant, 1);
    results.add(name + " inverse", inverse.value);
    results.add(name + " inverse log determinant", inverse.log_determinant, 1);
    results.add(name + " parameter gradient", gradient.raw);
    results.add(name + " input gradient", gradient.input);
  }
}

template <typename T>
void run_activations(Draw& draw, Results<T>& results) {
  constexpr std::size_t kWidth = 17;
  constexpr std::size_t kSize = kWidth * kTileRows;
  const auto input = draw.buffer<T>(kSize, -3, 3);
  const auto weight = draw.buffer<T>(kWidth);
  const auto bias = draw.buffer<T>(kWidth);
  AlignedVector<T> output(kSize), slope(kSize), mean(kTileRows), inverse_std(kTileRows);
  norm_silu(NormSiluArguments<T>{kWidth, input.data(), weight.data(), bias.data(), output.data(),
                                 slope.data(), mean.data(), inverse_std.data()});
  results.add("norm", output);
  AlignedVector<T> output_gradient = draw.buffer<T>(kSize);
  AlignedVector<T> input_gradient(kSize), weight_gradients(kWidth), bias_gradients(kWidth);
  norm_silu_backward(NormSiluBackwardArguments<T>{
      kWidth, input.data(), weight.data(), slope.data(), mean.data(), inverse_std.data(),
      output_gradient.data(), input_gradient.data(), false, weight_gradients.data(),
      bias_gradients.data()});
  results.add("norm input gradient", input_gradient);
  results.add("norm weight gradient", weight_gradients);
  results.add("norm bias gradient", bias_gradients);

  silu(SiluArguments<T>{.size = kSize,
                        .input = input.data(),
                        .gamma = input_gradient.data(),
                        .beta = output.data(),
                        .residual = output_gradient.data(),
                        .alpha = T(0.5),
                        .output = slope.data()});
  results.add("silu", slope);

  AlignedVector<T> far = draw.buffer<T>(kTileRows, -1e4, 1e4);
  silu(SiluArguments<T>{.size = kTileRows, .input = far.data(), .output = slope.data()});
  results.add("silu far out", slope);
}

template <typename T>
void run_piecewise(Draw& draw, Results<T>& results) {
  constexpr std::size_t kOutputs = 21;
  constexpr std::size_t kStride = piece_stride(kOutputs);
  const AlignedVector<T> knots = {T(-1.5), T(-0.25), T(0.5), T(2)};
  const auto table = draw.buffer<T>((knots.size() + 1) * 2 * kStride);
  const auto input = draw.buffer<T>(kTileRows, -3, 3);
  AlignedVector<T> output(kOutputs * kTileRows), piece(kTileRows), scratch(kStride * kTileRows);
  piecewise_forward(PiecewiseForwardArguments<T>{knots.data(), knots.size(), table.data(), kOutputs,
                                                 input.data(), true, output.data(), piece.data(),
                                                 scratch.data()});
  results.add("piecewise", output);
  AlignedVector<T> input_gradient(kTileRows), sums(table.size());
  piecewise_backward(PiecewiseBackwardArguments<T>{
      table.data(), kOutputs, input.data(), piece.data(), output.data(), input_gradient.data(),
      sums.data(), scratch.data()});
  results.add("piecewise input gradient", input_gradient);
  results.add("piecewise sums", sums);
}

template <typename T>
void run_flat(Draw& draw, Results<T>& results) {
  constexpr std::size_t kSize = 1501;
  auto parameters = draw.buffer<T>(kSize);
  const auto gradient = draw.buffer<T>(kSize);
  AlignedVector<T> first(kSize), second(kSize);
  for (std::size_t step = 1; step <= 3; ++step) {
    adamw(AdamWArguments<T>{.size = kSize,
                            .parameters = parameters.data(),
                            .gradient = gradient.data(),
                            .first_moment = first.data(),
                            .second_moment = second.data(),
                            .learning_rate = 1e-2,
                            .beta1 = 0.9,
                            .weight_decay = 1e-2,
                            .step = step});
  }
  results.add("adamw", parameters);
  results.add("log sum exp", std::vector<double>{log_sum_exp(gradient.data(), kSize)});
  results.add("squared norm", std::vector<double>{squared_norm(gradient.data(), kSize)});
  add(first.data(), gradient.data(), kSize);
  results.add("add", first);
  std::vector<T> normals(kSize * 3);
  fill_normals(RandomArguments<T>{{1, 2, 3}, 0, kSize, 3, normals.data()});
  results.add("normals", normals);
}

template <typename T>
std::vector<Result> run_kernels() {
  Draw draw(1);
  Results<T> results;
  run_products(draw, results);
  run_spline<RowSpline<T>>("spline", draw, results);
  run_spline<SharedSpline<T>>("shared spline", draw, results);
  run_activations(draw, results);
  run_piecewise(draw, results);
  run_flat(draw, results);
  return results.take();
}

double largest_magnitude(const std::vector<double>& numbers) {
  double largest = 0;
  for (const double v : numbers) largest = std::max(largest, std::abs(v));
  return largest;
}

template <typename T>
class TargetsTest : public ::testing::Test {};
TYPED_TEST_SUITE(TargetsTest, FloatAndDouble, FloatOrDoubleName);

TYPED_TEST(TargetsTest, AllGiveTheSameNumbers) {
  const double tolerance = std::is_same_v<TypeParam, float> ? 1e-5 : 1e-12;
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
#if HWY_ARCH_X86
  ASSERT_GE(targets.size(), 2U);
#endif
  // The first is the best.
  std::vector<Result> expected;
  for (const std::int64_t target : targets) {
    const jeffreys::testing::OnlyTarget only(target);
    ASSERT_EQ(HWY_DYNAMIC_DISPATCH(target_in_use)(), target) << hwy::TargetName(target);
    std::cout << hwy::TargetName(target) << '\n';
    const std::vector<Result> actual = run_kernels<TypeParam>();
    if (expected.empty()) expected = actual;
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t k = 0; k < actual.size(); ++k) {
      ASSERT_EQ(actual[k].numbers.size(), expected[k].numbers.size());
      const double bound =
          tolerance * std::max(expected[k].scale, largest_magnitude(expected[k].numbers));
      for (std::size_t i = 0; i < actual[k].numbers.size(); ++i) {
        ASSERT_NEAR(actual[k].numbers[i], expected[k].numbers[i], bound)
            << actual[k].kernel << " on " << hwy::TargetName(target) << ", number " << i;
      }
    }
  }
  EXPECT_EQ(hwy::SupportedAndGeneratedTargets(), targets) << "not restored";
}

}  // namespace
}  // namespace jeffreys::kernels

#endif  // HWY_ONCE
