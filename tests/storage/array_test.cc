#include "jeffreys/storage/array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace jeffreys::storage {
namespace {

template <typename T>
Array row(std::vector<T> values) {
  return Array::from<T>({static_cast<std::int64_t>(values.size())}, values);
}

TEST(Array, SizeIsTheProductOfTheShape) {
  EXPECT_EQ((Array{Dtype::f32, {}, {}}.size()), 1);
  EXPECT_EQ((Array{Dtype::f32, {0, 3}, {}}.size()), 0);
  EXPECT_EQ((Array{Dtype::f32, {2, 3, 4}, {}}.size()), 24);
}

TEST(Array, ImpossibleShapesThrow) {
  const std::int64_t large = std::int64_t{1} << 62;
  EXPECT_THROW((Array{Dtype::f32, {-1}, {}}.size()), std::invalid_argument);
  EXPECT_THROW((Array{Dtype::f32, {large, large}, {}}.size()), std::invalid_argument);
  EXPECT_THROW((Array{Dtype::u8, {0, large}, {}}.size()), std::invalid_argument);
  EXPECT_THROW((Array{Dtype::u8, std::vector<std::int64_t>(33, 1), {}}.size()),
               std::invalid_argument);
  EXPECT_EQ((Array{Dtype::u8, {std::int64_t{1} << 33}, {}}.size()), std::int64_t{1} << 33);
  EXPECT_THROW((Array{Dtype::u8, {(std::int64_t{1} << 33) + 1}, {}}.size()), std::invalid_argument);
  EXPECT_THROW((Array{Dtype::f64, {(std::int64_t{1} << 30) + 1}, {}}.size()),
               std::invalid_argument);
}

TEST(Array, ShapeAndValuesMustAgree) {
  const std::vector<double> three{1, 2, 3};
  EXPECT_THROW(Array::from<double>({2, 2}, three), std::invalid_argument);
  EXPECT_THROW((Array{Dtype::f64, {2}, std::vector<std::byte>(8)}.values<double>()),
               std::invalid_argument);
}

TEST(Array, ValuesOfTheSameTypeComeBackExactly) {
  const std::vector<double> doubles{0.1, -0.0, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(row(doubles).values<double>(), doubles);
  const std::vector<std::int64_t> integers{std::numeric_limits<std::int64_t>::min(), -1,
                                           std::numeric_limits<std::int64_t>::max()};
  EXPECT_EQ(row(integers).values<std::int64_t>(), integers);
  const bool flags[] = {true, false, true};
  EXPECT_EQ(Array::from<bool>({3}, flags).values<bool>(), (std::vector<bool>{true, false, true}));
}

TEST(Array, ConvertsBetweenTypes) {
  EXPECT_EQ(row<float>({1.5f, -2}).values<double>(), (std::vector<double>{1.5, -2}));
  EXPECT_EQ(row<double>({0.1, 1e300}).values<float>(),
            (std::vector<float>{0.1f, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(row<std::uint8_t>({0, 255}).values<float>(), (std::vector<float>{0, 255}));
  EXPECT_EQ(row<std::int64_t>({-7, 7}).values<std::int32_t>(), (std::vector<std::int32_t>{-7, 7}));
  EXPECT_EQ(row<double>({-7, 7}).values<std::int64_t>(), (std::vector<std::int64_t>{-7, 7}));
  EXPECT_EQ(row<float>({0, 0.5f, std::nanf("")}).values<bool>(),
            (std::vector<bool>{false, true, true}));
}

TEST(Array, BooleanBytesOtherThanOneAreTrue) {
  const Array array{Dtype::boolean, {3}, {std::byte{0}, std::byte{1}, std::byte{255}}};
  EXPECT_EQ(array.values<double>(), (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(array.values<bool>(), (std::vector<bool>{false, true, true}));
}

TEST(Array, IntegersAreExactOrRefused) {
  EXPECT_THROW(row<double>({1.5}).values<std::int32_t>(), std::invalid_argument);
  EXPECT_THROW(row<double>({std::nan("")}).values<std::int32_t>(), std::invalid_argument);
  EXPECT_THROW(row<double>({2147483648.0}).values<std::int32_t>(), std::invalid_argument);
  EXPECT_EQ(row<double>({-2147483648.0}).values<std::int32_t>(),
            (std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min()}));
  EXPECT_THROW(row<double>({9223372036854775808.0}).values<std::int64_t>(), std::invalid_argument);
  EXPECT_THROW(row<float>({256}).values<std::uint8_t>(), std::invalid_argument);
  EXPECT_THROW(row<std::int64_t>({-1}).values<std::uint8_t>(), std::invalid_argument);
  try {
    row<double>({1, 2.5}).values<std::int64_t>();
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "array item 1 is 2.5, which is no i64 number");
  }
}

}  // namespace
}  // namespace jeffreys::storage
