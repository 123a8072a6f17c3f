#include "jeffreys/table/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

namespace jeffreys {
namespace {

TEST(Split, EveryRowOnce) {
  for (const std::size_t rows : {0u, 1u, 2u, 3u, 10u, 1000u, 12345u}) {
    for (const double fraction : {0.0, 0.01, 0.2, 0.99}) {
      const Split split = split_rows(rows, fraction, 7);
      std::vector<std::size_t> all = split.training;
      all.insert(all.end(), split.validation.begin(), split.validation.end());
      std::sort(all.begin(), all.end());
      ASSERT_EQ(all.size(), rows);
      for (std::size_t i = 0; i < rows; ++i) ASSERT_EQ(all[i], i);
      EXPECT_TRUE(std::is_sorted(split.training.begin(), split.training.end()));
      EXPECT_TRUE(std::is_sorted(split.validation.begin(), split.validation.end()));
      if (rows > 1 && fraction > 0) {
        EXPECT_GE(split.validation.size(), 1u);
        EXPECT_GE(split.training.size(), 1u);
      }
      EXPECT_TRUE(fraction > 0 || split.validation.empty());
    }
  }
}

TEST(Split, SizeIsTheFraction) {
  EXPECT_EQ(split_rows(1000, 0.2, 1).validation.size(), 200u);
  EXPECT_EQ(split_rows(7, 0.5, 1).validation.size(), 4u);
}

TEST(Split, DependsOnTheSeedAlone) {
  const Split split = split_rows(1000, 0.3, 5);
  EXPECT_EQ(split.validation, split_rows(1000, 0.3, 5).validation);
  EXPECT_NE(split.validation, split_rows(1000, 0.3, 6).validation);
}

TEST(Split, HoldsOutAllPartsOfTheTable) {
  // 2,000 of 20,000 rows; each tenth holds 200 with a standard deviation of 12.7.
  const Split split = split_rows(20'000, 0.1, 3);
  std::vector<int> tenths(10);
  for (const std::size_t row : split.validation) ++tenths[row / 2000];
  for (const int count : tenths) EXPECT_NEAR(count, 200, 5 * 12.7);
}

TEST(Split, FractionFallsWithTheLogarithmOfRows) {
  EXPECT_DOUBLE_EQ(validation_fraction(0), 0.2);
  EXPECT_DOUBLE_EQ(validation_fraction(1000), 0.2);
  EXPECT_NEAR(validation_fraction(3162), 0.15, 1e-5);
  EXPECT_DOUBLE_EQ(validation_fraction(10'000), 0.1);
  EXPECT_DOUBLE_EQ(validation_fraction(10'000'000), 0.1);
}

TEST(Split, RefusesOtherFractions) {
  for (const double fraction : {-0.1, 1.0, std::nan("")}) {
    EXPECT_THROW(split_rows(10, fraction, 1), std::invalid_argument);
  }
}

TEST(RandomParts, AreEquallyLargeAndDependOnTheSeedAlone) {
  const std::vector<std::size_t> part = random_parts(1003, 10, 5);
  ASSERT_EQ(part.size(), 1003U);
  std::vector<int> sizes(10);
  for (const std::size_t p : part) ++sizes.at(p);
  for (const int size : sizes) EXPECT_TRUE(size == 100 || size == 101) << size;
  EXPECT_EQ(part, random_parts(1003, 10, 5));
  EXPECT_NE(part, random_parts(1003, 10, 6));
  // Not in the table's order: of the first tenth's 100 rows 10 are in each part, with a standard
  // deviation of 3.
  std::vector<int> first(10);
  for (std::size_t row = 0; row < 100; ++row) ++first[part[row]];
  for (const int count : first) EXPECT_NEAR(count, 10, 5 * 3);
  EXPECT_THROW(random_parts(3, 4, 1), std::invalid_argument);
  EXPECT_THROW(random_parts(3, 0, 1), std::invalid_argument);
}

TEST(Split, KeepsRowsForCalibrationApart) {
  EXPECT_EQ(calibration_fraction(999), 0);
  EXPECT_DOUBLE_EQ(calibration_fraction(1000), 0.1);
  EXPECT_DOUBLE_EQ(calibration_fraction(10'000), 0.05);
  EXPECT_DOUBLE_EQ(calibration_fraction(100'000), 0.01);
  const Split split = split_rows(200, 0.25, 0.2, 3);
  EXPECT_EQ(split.calibration.size(), 40u);
  EXPECT_EQ(split.validation.size(), 40u);
  std::vector<std::size_t> all = split.training;
  for (const auto& part : {split.validation, split.calibration}) {
    EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), 200u);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i);
  EXPECT_EQ(split_rows(200, 0.25, 0, 3).training, split_rows(200, 0.25, 3).training);
}

TEST(SplitGroups, KeepsGroupsTogetherAndHoldsEnoughOut) {
  std::vector<std::size_t> groups;
  for (std::size_t row = 0; row < 100; ++row) groups.push_back(row / 7);
  const Split split = split_groups(groups, 0.2, 3);
  std::set<std::size_t> held_out;
  for (const std::size_t row : split.validation) held_out.insert(groups[row]);
  for (const std::size_t row : split.training) EXPECT_FALSE(held_out.contains(groups[row]));
  EXPECT_EQ(split.training.size() + split.validation.size(), 100u);
  EXPECT_GE(split.validation.size(), 20u);
  EXPECT_LT(split.validation.size(), 27u);
  EXPECT_EQ(split_groups(groups, 0.2, 3).validation, split.validation);
  EXPECT_NE(split_groups(groups, 0.2, 4).validation, split.validation);
}

TEST(SplitGroups, NeverHoldsAllGroupsOut) {
  const std::vector<std::size_t> two = {0, 0, 0, 1};
  EXPECT_FALSE(split_groups(two, 0.9, 1).training.empty());
  const std::vector<std::size_t> one = {5, 5};
  EXPECT_THROW(split_groups(one, 0.5, 1), std::invalid_argument);
  EXPECT_THROW(split_groups(two, 0, 1), std::invalid_argument);
}

TEST(RandomRows, AreSomeOfThemInOrder) {
  const std::vector<std::size_t> rows = {3, 9, 12, 40, 41};
  const std::vector<std::size_t> some = random_rows(rows, 3, 1);
  EXPECT_EQ(some.size(), 3u);
  EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
  EXPECT_TRUE(std::includes(rows.begin(), rows.end(), some.begin(), some.end()));
  EXPECT_EQ(random_rows(rows, 9, 1), rows);
}

}  // namespace
}  // namespace jeffreys
