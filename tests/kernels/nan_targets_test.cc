// A NaN stays NaN on every instruction set. They differ in what the larger of a number and NaN is,
// and in what NaN becomes as an integer.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/aligned_random.h"
#include "kernels/dense.h"
#include "kernels/layer_norm.h"
#include "kernels/piecewise_linear.h"
#include "kernels/silu.h"
#include "kernels/spline.h"
#include "support/only_target.h"

namespace jeffreys::kernels {
namespace {

constexpr std::size_t kNanRow = 5;

template <typename T>
void expect_nan_in_its_row(const char* kernel, const AlignedVector<T>& tile, const char* target) {
  for (std::size_t i = 0; i < tile.size(); ++i) {
    EXPECT_EQ(std::isnan(tile[i]), i % kTileRows == kNanRow)
        << kernel << " on " << target << ", " << i;
  }
}

template <typename T>
void check_nan(const char* target) {
  Draw draw(2);
  auto input = draw.buffer<T>(kTileRows);
  input[kNanRow] = std::numeric_limits<T>::quiet_NaN();
  AlignedVector<T> output(kTileRows), mean(kTileRows), inverse_std(kTileRows), log(kTileRows);
  silu(SiluArguments<T>{.size = kTileRows, .input = input.data(), .output = output.data()});
  expect_nan_in_its_row("silu", output, target);

  const T one[] = {1};
  norm_silu(NormSiluArguments<T>{1, input.data(), one, one, output.data(), nullptr, mean.data(),
                                 inverse_std.data()});
  expect_nan_in_its_row("norm", output, target);

  const DenseBlock block{0, 1, 0, 1, 0};
  for (const bool relu : {false, true}) {
    dense(DenseArguments<T>{.blocks = &block,
                            .block_count = 1,
                            .weights = one,
                            .relu = relu,
                            .input = input.data(),
                            .output = output.data()});
    expect_nan_in_its_row(relu ? "dense with ReLU" : "dense", output, target);
  }

  const AlignedVector<T> table(2 * piece_stride(1), T(1));
  AlignedVector<T> piece(kTileRows), panel(kTileRows * piece_stride(1));
  for (const bool relu : {false, true}) {
    piecewise_forward(PiecewiseForwardArguments<T>{nullptr, 0, table.data(), 1, input.data(), relu,
                                                   output.data(), piece.data(), panel.data()});
    expect_nan_in_its_row(relu ? "piecewise with ReLU" : "piecewise", output, target);
  }

  const auto x = draw.buffer<T>(kTileRows);
  for (const std::size_t nan : {0, 1, 2, 3, 4}) {
    AlignedVector<T> raw(spline_parameters(2) * kTileRows), scratch(4 * kTileRows);
    raw[nan * kTileRows + kNanRow] = std::numeric_limits<T>::quiet_NaN();
    const SplineArguments<T> arguments{2,          raw.data(),    x.data(), output.data(),
                                       log.data(), scratch.data()};
    spline_forward(arguments);
    expect_nan_in_its_row("spline", output, target);
    spline_inverse(arguments);
    expect_nan_in_its_row("spline inverse", output, target);
  }
}

template <typename T>
class NanTargetsTest : public ::testing::Test {};
TYPED_TEST_SUITE(NanTargetsTest, FloatAndDouble, FloatOrDoubleName);

TYPED_TEST(NanTargetsTest, NanStaysInItsRow) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const jeffreys::testing::OnlyTarget only(target);
    check_nan<TypeParam>(hwy::TargetName(target));
  }
}

}  // namespace
}  // namespace jeffreys::kernels
