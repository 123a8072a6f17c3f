// Tables of numbers as matrices, and back.
#include <gmock/gmock.h>

#include "jeffreys/base/input_error.h"
#include "support/mistake_of.h"
#include "table/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(TableOfMatrix, IsTheWayBack) {
  const Matrix<double> values = Matrix<double>::Random(7, 3);
  const Table table = table_from_matrix(values, {"a", "b", "c"});
  EXPECT_EQ(table.rows(), 7U);
  EXPECT_EQ(matrix_from_table(table, {"a", "b", "c"}), values);
  EXPECT_EQ(matrix_from_table(table, {"c"}), values.col(2));
  EXPECT_EQ(mistake_of([&] {
              (void)table_from_matrix(values, {"a", "b"});
            }),
            "names: expected one for each of 3 columns, got 2");
}

TEST(MatrixOfTable, HasFiniteNumbersAlone) {
  const Table table =
      TableMaker().numbers("x", {1, 2}).numbers("hole", {1, NAN}).text("g", {"u", "v"}).table();
  const auto expect = [&](const char* name, const char* problem) {
    EXPECT_THAT(
        [&] {
          (void)matrix_from_table(table, {"x", name});
        },
        ThrowsMessage<InputError>(HasSubstr(problem)));
  };
  expect("hole", "t.csv:3:2: column 'hole' has a cell that is no finite number");
  expect("g", "t.csv:2:3: column 'g' has a cell that is no finite number");
  expect("y", "there is no column 'y'; it needs the columns x, y");
}

TEST(OrderedByContent, DoesNotDependOnTheOrderOfRows) {
  const double none = std::nan("");
  const auto table = [](const std::vector<double>& a, const std::vector<std::string>& b,
                        const std::vector<double>& id) {
    return TableMaker().numbers("a", a).text("b", b).numbers("id", id).table();
  };
  const Table one = ordered_by_content(table({2, none, 1, 1}, {"y", "x", "z", ""}, {4, 3, 2, 1}));
  const Table two = ordered_by_content(table({1, 1, none, 2}, {"", "z", "x", "y"}, {1, 2, 3, 4}));
  EXPECT_EQ(one.columns[2].numbers, two.columns[2].numbers);
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(one.columns[1].text(row), two.columns[1].text(row));
    // Lines stay those of the rows: the first one was on line 2, with the id 4.
    EXPECT_EQ(static_cast<double>(one.line(row)), 6 - one.columns[2].numbers[row]);
  }
  // A column that does not count leaves rows that are else equal as they are.
  const auto ids = [&](const std::vector<double>& id) {
    return ordered_by_content(table({1, 1}, {"x", "x"}, id), {"id"}).columns[2].numbers;
  };
  const std::vector<double> first = ids({2, 1});
  EXPECT_EQ(ids({1, 2}), (std::vector<double>{first[1], first[0]}));
}

}  // namespace
}  // namespace jeffreys::testing
