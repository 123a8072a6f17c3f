// The weight gradient of a tile product against a plain sum over rows.
#include "kernels/weight_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/aligned_random.h"
#include "kernels/dense.h"
#include "kernels/error_meter.h"

namespace jeffreys::kernels {
namespace {

// Blocks with everything that they need. Gradients start from random numbers, scratch from NaN, and
// what lies between the tiles is NaN.
template <typename T>
struct Sums {
  std::size_t columns;
  std::size_t tiles;
  bool with_bias = true;
  std::size_t rows = 0;
  std::vector<GradientBlock> blocks;
  AlignedVector<T> output_gradient, input, before, bias_before, weights, bias;

  Sums(std::size_t column_count, std::size_t tile_count)
      : columns(column_count), tiles(tile_count) {}

  std::size_t stride() const { return gradient_stride(columns); }
  std::size_t output_stride() const { return (rows + 1) * kTileRows; }
  std::size_t input_stride() const { return (columns + 1) * kTileRows; }

  void add_block(std::size_t block_rows, std::size_t block_columns) {
    blocks.push_back({.row = static_cast<std::uint32_t>(rows),
                      .rows = static_cast<std::uint32_t>(block_rows),
                      .columns = static_cast<std::uint32_t>(block_columns)});
    rows += block_rows;
  }

  // The last tile ends where its data end, so that the address sanitizer sees reads beyond.
  AlignedVector<T> tiles_of(Draw& draw, std::size_t features, std::size_t tile_stride) const {
    AlignedVector<T> values((tiles - 1) * tile_stride + features * kTileRows,
                            std::numeric_limits<T>::quiet_NaN());
    for (std::size_t t = 0; t < tiles; ++t) {
      for (std::size_t i = 0; i < features * kTileRows; ++i) {
        values[t * tile_stride + i] = static_cast<T>(draw.uniform());
      }
    }
    return values;
  }

  void run(Draw& draw) {
    output_gradient = tiles_of(draw, rows, output_stride());
    input = tiles_of(draw, columns, input_stride());
    weights = before = draw.buffer<T>(rows * stride());
    bias = bias_before = draw.buffer<T>(rows);
    AlignedVector<T> scratch(tiles * kTileRows * stride(), std::numeric_limits<T>::quiet_NaN());
    weight_gradient(WeightGradientArguments<T>{.blocks = blocks.data(),
                                               .block_count = blocks.size(),
                                               .output_gradient = output_gradient.data(),
                                               .input = input.data(),
                                               .tiles = tiles,
                                               .output_stride = output_stride(),
                                               .input_stride = input_stride(),
                                               .weight_gradient = weights.data(),
                                               .bias_gradient = with_bias ? bias.data() : nullptr,
                                               .columns = columns,
                                               .scratch = scratch.data()});
  }

  // A sum of n products on top of what was there rounds by less than (n + 2) epsilon of the sum of
  // the magnitudes.
  template <typename Term>
  void expect_sum(T actual, T start, const Term& term, ErrorMeter& errors) const {
    double sum = static_cast<double>(start);
    double magnitude = std::abs(sum);
    for (std::size_t t = 0; t < tiles; ++t) {
      for (std::size_t lane = 0; lane < kTileRows; ++lane) {
        sum += term(t, lane);
        magnitude += std::abs(term(t, lane));
      }
    }
    errors.add(actual, sum, static_cast<double>(tiles * kTileRows + 2) * kEpsilon<T> * magnitude);
  }

