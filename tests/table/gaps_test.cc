// Tables with missing cells that are kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/refusal_of.h"
#include "table/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

SchemaOptions keep() {
  SchemaOptions options;
  options.missing = Missing::keep;
  return options;
}

// The mixed table with a gap in each of its kinds of columns, the first in row 0.
Table mixed_with_gaps() {
  Table table = mixed_table();
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    Column& column = table.columns[i];
    for (std::size_t row = i; row < column.rows(); row += 10) {
      if (column.is_text()) {
        column.codes[row] = -1;
      } else {
        column.numbers[row] = kGap;
      }
    }
  }
  return table;
}

TEST(TableGaps, LeaveTheOtherNumbersOfARowAsTheyAre) {
  SchemaOptions options = mixed_options();
  options.missing = Missing::keep;
  const Table gapped = mixed_with_gaps();
  const Schema schema = Schema::fit(gapped, options);
  const Schema::Encoded with_gaps = schema.encode(gapped);
  const Schema::Encoded whole = schema.encode(mixed_table());
  // Only rows without the condition, the seventh column, are left out.
  EXPECT_EQ(with_gaps.dropped, 20U);
  EXPECT_EQ(whole.gaps.size(), 0);
  for (Eigen::Index r = 0; r < with_gaps.size(); ++r) {
    const auto row = static_cast<Eigen::Index>(with_gaps.rows[static_cast<std::size_t>(r)]);
    EXPECT_EQ(with_gaps.has_gaps(r), row % 10 < 6);
    for (Eigen::Index j = 0; j < with_gaps.x.cols(); ++j) {
      EXPECT_EQ(with_gaps.x(r, j), with_gaps.gaps(r, j) ? 0 : whole.x(row, j));
    }
    if (!with_gaps.has_gaps(r)) {
      EXPECT_EQ(with_gaps.log_jacobian(r), whole.log_jacobian(row));
    }
  }
}

TEST(TableGaps, StayWhereRowsArePlacedInTheirCells) {
  const Table table = TableMaker()
                          .numbers("count", {1, 2, 3, kGap, 2, 1, 3, 2, 1, 2, 3, 1})
                          .numbers("x", normal_numbers(12, 1))
                          .table();
  const Schema::Encoded rows = Schema::fit(table, keep()).encode(table);
  ASSERT_EQ(rows.cells.open(), 1);
  Matrix<double> x = rows.x(std::vector<std::size_t>{3, 4}, Eigen::all);
  x(0, 0) = 9;
  Vector<double> log_jacobian;
  rows.cells.place(std::vector<std::size_t>{3, 4}, Matrix<double>::Constant(2, 1, 0.9), x,
                   &log_jacobian);
  EXPECT_EQ(x(0, 0), 9);
  EXPECT_GT(x(1, 0), rows.x(4, 0));
  EXPECT_EQ(log_jacobian(0), rows.log_jacobian(3));
}

TEST(TableGaps, MayBeWholeColumnsWhereThatIsAskedFor) {
  const Table table = mixed_table();
  const Schema schema = Schema::fit(table, mixed_options());
  const Table some = TableMaker().numbers("given", {0.5}).numbers("count", {3}).table();
  const Schema::Encoded known = schema.encode_known(some);
  ASSERT_EQ(known.size(), 1);
  EXPECT_EQ(known.gaps.count(), known.x.cols() - 1);
  EXPECT_THAT(refusal_of([&] { schema.encode(some); }), HasSubstr("there is no column"));
  EXPECT_THAT(refusal_of([&] { schema.encode_known(TableMaker().numbers("count", {3}).table()); }),
              HasSubstr("\"given\""));
}

TEST(TableGaps, HideNeitherConstantsNorCopies) {
  std::vector<double> a = normal_numbers(40, 1);
  std::vector<double> copy = a;
  std::vector<double> constant(40, 7);
  a[0] = copy[5] = constant[0] = kGap;
  const Table table = TableMaker()
                          .numbers("a", a)
                          .numbers("copy", copy)
                          .numbers("constant", constant)
                          .numbers("empty", std::vector<double>(40, kGap))
                          .table();
  const Schema schema = Schema::fit(table, keep());
  EXPECT_EQ(schema.feature_names(), std::vector<std::string>{"a"});
  EXPECT_EQ(info_of(schema, "copy").role, ColumnRole::copy);
  EXPECT_EQ(info_of(schema, "constant").role, ColumnRole::constant);
  EXPECT_EQ(info_of(schema, "empty").role, ColumnRole::left_out);
}

TEST(TableGaps, AreInTheJson) {
  SchemaOptions options = keep();
  options.weights = "w";
  const Table table = TableMaker()
                          .numbers("x", normal_numbers(20, 1))
                          .numbers("w", std::vector<double>(20, 2))
                          .table();
  const Schema schema = Schema::fit(table, options);
  const Schema read = Schema::from_json(schema.to_json(), "f");
  EXPECT_EQ(read, schema);
  EXPECT_EQ(read.missing(), Missing::keep);
  EXPECT_EQ(read.weights(), "w");
}

TEST(TableGaps, NeedAValueInEveryColumnThatIsUsed) {
  // The only values of y are in rows without the condition.
  std::vector<double> y(30, kGap);
  std::vector<double> c = normal_numbers(30, 2);
  y[3] = y[4] = 1;
  c[3] = c[4] = kGap;
  const Table table =
      TableMaker().numbers("x", normal_numbers(30, 1)).numbers("y", y).numbers("c", c).table();
  SchemaOptions options = keep();
  options.condition = {"c"};
  EXPECT_THAT(refusal_of([&] { Schema::fit(table, options); }),
              AllOf(HasSubstr("\"y\""), HasSubstr("--ignore y")));
}

}  // namespace
}  // namespace jeffreys::testing
