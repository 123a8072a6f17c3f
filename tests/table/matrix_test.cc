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

}  // namespace
}  // namespace jeffreys::testing
