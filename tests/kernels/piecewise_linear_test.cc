// Piecewise linear functions against their definition.
#include "kernels/piecewise_linear.h"

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

template <typename T>
struct Pieces {
  std::size_t outputs;
  AlignedVector<T> knots, table, input, output, piece, scratch;

  // Inputs lie between and beyond the knots, and on each of them.
  Pieces(std::size_t output_count, std::size_t knot_count, Draw& draw)
      : outputs(output_count),
        knots(draw.buffer<T>(knot_count, -2, 2)),
        table(draw.buffer<T>((knot_count + 1) * 2 * stride())),
        input(draw.buffer<T>(kTileRows, -2.5, 2.5)),
        output(output_count * kTileRows),
        piece(kTileRows),
        scratch(kTileRows * stride()) {
    std::sort(knots.begin(), knots.end());
    for (std::size_t k = 0; k < knot_count && k < kTileRows / 2; ++k) input[2 * k] = knots[k];
  }

  std::size_t stride() const { return piece_stride(outputs); }

  std::size_t knots_below(T u) const {
    std::size_t count = 0;
    for (const T knot : knots) count += knot < u ? 1 : 0;
    return count;
  }

  // Where the table holds row r's slope for output o; the offset is stride() behind it.
  std::size_t slope_at(std::size_t r, std::size_t o) const {
    return knots_below(input[r]) * 2 * stride() + o;
  }

  void forward(bool relu) {
    piecewise_forward(PiecewiseForwardArguments<T>{.knots = knots.data(),
                                                   .knot_count = knots.size(),
                                                   .table = table.data(),
                                                   .outputs = outputs,
                                                   .input = input.data(),
                                                   .relu = relu,
                                                   .output = output.data(),
                                                   .piece = piece.data(),
                                                   .scratch = scratch.data()});
  }

  AlignedVector<T> backward(const AlignedVector<T>& output_gradient, T* sums) {
    AlignedVector<T> input_gradient(kTileRows);
    piecewise_backward(PiecewiseBackwardArguments<T>{.table = table.data(),
                                                     .outputs = outputs,
                                                     .input = input.data(),
                                                     .piece = piece.data(),
                                                     .output_gradient = output_gradient.data(),
                                                     .input_gradient = input_gradient.data(),
                                                     .sums = sums,
                                                     .scratch = scratch.data()});
    return input_gradient;
  }
};

constexpr std::size_t kOutputs[] = {1, 2, 3, 15, 16, 17, 64, 101};
constexpr std::size_t kKnots[] = {0, 1, 7, 64};

template <typename T>
class PiecewiseLinearTest : public ::testing::Test {};
TYPED_TEST_SUITE(PiecewiseLinearTest, FloatAndDouble, FloatOrDoubleName);

TYPED_TEST(PiecewiseLinearTest, Values) {
  Draw draw(1);
  for (const std::size_t outputs : kOutputs) {
    for (const std::size_t knots : kKnots) {
      Pieces<TypeParam> pieces(outputs, knots, draw);
      for (const bool relu : {false, true}) {
        pieces.forward(relu);
        ErrorMeter errors;
        for (std::size_t r = 0; r < kTileRows; ++r) {
          ASSERT_EQ(pieces.piece[r], static_cast<TypeParam>(pieces.knots_below(pieces.input[r])));
          for (std::size_t o = 0; o < outputs; ++o) {
            const double slope = pieces.table[pieces.slope_at(r, o)];
            const double offset = pieces.table[pieces.slope_at(r, o) + pieces.stride()];
            const double u = pieces.input[r];
            const double y = slope * u + offset;
            errors.add(pieces.output[o * kTileRows + r], relu ? std::max(y, 0.0) : y,
                       2 * kEpsilon<TypeParam> * (std::abs(slope * u) + std::abs(offset)));
          }
        }
        EXPECT_LE(errors.worst(), 1) << outputs << " outputs, " << knots << " knots, " << errors;
      }
    }
  }
}

// Sums of n products round by less than (n + 2) epsilon of the sum of the magnitudes.
TYPED_TEST(PiecewiseLinearTest, InputGradient) {
  Draw draw(2);
  for (const std::size_t outputs : kOutputs) {
    for (const std::size_t knots : kKnots) {
      Pieces<TypeParam> pieces(outputs, knots, draw);
      pieces.forward(false);
      const auto gradient = draw.buffer<TypeParam>(outputs * kTileRows);
      const auto actual = pieces.backward(gradient, nullptr);
      ErrorMeter errors;
      for (std::size_t r = 0; r < kTileRows; ++r) {
        double sum = 0;
        double magnitude = 0;
        for (std::size_t o = 0; o < outputs; ++o) {
          const double product = static_cast<double>(pieces.table[pieces.slope_at(r, o)]) *
                                 static_cast<double>(gradient[o * kTileRows + r]);
          sum += product;
          magnitude += std::abs(product);
        }
        errors.add(actual[r], sum,
                   static_cast<double>(outputs + 2) * kEpsilon<TypeParam> * magnitude);
      }
      EXPECT_LE(errors.worst(), 1) << outputs << " outputs, " << knots << " knots, " << errors;
      AlignedVector<TypeParam> sums(pieces.table.size());
      EXPECT_EQ(pieces.backward(gradient, sums.data()), actual) << "the sums are optional";
    }
  }
}

TYPED_TEST(PiecewiseLinearTest, SumsOverTheRowsOfAPiece) {
  Draw draw(3);
  for (const std::size_t outputs : kOutputs) {
    for (const std::size_t knots : kKnots) {
      Pieces<TypeParam> pieces(outputs, knots, draw);
      pieces.forward(false);
      const auto gradient = draw.buffer<TypeParam>(outputs * kTileRows);
      const auto before = draw.buffer<TypeParam>(pieces.table.size());
      std::vector<double> expected(before.begin(), before.end());
      std::vector<double> magnitude(before.size());
      for (std::size_t i = 0; i < before.size(); ++i) magnitude[i] = std::abs(expected[i]);
      for (std::size_t r = 0; r < kTileRows; ++r) {
        for (std::size_t o = 0; o < outputs; ++o) {
          const double g = gradient[o * kTileRows + r];
          const double gu = g * static_cast<double>(pieces.input[r]);
          const std::size_t at = pieces.slope_at(r, o);
          expected[at] += gu;
          magnitude[at] += std::abs(gu);
          expected[at + pieces.stride()] += g;
          magnitude[at + pieces.stride()] += std::abs(g);
        }
      }
      auto sums = before;
      pieces.backward(gradient, sums.data());
      ErrorMeter errors;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        errors.add(sums[i], expected[i], (kTileRows + 2) * kEpsilon<TypeParam> * magnitude[i]);
      }
      EXPECT_LE(errors.worst(), 1) << outputs << " outputs, " << knots << " knots, " << errors;
    }
  }
}

TYPED_TEST(PiecewiseLinearTest, NanStaysInItsRow) {
  constexpr std::size_t kLane = 33;
  Draw draw(4);
  for (const bool relu : {false, true}) {
    Pieces<TypeParam> pieces(17, 7, draw);
    pieces.forward(relu);
    const auto clean = pieces.output;
    pieces.input[kLane] = std::numeric_limits<TypeParam>::quiet_NaN();
    pieces.forward(relu);
    for (std::size_t i = 0; i < clean.size(); ++i) {
      if (i % kTileRows == kLane) {
        EXPECT_TRUE(std::isnan(pieces.output[i])) << "relu " << relu;
      } else {
        ASSERT_EQ(pieces.output[i], clean[i]);
      }
    }
  }
}

}  // namespace
}  // namespace jeffreys::kernels