  void expect_gradients() const {
    ErrorMeter errors;
    std::vector<bool> in_block(rows, false);
    for (const GradientBlock& block : blocks) {
      for (std::size_t r = block.row; r < block.row + block.rows; ++r) {
        in_block[r] = true;
        const auto g = [&](std::size_t t, std::size_t lane) {
          return static_cast<double>(output_gradient[t * output_stride() + r * kTileRows + lane]);
        };
        for (std::size_t c = 0; c < block.columns; ++c) {
          const auto product = [&](std::size_t t, std::size_t lane) {
            return g(t, lane) *
                   static_cast<double>(input[t * input_stride() + c * kTileRows + lane]);
          };
          expect_sum(weights[r * stride() + c], before[r * stride() + c], product, errors);
        }
        if (with_bias) expect_sum(bias[r], bias_before[r], g, errors);
      }
    }
    EXPECT_LE(errors.worst(), 1) << errors;
    if (!with_bias) {
      EXPECT_EQ(bias, bias_before);
    }
    for (std::size_t r = 0; r < rows; ++r) {
      if (in_block[r]) continue;
      EXPECT_EQ(bias[r], bias_before[r]) << "row " << r;
      EXPECT_TRUE(std::equal(weights.begin() + static_cast<std::ptrdiff_t>(r * stride()),
                             weights.begin() + static_cast<std::ptrdiff_t>((r + 1) * stride()),
                             before.begin() + static_cast<std::ptrdiff_t>(r * stride())))
          << "row " << r;
    }
  }
};

template <typename T>
class WeightGradientTest : public ::testing::Test {};
TYPED_TEST_SUITE(WeightGradientTest, FloatAndDouble, FloatOrDoubleName);

constexpr std::size_t kColumns[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 150};

TYPED_TEST(WeightGradientTest, RowsInBlocksOfAnySize) {
  Draw draw(1);
  for (const std::size_t columns : kColumns) {
    for (std::size_t rows = 1; rows <= 13; ++rows) {
      Sums<TypeParam> sums(columns, draw.integer(1, 3));
      while (sums.rows < rows) {
        sums.add_block(std::min(draw.integer(1, kMaxBlockRows), rows - sums.rows), columns);
      }
      SCOPED_TRACE(::testing::Message() << columns << " columns, " << rows << " rows");
      sums.run(draw);
      sums.expect_gradients();
    }
  }
}

// Blocks that want fewer columns, none among them, and rows between the blocks that belong to
// nobody.
TYPED_TEST(WeightGradientTest, BlocksWithTheirOwnColumns) {
  Draw draw(2);
  for (const std::size_t columns : kColumns) {
    for (const std::size_t tiles : {1, 2, 5}) {
      for (const bool with_bias : {false, true}) {
        Sums<TypeParam> sums(columns, tiles);
        sums.with_bias = with_bias;
        for (std::size_t rows = 1; rows <= kMaxBlockRows; ++rows) {
          sums.rows += draw.integer(0, 1);
          sums.add_block(rows, rows == 4 ? 0 : draw.integer(0, columns));
        }
        sums.rows += 1;
        SCOPED_TRACE(::testing::Message() << columns << " columns, " << tiles << " tiles");
        sums.run(draw);
        sums.expect_gradients();
      }
    }
  }
}

TYPED_TEST(WeightGradientTest, OneBlockOfOneRow) {
  Draw draw(3);
  for (const std::size_t columns : kColumns) {
    for (const std::size_t tiles : {1, 4}) {
      for (const std::size_t row : {0, 3}) {
        Sums<TypeParam> sums(columns, tiles);
        sums.rows = row;
        sums.add_block(1, row == 0 ? columns : draw.integer(0, columns));
        sums.rows += 1;
        SCOPED_TRACE(::testing::Message() << columns << " columns, row " << row);
        sums.run(draw);
        sums.expect_gradients();
      }
    }
  }
}

// The bits of a block's sums do not depend on which other blocks are asked for in the same call,
// except for a block of one row that is asked for alone.
TYPED_TEST(WeightGradientTest, BlocksDoNotInfluenceEachOther) {
  for (const std::size_t columns : {3, 33}) {
    Sums<TypeParam> both(columns, 2);
    both.add_block(4, columns);
    both.add_block(6, columns);
    Sums<TypeParam> second = both;
    second.blocks.erase(second.blocks.begin());
    Draw draw(4);
    both.run(draw);
    Draw same(4);
    second.run(same);
    for (std::size_t r = 4; r < 10; ++r) {
      EXPECT_EQ(both.bias[r], second.bias[r]);
      for (std::size_t c = 0; c < columns; ++c) {
        EXPECT_EQ(both.weights[r * both.stride() + c], second.weights[r * both.stride() + c]);
      }
    }
  }
}

}  // namespace
}  // namespace jeffreys::kernels
