// Can a synthetic table be published?
#include "jeffreys/fit/synthetic_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fit/closest_rows.h"
#include "jeffreys/base/input_error.h"
#include "support/mistake_of.h"
#include "table/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::HasSubstr;

// Two dependent numbers and a label that depends on the first.
Table rows_of(std::size_t rows, std::uint64_t seed) {
  std::vector<double> x = normal_numbers(rows, seed);
  std::vector<double> y = normal_numbers(rows, seed + 1000);
  std::vector<std::string> colour;
  for (std::size_t r = 0; r < rows; ++r) {
    y[r] = 100 + 10 * (x[r] + 0.5 * y[r]);
    colour.emplace_back(x[r] > 0.5 ? "red" : "blue");
  }
  Table table = TableMaker().numbers("x", x).numbers("y", y).text("colour", colour).table();
  table.source = "rows";
  return table;
}

// Rows of the second table in the place of the first ones of the first, moved by so much.
Table with_copies(Table table, const Table& from, std::size_t count, double moved = 0) {
  for (std::size_t r = 0; r < count; ++r) {
    table.columns[0].numbers[r] = from.columns[0].numbers[3 * r] + moved;
    table.columns[1].numbers[r] = from.columns[1].numbers[3 * r];
    const std::string label = from.columns[2].text(3 * r);
    const auto& labels = table.columns[2].labels;
    table.columns[2].codes[r] =
        static_cast<std::int32_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
  }
  return table;
}

TEST(SyntheticCheck, RowsOfTheSameSourcePass) {
  const Table real = rows_of(600, 1);
  const SyntheticCheck check = check_synthetic(Schema::fit(real, {}), real, rows_of(900, 2));
  EXPECT_FALSE(check.copied);
  EXPECT_THAT(check.verdict, HasSubstr("no copies found"));
  EXPECT_THAT(check.verdict, HasSubstr("cannot tell"));
  EXPECT_TRUE(check.closest.copies.empty());
  ASSERT_EQ(check.columns.size(), 3u);
  ASSERT_EQ(check.pairs.size(), 3u);
  for (const auto& list : {check.columns, check.pairs}) {
    for (const ShapeDistance& each : list) EXPECT_LT(each.distance, 1.3 * each.chance);
  }
  // Standard error of the share of 900 rows: 0.01, and of the limit: 0.01.
  EXPECT_NEAR(static_cast<double>(check.closest.too_close) / 900, 0.05, 0.045);
}

TEST(SyntheticCheck, FindsPlantedCopies) {
  const Table real = rows_of(600, 1);
  const Table planted = with_copies(rows_of(900, 2), real, 7);
  const SyntheticCheck check = check_synthetic(Schema::fit(real, {}), real, planted);
  EXPECT_TRUE(check.copied);
  ASSERT_EQ(check.closest.copies.size(), 7u);
  for (std::size_t r = 0; r < 7; ++r) {
    EXPECT_EQ(check.closest.copies[r].synthetic, r);
    EXPECT_EQ(check.closest.copies[r].training, 3 * r);
  }
  EXPECT_THAT(check.verdict, HasSubstr("do not publish it: 7 of 900 synthetic rows equal"));
}

TEST(SyntheticCheck, FindsCopiesThatWereMovedALittle) {
  const Table real = rows_of(600, 1);
  const Table planted = with_copies(rows_of(900, 2), real, 60, 1e-3);
  const SyntheticCheck check = check_synthetic(Schema::fit(real, {}), real, planted);
  EXPECT_TRUE(check.closest.copies.empty());
  EXPECT_TRUE(check.copied) << check.closest.p_value;
  EXPECT_THAT(check.verdict, HasSubstr("closer"));
}

