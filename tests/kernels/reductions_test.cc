// Sums over flat buffers.
#include "kernels/reductions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "kernels/aligned_random.h"

namespace jeffreys::kernels {
namespace {

constexpr std::size_t kSizes[] = {1,  2,  3,   4,   5,    7,    8,    9,    15,   16,
                                  17, 63, 100, 255, 1000, 1023, 1024, 1025, 1999, 2000};

template <typename T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

template <typename T>
double plain_log_sum_exp(const AlignedVector<T>& values) {
  const auto largest = static_cast<double>(*std::max_element(values.begin(), values.end()));
  double sum = 0;
  for (const T v : values) sum += std::exp(static_cast<double>(v) - largest);
  return largest + std::log(sum);
}

template <typename T>
double log_sum_exp_of(const AlignedVector<T>& values) {
  return log_sum_exp(values.data(), values.size());
}

// All terms are positive, so the sum's relative error is at most one rounding for each addition, of
// which a piece of 1024 has 256 in each of at least 4 lanes, and some of the exponential.
template <typename T>
constexpr double kSumError = 300 * static_cast<double>(std::numeric_limits<T>::epsilon());

template <typename T>
class ReductionsTest : public ::testing::Test {};
TYPED_TEST_SUITE(ReductionsTest, FloatAndDouble, FloatOrDoubleName);

TYPED_TEST(ReductionsTest, LogSumExpOfAnySize) {
  Draw draw(1);
  for (const std::size_t size : kSizes) {
    for (const double range : {1.0, 30.0, 500.0}) {
      const auto values = draw.buffer<TypeParam>(size, -range, range);
      const double expected = plain_log_sum_exp(values);
      EXPECT_NEAR(log_sum_exp_of(values), expected, kSumError<TypeParam>)
          << size << " values up to " << range;
    }
  }
}

TYPED_TEST(ReductionsTest, LogSumExpOfNothingIsMinusInfinity) {
  EXPECT_EQ(log_sum_exp_of(AlignedVector<TypeParam>{}), -kInfinity<double>);
}

TYPED_TEST(ReductionsTest, LogSumExpOfOneValueIsTheValue) {
  for (const double v : {0.0, 1.5, -1e4, 1e4, 1e30, -1e30}) {
    const auto value = static_cast<TypeParam>(v);
    EXPECT_EQ(log_sum_exp(&value, 1), static_cast<double>(value));
  }
}

TYPED_TEST(ReductionsTest, LogSumExpOfEqualValues) {
  for (const double v : {1e4, -1e4, 0.0}) {
    for (const std::size_t size : kSizes) {
      const AlignedVector<TypeParam> values(size, static_cast<TypeParam>(v));
      EXPECT_NEAR(log_sum_exp_of(values), v + std::log(static_cast<double>(size)),
                  kSumError<TypeParam> + 1e-11);
    }
  }
}

// Multiples of 1/64, so that the shifted values are exact in float too.
TYPED_TEST(ReductionsTest, LogSumExpShiftsWithItsValues) {
  Draw draw(2);
  AlignedVector<TypeParam> values(1500);
  for (TypeParam& v : values) v = static_cast<TypeParam>(draw.integer(0, 1000)) / 64;
  const double before = log_sum_exp_of(values);
  for (const double shift : {1e4, -1e4}) {
    AlignedVector<TypeParam> shifted = values;
    for (TypeParam& v : shifted) v += static_cast<TypeParam>(shift);
    EXPECT_NEAR(log_sum_exp_of(shifted) - shift, before, 1e-11);
  }
}

TYPED_TEST(ReductionsTest, LogSumExpIgnoresMinusInfinity) {
  Draw draw(3);
  for (const std::size_t size : kSizes) {
    AlignedVector<TypeParam> values(size, -kInfinity<TypeParam>);
    EXPECT_EQ(log_sum_exp_of(values), -kInfinity<double>);
    AlignedVector<TypeParam> finite;
    for (std::size_t i = 0; i < size; i += 3) {
      values[i] = static_cast<TypeParam>(draw.uniform());
      finite.push_back(values[i]);
    }
    EXPECT_NEAR(log_sum_exp_of(values), plain_log_sum_exp(finite), kSumError<TypeParam>);
  }
}

TYPED_TEST(ReductionsTest, LogSumExpReportsInfinityAndNanAnywhere) {
  Draw draw(4);
  for (const std::size_t size : kSizes) {
    for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
      auto values = draw.buffer<TypeParam>(size);
      values[at] = kInfinity<TypeParam>;
      EXPECT_EQ(log_sum_exp_of(values), kInfinity<double>) << at << " of " << size;
      values[at] = std::numeric_limits<TypeParam>::quiet_NaN();
      EXPECT_TRUE(std::isnan(log_sum_exp_of(values))) << at << " of " << size;
    }
  }
}

TYPED_TEST(ReductionsTest, SquaredNorm) {
  Draw draw(5);
  EXPECT_EQ(squared_norm(static_cast<const TypeParam*>(nullptr), 0), 0.0);
  for (const std::size_t size : kSizes) {
    const auto values = draw.buffer<TypeParam>(size, -3, 3);
    double expected = 0;
    for (const TypeParam v : values) expected += static_cast<double>(v) * static_cast<double>(v);
    EXPECT_NEAR(squared_norm(values.data(), size), expected, kSumError<TypeParam> * expected);
  }
}

// A million floats added up in float would be off by far more.
TYPED_TEST(ReductionsTest, SquaredNormOfManyValuesKeepsItsPrecision) {
  const std::size_t size = 1'000'003;
  const AlignedVector<TypeParam> values(size, TypeParam(0.1));
  const double square = static_cast<double>(values[0]) * static_cast<double>(values[0]);
  const double expected = square * static_cast<double>(size);
  EXPECT_NEAR(squared_norm(values.data(), size), expected, kSumError<TypeParam> * expected);
}

TYPED_TEST(ReductionsTest, SquaredNormReportsNanAnywhere) {
  for (const std::size_t size : kSizes) {
    for (const std::size_t at : {std::size_t{0}, size - 1}) {
      AlignedVector<TypeParam> values(size, TypeParam(1));
      values[at] = std::numeric_limits<TypeParam>::quiet_NaN();
      EXPECT_TRUE(std::isnan(squared_norm(values.data(), size))) << at << " of " << size;
    }
  }
}

TYPED_TEST(ReductionsTest, AddIsExact) {
  Draw draw(6);
  for (const std::size_t size : kSizes) {
    auto target = draw.buffer<TypeParam>(size + 1);
    const auto before = target;
    const auto values = draw.buffer<TypeParam>(size);
    add(target.data(), values.data(), size);
    for (std::size_t i = 0; i < size; ++i) {
      const TypeParam sum = before[i] + values[i];
      ASSERT_EQ(target[i], sum);
    }
    EXPECT_EQ(target[size], before[size]);
  }
}

// torch.nn.utils.clip_grad_norm_: clamp(max_norm / (total_norm + 1e-6), max=1)
TEST(ClipFactorTest, ScalesOnlyGradientsBeyondTheLimit) {
  EXPECT_EQ(clip_factor(0, 5), 1.0);
  EXPECT_EQ(clip_factor(9, 5), 1.0);
  EXPECT_DOUBLE_EQ(clip_factor(100, 5), 5 / (10 + 1e-6));
  EXPECT_DOUBLE_EQ(clip_factor(25, 5), 5 / (5 + 1e-6));
  EXPECT_DOUBLE_EQ(clip_factor(1e-14, 5e-8), 5e-8 / (1e-7 + 1e-6));
  EXPECT_EQ(clip_factor(4, 0), 0.0);
  EXPECT_EQ(clip_factor(std::numeric_limits<double>::infinity(), 5), 0.0);
}

}  // namespace
}  // namespace jeffreys::kernels
