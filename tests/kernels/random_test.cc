// Counter-based random numbers: what they depend on, and their distribution.
//
// Statistical thresholds are 4 standard errors. The seeds are fixed, so a test passes always or
// never.
#include "kernels/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/aligned_random.h"
#include "kernels/error_meter.h"

namespace jeffreys::kernels {
namespace {

constexpr RandomKey kKey{.seed = 7, .purpose = 3, .iteration = 11};

template <typename T>
std::vector<T> normals(const RandomKey& key, std::uint64_t first_row, std::size_t rows,
                       std::size_t columns) {
  std::vector<T> values(rows * columns);
  fill_normals(RandomArguments<T>{key, first_row, rows, columns, values.data()});
  return values;
}

template <typename T>
std::vector<T> uniforms(const RandomKey& key, std::uint64_t first_row, std::size_t rows,
                        std::size_t columns) {
  std::vector<T> values(rows * columns);
  fill_uniforms(RandomArguments<T>{key, first_row, rows, columns, values.data()});
  return values;
}

template <typename T>
using Filler =
    std::function<std::vector<T>(const RandomKey&, std::uint64_t, std::size_t, std::size_t)>;

template <typename T>
std::array<Filler<T>, 2> fillers() {
  return {normals<T>, uniforms<T>};
}

template <typename T>
std::size_t equal_numbers(const std::vector<T>& a, const std::vector<T>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 1 : 0;
  return count;
}

template <typename T>
class RandomTest : public ::testing::Test {};
TYPED_TEST_SUITE(RandomTest, FloatAndDouble, FloatOrDoubleName);

TYPED_TEST(RandomTest, DoNotDependOnTheSplitIntoCalls) {
  for (const auto& fill : fillers<TypeParam>()) {
    for (const std::size_t columns : {1, 2, 3, 4, 5, 30}) {
      const auto whole = fill(kKey, 0, 100, columns);
      std::vector<TypeParam> pieces;
      std::uint64_t first = 0;
      for (const std::size_t rows : {1, 0, 63, 7, 29}) {
        const auto piece = fill(kKey, first, rows, columns);
        pieces.insert(pieces.end(), piece.begin(), piece.end());
        first += rows;
      }
      EXPECT_EQ(pieces, whole) << columns << " columns";
    }
  }
}

TYPED_TEST(RandomTest, DoNotDependOnTheNumberOfColumns) {
  constexpr std::size_t kRows = 70;
  for (const auto& fill : fillers<TypeParam>()) {
    const auto wide = fill(kKey, 5, kRows, 9);
    for (std::size_t columns = 1; columns < 9; ++columns) {
      const auto narrow = fill(kKey, 5, kRows, columns);
      for (std::size_t i = 0; i < narrow.size(); ++i) {
        ASSERT_EQ(narrow[i], wide[i / columns * 9 + i % columns]) << columns << " columns";
      }
    }
  }
}

TYPED_TEST(RandomTest, DependOnEveryPartOfTheKey) {
  std::vector<RandomKey> others(6, kKey);
  others[0].seed = 8;
  others[1].seed = 7 + (std::uint64_t{1} << 32);
  others[2].purpose = 4;
  others[3].purpose = static_cast<std::uint16_t>(3 + (1 << 15));
  others[4].iteration = 12;
  others[5].iteration = 11 + (std::uint64_t{1} << 47);
  // 400 numbers of at least 24 random bits: two that agree by chance are expected once in 40,000.
  for (const auto& fill : fillers<TypeParam>()) {
    const auto numbers = fill(kKey, 0, 100, 4);
    for (std::size_t k = 0; k < others.size(); ++k) {
      EXPECT_EQ(equal_numbers(numbers, fill(others[k], 0, 100, 4)), 0U) << "key " << k;
    }
    EXPECT_EQ(equal_numbers(numbers, fill(kKey, 1, 100, 4)), 0U);
    EXPECT_EQ(equal_numbers(numbers, fill(kKey, 100, 100, 4)), 0U);
    EXPECT_EQ(equal_numbers(numbers, fill(kKey, std::uint64_t{1} << 31, 100, 4)), 0U);
  }
}

TYPED_TEST(RandomTest, NumbersWithinARowDiffer) {
  for (const auto& fill : fillers<TypeParam>()) {
    auto numbers = fill(kKey, 0, 1, 300);
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end());
  }
}

TYPED_TEST(RandomTest, RowsCountModulo32BitsAndIterationsModulo48) {
  RandomKey later = kKey;
  later.iteration += std::uint64_t{1} << 48;
  for (const auto& fill : fillers<TypeParam>()) {
    const auto numbers = fill(kKey, 5, 3, 6);
    EXPECT_EQ(fill(kKey, 5 + (std::uint64_t{1} << 32), 3, 6), numbers);
    EXPECT_EQ(fill(later, 5, 3, 6), numbers);
  }
}

// Random123's published answer for counter 0 and key 0, in kat_vectors.
TEST(PhiloxTest, KnownAnswer) {
  constexpr std::uint32_t kAnswer[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  const auto numbers = uniforms<double>(RandomKey{}, 0, 1, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(numbers[i], (static_cast<double>(kAnswer[i]) + 0.5) * 0x1p-32);
  }
}

// Box-Muller on the same answer: columns 2 i and 2 i + 1 share a radius and an angle.
TEST(PhiloxTest, KnownNormals) {
  const auto u = uniforms<double>(RandomKey{}, 0, 1, 4);
  const auto z = normals<double>(RandomKey{}, 0, 1, 4);
  for (std::size_t i = 0; i < 4; i += 2) {
    const double radius = std::sqrt(-2 * std::log(u[i]));
    const double angle = 2 * std::acos(-1.0) * u[i + 1];
    EXPECT_NEAR(z[i], radius * std::cos(angle), 1e-14);
    EXPECT_NEAR(z[i + 1], radius * std::sin(angle), 1e-14);
  }
}

TYPED_TEST(RandomTest, UniformsLieInsideTheUnitInterval) {
  const auto numbers = uniforms<TypeParam>(kKey, 0, 500'000, 4);
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  EXPECT_GT(*least, TypeParam(0));
  EXPECT_LT(*most, TypeParam(1));
}

// Bits of 0xffffff80 and more round to 1 in float; they come once in 2^25 numbers, as 0xffffff88
// does in this row of seed 0.
TEST(UniformTest, LargestFloatStaysBelowOne) {
  constexpr std::uint64_t kRow = 5'150'801;
  EXPECT_EQ(uniforms<double>(RandomKey{}, kRow, 1, 1)[0], (0xffffff88 + 0.5) * 0x1p-32);
  EXPECT_EQ(uniforms<float>(RandomKey{}, kRow, 1, 1)[0], 1 - 0x1p-24F);
}

TEST(RandomPrecisionTest, FloatUniformsAreRoundedDoubles) {
  const auto fine = uniforms<double>(kKey, 0, 10'000, 3);
  const auto coarse = uniforms<float>(kKey, 0, 10'000, 3);
  ErrorMeter errors;
  for (std::size_t i = 0; i < fine.size(); ++i) {
    errors.add(coarse[i], fine[i], 1.01 * kEpsilon<float> * fine[i]);
  }
  EXPECT_LE(errors.worst(), 1) << errors;
}

// A float uniform near 1 is off by up to 2^-25, which moves the squared radius -2 log u by 2^-24,
// and so the radius r by 2^-24 / r, or by 2^-12 where r is smaller than that. The angle is off by a
// few epsilon, the functions too; twice the sum of these bounds is allowed.
TEST(RandomPrecisionTest, FloatNormalsAreDoublesToFloatPrecision) {
  const auto fine = normals<double>(kKey, 0, 100'000, 2);
  const auto coarse = normals<float>(kKey, 0, 100'000, 2);
  ErrorMeter errors;
  for (std::size_t i = 0; i < fine.size(); i += 2) {
    const double radius = std::hypot(fine[i], fine[i + 1]);
    const double bound = 2 * std::min(0x1p-24 / radius, 0x1p-12) + 10 * kEpsilon<float> * radius;
    errors.add(coarse[i], fine[i], bound);
    errors.add(coarse[i + 1], fine[i + 1], bound);
  }
  EXPECT_LE(errors.worst(), 1) << errors;
}

constexpr std::size_t kCount = 100'000;
const double kRoot = std::sqrt(static_cast<double>(kCount));

// sqrt(n) times the largest distance between the empirical distribution and `distribution`. It
// exceeds 1.95 with probability 0.001 (Kolmogorov).
template <typename T>
double kolmogorov_smirnov(std::vector<T> values,
                          const std::function<double(double)>& distribution) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = distribution(static_cast<double>(values[i]));
    distance = std::max({distance, expected - static_cast<double>(i) / n,
                         static_cast<double>(i + 1) / n - expected});
  }
  return std::sqrt(n) * distance;
}

constexpr double kCritical = 1.95;

double normal_distribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TYPED_TEST(RandomTest, UniformsAreUniform) {
  for (const std::size_t columns : {1, 4, 10}) {
    const auto numbers = uniforms<TypeParam>(kKey, 0, kCount / columns, columns);
    EXPECT_LT(kolmogorov_smirnov(numbers, [](double x) { return x; }), kCritical);
  }
}

TYPED_TEST(RandomTest, NormalsAreNormal) {
  for (const std::size_t columns : {1, 2, 5}) {
    const auto numbers = normals<TypeParam>(kKey, 0, kCount / columns, columns);
    EXPECT_LT(kolmogorov_smirnov(numbers, normal_distribution), kCritical) << columns << " columns";
  }
}

// Standard errors of the mean of z^k for k = 1 .. 4: sqrt(var z^k / n) with var = 1, 2, 15, 96.
TYPED_TEST(RandomTest, MomentsOfNormals) {
  const auto numbers = normals<TypeParam>(kKey, 0, kCount / 4, 4);
  const double expected[] = {0, 1, 0, 3};
  const double variance[] = {1, 2, 15, 96};
  for (int k = 1; k <= 4; ++k) {
    double sum = 0;
    for (const TypeParam z : numbers) sum += std::pow(static_cast<double>(z), k);
    EXPECT_NEAR(sum / static_cast<double>(kCount), expected[k - 1],
                4 * std::sqrt(variance[k - 1]) / kRoot)
        << "moment " << k;
  }
}

// The radius is at most sqrt(-2 log 2^-33) = 6.76, and a million numbers reach beyond 4.
TYPED_TEST(RandomTest, TailsOfNormals) {
  const auto numbers = normals<TypeParam>(kKey, 0, 250'000, 4);
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  EXPECT_GT(*least, TypeParam(-6.8));
  EXPECT_LT(*most, TypeParam(6.8));
  EXPECT_LT(*least, TypeParam(-4));
  EXPECT_GT(*most, TypeParam(4));
}

// Mean of a b; for independent a and b of variance 1 its standard error is 1 / sqrt(n).
template <typename T>
double correlation(const std::vector<T>& a, const std::vector<T>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum / static_cast<double>(a.size());
}

template <typename T>
std::vector<T> column(const std::vector<T>& matrix, std::size_t columns, std::size_t index) {
  std::vector<T> values;
  for (std::size_t i = index; i < matrix.size(); i += columns) values.push_back(matrix[i]);
  return values;
}

// (z^2 - 1) / sqrt 2: variance 1 again. Its correlations would show a radius used twice.
template <typename T>
std::vector<T> squares(std::vector<T> values) {
  for (T& z : values) z = (z * z - 1) / static_cast<T>(std::sqrt(2.0));
  return values;
}

TYPED_TEST(RandomTest, ColumnsAreUncorrelated) {
  constexpr std::size_t kColumns = 6;
  const auto numbers = normals<TypeParam>(kKey, 0, kCount, kColumns);
  for (std::size_t i = 0; i < kColumns; ++i) {
    const auto a = column(numbers, kColumns, i);
    for (std::size_t j = 0; j < i; ++j) {
      const auto b = column(numbers, kColumns, j);
      EXPECT_LT(std::abs(correlation(a, b)), 4 / kRoot) << i << ", " << j;
      EXPECT_LT(std::abs(correlation(squares(a), squares(b))), 4 / kRoot) << i << ", " << j;
    }
  }
}

TYPED_TEST(RandomTest, NeighboursAreUncorrelated) {
  const auto numbers = normals<TypeParam>(kKey, 0, kCount, 1);
  std::vector<RandomKey> neighbours(3, kKey);
  neighbours[0].seed += 1;
  neighbours[1].purpose = static_cast<std::uint16_t>(kKey.purpose + 1);
  neighbours[2].iteration += 1;
  for (const RandomKey& key : neighbours) {
    const auto others = normals<TypeParam>(key, 0, kCount, 1);
    EXPECT_LT(std::abs(correlation(numbers, others)), 4 / kRoot);
    EXPECT_LT(std::abs(correlation(squares(numbers), squares(others))), 4 / kRoot);
  }
  for (const std::uint64_t distance : {1, 2, 64}) {
    const auto others = normals<TypeParam>(kKey, distance, kCount, 1);
    EXPECT_LT(std::abs(correlation(numbers, others)), 4 / kRoot) << "rows " << distance << " apart";
  }
}

}  // namespace
}  // namespace jeffreys::kernels