TEST(SyntheticCheck, HeldOutRowsAreComparedWithTrainingRows) {
  const Table training = rows_of(500, 1);
  const Table real = rows_of(400, 2);
  const Table planted = with_copies(rows_of(300, 3), training, 5);
  const Schema schema = Schema::fit(training, {});
  EXPECT_EQ(check_synthetic(schema, real, planted, &training).closest.copies.size(), 5u);
  EXPECT_EQ(check_synthetic(schema, real, planted).closest.copies.size(), 0u)
      << "copies of training rows are no copies of the others";
}

// Whole numbers come twice by chance, in real rows and in synthetic ones.
TEST(SyntheticCheck, RepeatedValuesAreNoCopies) {
  const auto whole = [](std::size_t rows, std::uint64_t seed) {
    const auto rounded = [](double x) { return std::round(2 * x); };
    return TableMaker()
        .numbers("a", transformed(normal_numbers(rows, seed), rounded))
        .numbers("b", transformed(normal_numbers(rows, seed + 1), rounded))
        .table();
  };
  const Table real = whole(500, 1);
  const SyntheticCheck check = check_synthetic(Schema::fit(real, {}), real, whole(500, 5));
  EXPECT_GT(check.closest.copies.size(), 300u);
  EXPECT_FALSE(check.copied);
  EXPECT_THAT(check.verdict, HasSubstr("look at the copies"));
}

// A table in which real rows come twice does not hide synthetic rows that are too close.
TEST(SyntheticCheck, DoubledRowsHideNothing) {
  const Table once = rows_of(600, 1);
  std::vector<std::size_t> rows(700);
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = r % 600;
  const Table real = take_rows(once, rows);
  const Table planted = with_copies(rows_of(900, 2), once, 60, 1e-3);
  const SyntheticCheck check = check_synthetic(Schema::fit(real, {}), real, planted);
  EXPECT_EQ(check.closest.real_copies, 200u);
  EXPECT_TRUE(check.copied) << check.closest.p_value;
  EXPECT_FALSE(check_synthetic(Schema::fit(real, {}), real, rows_of(900, 2)).copied);
}

TEST(SyntheticCheck, SeesWrongColumnsAndPairs) {
  const Table real = rows_of(600, 1);
  Table synthetic = rows_of(600, 2);
  // The same columns, but nothing in common.
  std::reverse(synthetic.columns[1].numbers.begin(), synthetic.columns[1].numbers.end());
  const SyntheticCheck shuffled = check_synthetic(Schema::fit(real, {}), real, synthetic);
  EXPECT_LT(shuffled.columns[1].distance, shuffled.columns[1].chance);
  EXPECT_GT(shuffled.pairs[0].distance, 2 * shuffled.pairs[0].chance);
  EXPECT_GT(shuffled.classifier.accuracy, 0.6);  // its standard error: 0.025
  EXPECT_THAT(shuffled.verdict, HasSubstr("can tell"));
  for (double& value : synthetic.columns[1].numbers) value += 5;
  const SyntheticCheck moved = check_synthetic(Schema::fit(real, {}), real, synthetic);
  EXPECT_GT(moved.columns[1].distance, moved.columns[1].chance);
  ASSERT_FALSE(moved.warnings.empty());
  EXPECT_THAT(moved.warnings[0], HasSubstr("column y"));
}

TEST(SyntheticCheck, NeedsRows) {
  const Table real = rows_of(100, 1);
  const Schema schema = Schema::fit(real, {});
  EXPECT_THROW(static_cast<void>(check_synthetic(schema, real, rows_of(19, 2))), InputError);
}

TEST(HypergeometricTail, AgreesWithCounting) {
  // Two drawn of two marked and two others: both are marked in 1 of 6 draws, one or more in 5.
  EXPECT_NEAR(hypergeometric_tail(2, 2, 2, 2), 1.0 / 6, 1e-12);
  EXPECT_NEAR(hypergeometric_tail(1, 2, 2, 2), 5.0 / 6, 1e-12);
  EXPECT_NEAR(hypergeometric_tail(0, 2, 2, 2), 1, 1e-12);
}

}  // namespace
}  // namespace jeffreys::testing
