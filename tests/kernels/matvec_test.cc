// Matrix-vector products against plain sums.
#include "kernels/matvec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <utility>

#include "kernels/aligned_random.h"
#include "kernels/error_meter.h"

namespace jeffreys::kernels {
namespace {

constexpr std::pair<std::size_t, std::size_t> kShapes[] = {
    {1, 1},  {1, 7},   {7, 1},   {2, 3},    {3, 5},     {4, 8},    {5, 17},
    {13, 9}, {13, 31}, {64, 64}, {67, 129}, {130, 257}, {6, 1000}, {3, 0}};

// The result's elements and one behind them, which must stay as it is.
constexpr double kUntouchedOutput = 12345;

template <typename T>
class MatVecTest : public ::testing::Test {};
TYPED_TEST_SUITE(MatVecTest, FloatAndDouble, FloatOrDoubleName);

// A sum of n products rounds by less than (n + 2) epsilon of the sum of their magnitudes.
TYPED_TEST(MatVecTest, MatrixTimesVector) {
  Draw draw(1);
  for (const auto& [rows, columns] : kShapes) {
    const auto matrix = draw.buffer<TypeParam>(rows * columns);
    const auto vector = draw.buffer<TypeParam>(columns);
    AlignedVector<TypeParam> result(rows + 1, static_cast<TypeParam>(kUntouchedOutput));
    matvec(MatVecArguments<TypeParam>{matrix.data(), rows, columns, vector.data(), result.data()});
    ErrorMeter errors;
    for (std::size_t r = 0; r < rows; ++r) {
      double sum = 0;
      double magnitude = 0;
      for (std::size_t c = 0; c < columns; ++c) {
        const double product = static_cast<double>(matrix[r * columns + c]) * vector[c];
        sum += product;
        magnitude += std::abs(product);
      }
      errors.add(result[r], sum,
                 static_cast<double>(columns + 2) * kEpsilon<TypeParam> * magnitude);
    }
    EXPECT_LE(errors.worst(), 1) << rows << " x " << columns << ", " << errors;
    EXPECT_EQ(result[rows], static_cast<TypeParam>(kUntouchedOutput));
  }
}

TYPED_TEST(MatVecTest, TransposedMatrixTimesVector) {
  Draw draw(2);
  for (const auto& [rows, columns] : kShapes) {
    const auto matrix = draw.buffer<TypeParam>(rows * columns);
    const auto vector = draw.buffer<TypeParam>(rows);
    AlignedVector<TypeParam> result(columns + 1, static_cast<TypeParam>(kUntouchedOutput));
    matvec_transposed(
        MatVecArguments<TypeParam>{matrix.data(), rows, columns, vector.data(), result.data()});
    ErrorMeter errors;
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = 0;
      double magnitude = 0;
      for (std::size_t r = 0; r < rows; ++r) {
        const double product = static_cast<double>(matrix[r * columns + c]) * vector[r];
        sum += product;
        magnitude += std::abs(product);
      }
      errors.add(result[c], sum, static_cast<double>(rows + 2) * kEpsilon<TypeParam> * magnitude);
    }
    EXPECT_LE(errors.worst(), 1) << rows << " x " << columns << ", " << errors;
    EXPECT_EQ(result[columns], static_cast<TypeParam>(kUntouchedOutput));
  }
}

}  // namespace
}  // namespace jeffreys::kernels
