// The tile product against a plain one.
#include "kernels/dense.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/aligned_random.h"
#include "kernels/error_meter.h"

namespace jeffreys::kernels {
namespace {

template <typename T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

// Numbers that no block may touch: rows of the output outside of the blocks and between the tiles.
constexpr double kUntouched = 12345;

struct Epilogue {
  bool bias = false;
  bool scale = false;
  bool relu = false;
  bool gate = false;
};

// Blocks with everything that they need; what no block may read is NaN.
template <typename T>
struct Layer {
  std::vector<DenseBlock> blocks;
  std::size_t rows = 0;  // of the output, with rows before, between and after the blocks
  std::size_t inputs = 0;
  std::size_t tiles = 1;
  Epilogue epilogue;
  AlignedVector<T> weights, bias, gate, input, before, output;

  std::size_t input_stride() const { return (inputs + 1) * kTileRows; }
  std::size_t output_stride() const { return (rows + 2) * kTileRows; }
  T scale() const { return epilogue.scale ? T(0.375) : T(1); }

  void add_block(std::size_t block_rows, std::size_t begin, std::size_t end, Draw& draw) {
    const std::size_t offset = weights.size();
    blocks.push_back({.row = static_cast<std::uint32_t>(rows),
                      .rows = static_cast<std::uint32_t>(block_rows),
                      .begin = static_cast<std::uint32_t>(begin),
                      .end = static_cast<std::uint32_t>(end),
                      .offset = offset});
    rows += block_rows;
    inputs = std::max(inputs, end);
    for (const T w : draw.buffer<T>(block_rows * (end - begin))) weights.push_back(w);
    weights.push_back(kNan<T>);
  }

  void fill(Draw& draw) {
    bias = draw.buffer<T>(rows);
    gate = draw.buffer<T>(tiles * output_stride());
    for (std::size_t i = 0; i < gate.size(); i += 7) gate[i] = T(0);
    input.assign(tiles * input_stride(), kNan<T>);
    before.assign(tiles * output_stride(), static_cast<T>(kUntouched));
    for (std::size_t t = 0; t < tiles; ++t) {
      for (const DenseBlock& block : blocks) {
        for (std::size_t k = block.begin * kTileRows; k < block.end * kTileRows; ++k) {
          input[t * input_stride() + k] = static_cast<T>(draw.uniform());
        }
        for (std::size_t i = 0; i < block.rows * kTileRows; ++i) {
          before[t * output_stride() + block.row * kTileRows + i] = static_cast<T>(draw.uniform());
        }
      }
    }
  }

  void run() {
    output = before;
    dense(DenseArguments<T>{.blocks = blocks.data(),
                            .block_count = blocks.size(),
                            .weights = weights.data(),
                            .scale = scale(),
                            .bias = epilogue.bias ? bias.data() : nullptr,
                            .relu = epilogue.relu,
                            .gate = epilogue.gate ? gate.data() : nullptr,
                            .input = input.data(),
                            .output = output.data(),
                            .tiles = tiles,
                            .input_stride = input_stride(),
                            .output_stride = output_stride()});
  }

  // What the block's output row `r` should be in row `lane` of tile `t`, and its rounding error's
  // bound: a sum of n products, a scale and a bias round by less than (n + 4) epsilon
  // of the sum of the magnitudes, in whatever order they are added.
  void expect_number(const DenseBlock& block, std::size_t r, std::size_t t, std::size_t lane,
                     ErrorMeter& errors) const {
    double sum = 0;
    double magnitude = 0;
    for (std::size_t k = block.begin; k < block.end; ++k) {
      const double w = weights[block.offset + (k - block.begin) * block.rows + r];
      const double product = w * input[t * input_stride() + k * kTileRows + lane];
      sum += product;
      magnitude += std::abs(product);
    }
    double value = sum * static_cast<double>(scale());
    magnitude *= std::abs(static_cast<double>(scale()));
    const std::size_t at = t * output_stride() + (block.row + r) * kTileRows + lane;
    if (epilogue.bias) {
      value += static_cast<double>(bias[block.row + r]);
      magnitude += std::abs(static_cast<double>(bias[block.row + r]));
    }
    if (epilogue.relu && value < 0) value = 0;
    if (epilogue.gate && gate[at] <= T(0)) value = 0;
    const double bound = static_cast<double>(block.end - block.begin + 4) * kEpsilon<T> * magnitude;
    errors.add(output[at], value, bound);
  }

