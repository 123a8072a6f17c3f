#include <gtest/gtest.h>

#include "jeffreys/table/table.h"
#include "table/tables.h"

namespace jeffreys::testing {
namespace {

TEST(TakeRows, KeepsCellsAndLinesAndForgetsLabels) {
  Table table =
      TableMaker().numbers("x", {1, 2, 3, 4}).text("colour", {"red", "green", "", "blue"}).table();
  table.anchors = {{0, 2}, {2, 10}};
  const std::vector<std::size_t> rows = {3, 1, 2};
  const Table taken = take_rows(table, rows);
  EXPECT_EQ(taken.rows(), 3u);
  EXPECT_EQ(taken.columns[0].numbers, (std::vector<double>{4, 2, 3}));
  EXPECT_EQ(taken.columns[1].labels, (std::vector<std::string>{"blue", "green"}));
  EXPECT_EQ(taken.columns[1].text(0), "blue");
  EXPECT_EQ(taken.columns[1].text(1), "green");
  EXPECT_TRUE(taken.columns[1].missing(2));
  EXPECT_EQ(taken.line(0), 11u);
  EXPECT_EQ(taken.line(1), 3u);
  EXPECT_EQ(taken.line(2), 10u);
}

}  // namespace
}  // namespace jeffreys::testing
