// Copies between row-major matrices and tiles.
#include "kernels/tile_copy.h"

#include <gtest/gtest.h>

#include <cstddef>

#include "kernels/aligned_random.h"

namespace jeffreys::kernels {
namespace {

template <typename T>
class TileCopyTest : public ::testing::Test {};
TYPED_TEST_SUITE(TileCopyTest, FloatAndDouble, FloatOrDoubleName);

TYPED_TEST(TileCopyTest, StoreUndoesLoad) {
  Draw draw(1);
  for (const std::size_t rows : {0, 1, 2, 63, 64}) {
    for (const std::size_t features : {0, 1, 5, 33}) {
      for (const std::size_t gap : {0, 3}) {
        const std::size_t stride = features + gap;
        const auto matrix = draw.buffer<TypeParam>(rows * stride);
        auto tile = draw.buffer<TypeParam>((features + 1) * kTileRows);
        const auto tile_before = tile;
        load_tile(matrix.data(), stride, rows, features, tile.data());
        for (std::size_t i = 0; i < tile.size(); ++i) {
          const std::size_t f = i / kTileRows;
          const std::size_t r = i % kTileRows;
          if (f == features) {
            ASSERT_EQ(tile[i], tile_before[i]) << "behind the last feature";
          } else {
            ASSERT_EQ(tile[i], r < rows ? matrix[r * stride + f] : TypeParam(0));
          }
        }
        auto back = draw.buffer<TypeParam>(rows * stride);
        const auto back_before = back;
        store_tile(tile.data(), rows, features, back.data(), stride);
        for (std::size_t i = 0; i < back.size(); ++i) {
          ASSERT_EQ(back[i], i % stride < features ? matrix[i] : back_before[i]);
        }
      }
    }
  }
}

TYPED_TEST(TileCopyTest, StrideZeroRepeatsOneRow) {
  const TypeParam row[] = {1, 2, 3};
  AlignedVector<TypeParam> tile(3 * kTileRows, TypeParam(-1));
  load_tile(row, 0, 40, 3, tile.data());
  for (std::size_t i = 0; i < tile.size(); ++i) {
    ASSERT_EQ(tile[i], i % kTileRows < 40 ? row[i / kTileRows] : TypeParam(0));
  }
}

}  // namespace
}  // namespace jeffreys::kernels