  void expect_product() const {
    ErrorMeter errors;
    std::vector<bool> covered(output.size(), false);
    for (std::size_t t = 0; t < tiles; ++t) {
      for (const DenseBlock& block : blocks) {
        for (std::size_t i = 0; i < block.rows * kTileRows; ++i) {
          expect_number(block, i / kTileRows, t, i % kTileRows, errors);
          covered[t * output_stride() + block.row * kTileRows + i] = true;
        }
      }
    }
    EXPECT_LE(errors.worst(), 1) << errors;
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (!covered[i]) {
        ASSERT_EQ(output[i], static_cast<T>(kUntouched)) << "element " << i;
      }
    }
  }
};

template <typename T>
class DenseTest : public ::testing::Test {};
TYPED_TEST_SUITE(DenseTest, FloatAndDouble, FloatOrDoubleName);

// Inputs outside of [begin, end) are NaN here: they may not have any influence.
TYPED_TEST(DenseTest, EveryBlockSizeRangeAndLength) {
  Draw draw(1);
  for (std::size_t rows = 1; rows <= kMaxBlockRows; ++rows) {
    for (const std::size_t begin : {0, 1, 37, 95, 96, 150}) {
      for (const std::size_t length : {0, 1, 5, 64, 95, 96, 97, 200, 300}) {
        Layer<TypeParam> layer;
        layer.rows = 1;
        layer.add_block(rows, begin, begin + length, draw);
        layer.fill(draw);
        layer.run();
        SCOPED_TRACE(::testing::Message() << rows << " rows, inputs " << begin << " + " << length);
        layer.expect_product();
      }
    }
  }
}

TYPED_TEST(DenseTest, AnyBlocksWithAnyEpilogueOnAnyNumberOfTiles) {
  Draw draw(2);
  for (unsigned flags = 0; flags < 16; ++flags) {
    for (const std::size_t tiles : {1, 2, 3}) {
      Layer<TypeParam> layer;
      layer.tiles = tiles;
      layer.epilogue = {.bias = (flags & 1) != 0,
                        .scale = (flags & 2) != 0,
                        .relu = (flags & 4) != 0,
                        .gate = (flags & 8) != 0};
      for (std::size_t b = 0; b < 8; ++b) {
        layer.rows += draw.integer(0, 1);
        const std::size_t begin = draw.integer(0, 1) * draw.integer(0, 120);
        const std::size_t length = b == 3 ? 0 : draw.integer(0, 210);
        layer.add_block(draw.integer(1, kMaxBlockRows), begin, begin + length, draw);
      }
      layer.fill(draw);
      layer.run();
      SCOPED_TRACE(::testing::Message() << "flags " << flags << ", " << tiles << " tiles");
      layer.expect_product();
    }
  }
}

TYPED_TEST(DenseTest, AnEmptyRangeGivesTheBias) {
  Draw draw(3);
  Layer<TypeParam> layer;
  layer.epilogue.bias = true;
  layer.add_block(5, 0, 0, draw);
  layer.add_block(2, 99, 99, draw);
  layer.fill(draw);
  layer.run();
  for (std::size_t i = 0; i < layer.rows * kTileRows; ++i) {
    ASSERT_EQ(layer.output[i], layer.bias[i / kTileRows]);
  }
}

TYPED_TEST(DenseTest, WithoutTilesOrBlocksNothingIsWritten) {
  Draw draw(4);
  Layer<TypeParam> layer;
  layer.add_block(3, 0, 5, draw);
  layer.fill(draw);
  layer.output = layer.before;
  DenseArguments<TypeParam> arguments{.blocks = layer.blocks.data(),
                                      .block_count = layer.blocks.size(),
                                      .weights = layer.weights.data(),
                                      .input = layer.input.data(),
                                      .output = layer.output.data(),
                                      .tiles = 0};
  dense(arguments);
  EXPECT_EQ(layer.output, layer.before);
  arguments.tiles = 1;
  arguments.block_count = 0;
  dense(arguments);
  EXPECT_EQ(layer.output, layer.before);
}

// A row with a NaN among its inputs has NaN in all outputs that see this input, and no other row
// notices. This holds for ReLU too: it is max(0, x), not "0 unless x > 0".
TYPED_TEST(DenseTest, NanStaysInItsRow) {
  Draw draw(5);
  for (const bool relu : {false, true}) {
    Layer<TypeParam> layer;
    layer.epilogue.relu = relu;
    layer.epilogue.bias = true;
    layer.add_block(6, 0, 130, draw);
    layer.add_block(3, 0, 40, draw);
    layer.fill(draw);
    layer.run();
    const AlignedVector<TypeParam> clean = layer.output;
    constexpr std::size_t kLane = 13;
    layer.input[100 * kTileRows + kLane] = kNan<TypeParam>;
    layer.run();
    for (std::size_t i = 0; i < layer.rows * kTileRows; ++i) {
      const bool sees = i % kTileRows == kLane && i / kTileRows < 6;
      if (sees) {
        EXPECT_TRUE(std::isnan(layer.output[i])) << "relu " << relu << ", row " << i / kTileRows;
      } else {
        ASSERT_EQ(layer.output[i], clean[i]) << "relu " << relu << ", element " << i;
      }
    }
  }
}

}  // namespace
}  // namespace jeffreys::kernels
