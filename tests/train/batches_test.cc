// Which rows each iteration sees.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "train/batches.h"

namespace jeffreys {
namespace {

constexpr Eigen::Index kBatchedRows = 23;

// Row i is (i, i + 0.5), its context 100 + i.
struct Rows : TrainingData<double> {
  Rows() {
    x.resize(kBatchedRows, 2);
    context.resize(kBatchedRows, 1);
    for (Eigen::Index i = 0; i < kBatchedRows; ++i) {
      const auto number = static_cast<double>(i);
      x.row(i) << number, number + 0.5;
      context(i, 0) = 100 + number;
    }
  }
};

std::vector<double> first_column(const Batches<double>& batches) {
  std::vector<double> result;
  for (Eigen::Index i = 0; i < batches.x().rows(); ++i) result.push_back(batches.x()(i, 0));
  return result;
}

// The order of all rows in one epoch of batches of 5: five batches, the last of 3.
std::vector<double> epoch(Batches<double>& batches, std::int64_t number) {
  std::vector<double> order;
  for (std::int64_t i = 0; i < 5; ++i) {
    batches.move_to(5 * number + i);
    const std::vector<double> part = first_column(batches);
    EXPECT_EQ(part.size(), i < 4 ? 5U : 3U);
    order.insert(order.end(), part.begin(), part.end());
  }
  return order;
}

TEST(Batches, VisitEveryRowOnceInEachEpoch) {
  const Rows rows;
  Batches<double> batches(rows, 5, 1);
  std::vector<double> all(kBatchedRows);
  for (Eigen::Index i = 0; i < kBatchedRows; ++i) all[static_cast<std::size_t>(i)] = rows.x(i, 0);
  std::vector<std::vector<double>> orders;
  for (std::int64_t number = 0; number < 4; ++number) {
    orders.push_back(epoch(batches, number));
    std::vector<double> sorted = orders.back();
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, all) << "epoch " << number;
    EXPECT_NE(orders.back(), all) << "epoch " << number;
    for (std::int64_t before = 0; before < number; ++before) {
      EXPECT_NE(orders.back(), orders[static_cast<std::size_t>(before)]);
    }
  }
}

TEST(Batches, KeepRowAndContextTogether) {
  const Rows rows;
  Batches<double> batches(rows, 5, 1);
  for (std::int64_t i = 0; i < 12; ++i) {
    batches.move_to(i);
    ASSERT_EQ(batches.context().rows(), batches.x().rows());
    for (Eigen::Index r = 0; r < batches.x().rows(); ++r) {
      EXPECT_EQ(batches.x()(r, 1), batches.x()(r, 0) + 0.5);
      EXPECT_EQ(batches.context()(r, 0), batches.x()(r, 0) + 100);
    }
  }
}

// As after a resume.
TEST(Batches, DependOnTheIterationAlone) {
  const Rows rows;
  Batches<double> in_order(rows, 5, 1);
  Batches<double> jumping(rows, 5, 1);
  std::vector<std::vector<double>> expected;
  for (std::int64_t i = 0; i < 17; ++i) {
    in_order.move_to(i);
    expected.push_back(first_column(in_order));
  }
  for (const std::int64_t i : {16, 3, 9, 0, 16, 4, 5}) {
    jumping.move_to(i);
    EXPECT_EQ(first_column(jumping), expected[static_cast<std::size_t>(i)]) << i;
  }
}

TEST(Batches, DependOnTheSeed) {
  const Rows rows;
  Batches<double> one(rows, 5, 1);
  Batches<double> two(rows, 5, 2);
  EXPECT_NE(epoch(one, 0), epoch(two, 0));
}

// 2000 epochs: a row comes first in 1/23 of them, 87 with a standard error of 9.
TEST(Batches, BringEveryRowToTheFrontEquallyOften) {
  const Rows rows;
  Batches<double> batches(rows, 5, 3);
  std::vector<int> first(kBatchedRows, 0);
  for (std::int64_t number = 0; number < 2000; ++number) {
    batches.move_to(5 * number);
    ++first[static_cast<std::size_t>(batches.x()(0, 0))];
  }
  for (const int count : first) EXPECT_NEAR(count, 2000.0 / kBatchedRows, 4 * 9.1);
}

TEST(Batches, AreAllRowsInTheirOrderWithoutASize) {
  const Rows rows;
  for (const Eigen::Index size : {Eigen::Index{0}, kBatchedRows, kBatchedRows + 1}) {
    Batches<double> batches(rows, size, 1);
    batches.move_to(3);
    EXPECT_EQ(batches.x(), rows.x) << size;
    EXPECT_EQ(batches.context(), rows.context) << size;
  }
}

TEST(Batches, TakeRowsWithoutContext) {
  Rows rows;
  rows.context.resize(kBatchedRows, 0);
  Batches<double> batches(rows, 5, 1);
  batches.move_to(4);
  EXPECT_EQ(batches.context().rows(), 3);
  EXPECT_EQ(batches.context().cols(), 0);
}

// Each iteration sees its rows as they are redrawn, and only a copy of them.
TEST(Batches, AreRedrawnInEveryIteration) {
  Rows rows;
  const Matrix<double> original = rows.x;
  rows.redraw = [](std::int64_t iteration, std::span<const std::size_t> numbers,
                   Matrix<double>& x) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      EXPECT_EQ(x(row, 0), static_cast<double>(numbers[i]));
      x(row, 1) = 1000 * static_cast<double>(iteration) + static_cast<double>(numbers[i]);
    }
  };
  for (const Eigen::Index size : {Eigen::Index{0}, Eigen::Index{5}}) {
    Batches<double> batches(rows, size, 1);
    for (const std::int64_t iteration : {4, 2, 7}) {
      batches.move_to(iteration);
      for (Eigen::Index r = 0; r < batches.x().rows(); ++r) {
        EXPECT_EQ(batches.x()(r, 1), 1000 * static_cast<double>(iteration) + batches.x()(r, 0));
      }
    }
  }
  EXPECT_EQ(rows.x, original);
}

}  // namespace
}  // namespace jeffreys
