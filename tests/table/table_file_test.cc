#include "jeffreys/table/table_file.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "jeffreys/storage/npy.h"
#include "jeffreys/storage/npz.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using jeffreys::testing::bytes_of;
using jeffreys::testing::ScratchTest;
using ::testing::ElementsAre;
using ::testing::IsNan;

class TableFile : public ScratchTest {
 protected:
  Table read(std::string_view bytes, const TableOptions& options = {}) const {
    return read_table(file("a.csv", bytes), options);
  }
};

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

std::vector<std::string> cells_of(const Column& column) {
  std::vector<std::string> cells;
  for (std::size_t row = 0; row < column.rows(); ++row) cells.push_back(column.text(row));
  return cells;
}

std::string csv_of(const Table& table) {
  std::string text;
  write_csv(table, [&](std::string_view piece) { text += piece; });
  return text;
}

TEST_F(TableFile, ReadsNumbersAndText) {
  const Table table = read("a,b\n1.5,red\n-2e3,blue\n+3,red\n");
  EXPECT_THAT(names_of(table), ElementsAre("a", "b"));
  EXPECT_THAT(table.columns[0].numbers, ElementsAre(1.5, -2000, 3));
  EXPECT_FALSE(table.columns[0].is_text());
  EXPECT_THAT(table.columns[1].labels, ElementsAre("red", "blue"));
  EXPECT_THAT(table.columns[1].codes, ElementsAre(0, 1, 0));
  EXPECT_EQ(table.columns[1].place, 2u);
  EXPECT_EQ(table.find("b"), &table.columns[1]);
  EXPECT_EQ(table.find("c"), nullptr);
}

TEST_F(TableFile, FindsTheDelimiter) {
  for (const std::string delimiter : {",", ";", "\t", "|"}) {
    const Table table = read("a" + delimiter + "b\n1" + delimiter + "2\n3" + delimiter + "4\n");
    EXPECT_THAT(names_of(table), ElementsAre("a", "b")) << delimiter;
    EXPECT_THAT(table.columns[1].numbers, ElementsAre(2, 4)) << delimiter;
  }
  EXPECT_THAT(names_of(read("a;b\nx,y;1\nz,w;2\n")), ElementsAre("a", "b"));
  EXPECT_THAT(names_of(read("a;b\nx,y;1\nz,w;2\n", {.header = Header::no, .delimiter = ';'})),
              ElementsAre("x1", "x2"));
  EXPECT_THAT(read("7\n8\n").columns.at(0).numbers, ElementsAre(7, 8));
  EXPECT_THROW((TableOptions{.delimiter = ':'}.validate()), std::invalid_argument);
}

TEST_F(TableFile, EmptyTabSeparatedCellsAreMissing) {
  const Table table = read("a\tb\tc\n1\t\t3\n\t\t6\n");
  EXPECT_EQ(table.columns.size(), 3u);
  EXPECT_THAT(table.columns[0].numbers, ElementsAre(1, IsNan()));
  EXPECT_THAT(table.columns[2].numbers, ElementsAre(3, 6));
}

TEST_F(TableFile, FindsTheHeader) {
  EXPECT_THAT(names_of(read("1,2\n3,4\n")), ElementsAre("x1", "x2"));
  EXPECT_THAT(names_of(read("red,1\nblue,2\n")), ElementsAre("x1", "x2"));
  EXPECT_THAT(names_of(read("colour,size\nred,big\nblue,small\n")), ElementsAre("colour", "size"));
  EXPECT_THAT(names_of(read("red,big\nblue,small\nred,small\n")), ElementsAre("x1", "x2"));
  EXPECT_THAT(names_of(read("NA,NA\n1,2\n")), ElementsAre("x1", "x2"));
  // As pandas writes a table with its index.
  EXPECT_THAT(names_of(read(",a\n0,5\n1,6\n")), ElementsAre("x1", "a"));
  EXPECT_THAT(names_of(read("2019,2020\n1,2\n", {.header = Header::yes})),
              ElementsAre("2019", "2020"));
  EXPECT_EQ(read("a,b\n1,2\n", {.header = Header::no}).rows(), 2u);
}

// A table that a model waits for has a header if it has the model's columns, whatever is below.
TEST_F(TableFile, KnownColumnsMakeAHeader) {
  const std::string text = "2019,mark\n2018,x\n";
  EXPECT_EQ(read(text).rows(), 2u);
  TableOptions known{.text_columns = {"mark"}, .notations = {{"2019", Notation{.decimals = 0}}}};
  EXPECT_THAT(names_of(read(text, known)), ElementsAre("2019", "mark"));
  EXPECT_EQ(read("2018,x\n2017,y\n", known).rows(), 2u);
  known.header = Header::no;
  EXPECT_EQ(read(text, known).rows(), 2u);
}

TEST_F(TableFile, LinesAreThoseOfTheFile) {
  const Table table = read(
      "\xef\xbb\xbf# made by hand\r\na,b\r\n\r\n1,\"two\r\nlines, \"\"quoted\"\"\"\r\n# more\r\n"
      "2,x\r\n3,y\r\n");
  EXPECT_THAT(names_of(table), ElementsAre("a", "b"));
  EXPECT_EQ(table.columns[1].text(0), "two\r\nlines, \"quoted\"");
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(table.line(0), 4u);
  EXPECT_EQ(table.line(1), 7u);
  EXPECT_EQ(table.line(2), 8u);
}

TEST_F(TableFile, ReadsOldLineEndsAndAMissingLast) {
  const Table table = read("a,b\r1,2\r3,4");
  EXPECT_THAT(table.columns[1].numbers, ElementsAre(2, 4));
  EXPECT_EQ(table.line(1), 3u);
}

TEST_F(TableFile, ADelimiterAtTheEndOfEveryRowIsNoColumn) {
  EXPECT_THAT(names_of(read("a,b,\n1,2,\n3,4,\n")), ElementsAre("a", "b"));
  EXPECT_THAT(names_of(read("1,2,\n3,4,\n")), ElementsAre("x1", "x2"));
  EXPECT_THAT(names_of(read("1,2,\n3,4,5\n")), ElementsAre("x1", "x2", "x3"));
}

TEST_F(TableFile, KnowsMissingCells) {
  const Table table = read("a,b\n1,x\n,\"\"\nNA,N/A\nNaN,nan\nnull,?\n2,y\n3,z\n");
  EXPECT_EQ(table.columns[0].text_cells, 0u);
  EXPECT_THAT(cells_of(table.columns[0]), ElementsAre("1", "", "", "", "", "2", "3"));
  EXPECT_THAT(cells_of(table.columns[1]), ElementsAre("x", "", "", "", "", "y", "z"));
}

TEST_F(TableFile, TheMajorityOfCellsMakesAColumnTextOrNumbers) {
  const Table table = read("a,b\n1,x\n2,y\noops,3\n4,05\n5,z\n");
  EXPECT_EQ(table.columns[0].text_cells, 1u);
  EXPECT_EQ(table.columns[0].first_text, "oops");
  EXPECT_EQ(table.columns[0].first_text_row, 2u);
  EXPECT_THAT(table.columns[0].numbers, ElementsAre(1, 2, IsNan(), 4, 5));
  EXPECT_THAT(cells_of(table.columns[1]), ElementsAre("x", "y", "3", "05", "z"));
}

TEST_F(TableFile, TheBeginningOfAColumnDoesNotDeceive) {
  std::string text = "a,b\n";
  for (int i = 0; i < 2000; ++i) text += "x,1\n";
  for (int i = 0; i < 3000; ++i) text += "1,07\n";
  for (int i = 0; i < 6000; ++i) text += "2,y\n";
  const Table table = read(text);
  EXPECT_EQ(table.columns[0].text_cells, 2000u);
  EXPECT_EQ(table.columns[0].numbers.back(), 2);
  EXPECT_THAT(table.columns[1].labels, ElementsAre("1", "07", "y"));
  EXPECT_EQ(table.line(10999), 11001u);
}

TEST_F(TableFile, DeclaredColumnsAreText) {
  const Table table = read("code,b\n01,1\n1,2\n", {.text_columns = {"code", "other"}});
  EXPECT_THAT(table.columns[0].labels, ElementsAre("01", "1"));
  EXPECT_FALSE(table.columns[1].is_text());
}

TEST_F(TableFile, RecordsCrossBlocks) {
  std::string text = "a,b\n";
  std::vector<double> expected;
  for (int i = 0; i < 150'000; ++i) {
    expected.push_back(i + 0.125);
    text += std::to_string(i) + ".125,\"x\ny\"\n";
  }
  const Table table = read(text);
  EXPECT_EQ(table.columns[0].numbers, expected);
  EXPECT_EQ(table.columns[1].labels.size(), 1u);
  EXPECT_EQ(table.line(149'999), 2u + 2 * 149'999);
}

TEST_F(TableFile, WhatIsWrittenReadsBack) {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  Table table;
  table.columns.resize(3);
  table.columns[0].name = "number, with comma";
  table.columns[0].numbers = {0.1, -1e-300, kMissing, 1.0 / 3, 123456789012345678.0};
  table.columns[1].name = "text";
  table.columns[1].labels = {"a \"quote\"", "two\nlines", " blank ", "#hash", "semi;colon"};
  table.columns[1].codes = {0, 1, 2, 3, 4};
  table.columns[2].name = "more";
  table.columns[2].labels = {"x"};
  table.columns[2].codes = {0, -1, 0, -1, 0};
  write_table(path("b.csv"), table);
  const Table again = read_table(path("b.csv"));
  EXPECT_EQ(names_of(again), names_of(table));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(cells_of(again.columns[i]), cells_of(table.columns[i]));
  }
  EXPECT_EQ(csv_of(again), bytes_of(path("b.csv")));
}

TEST_F(TableFile, ASingleColumnKeepsItsMissingRows) {
  Table table;
  table.columns.resize(1);
  table.columns[0].name = "a";
  table.columns[0].numbers = {1, std::numeric_limits<double>::quiet_NaN(), 3};
  EXPECT_EQ(csv_of(table), "a\n1\nNA\n3\n");
  EXPECT_THAT(read(csv_of(table)).columns[0].numbers, ElementsAre(1, IsNan(), 3));
}

TEST_F(TableFile, ArraysComeAndGo) {
  std::vector<double> values(6);
  std::iota(values.begin(), values.end(), 0.0);
  const auto array = storage::Array::from<double>({3, 2}, values);
  storage::write_npy(path("a.npy"), array);
  const Table table = read_table(path("a.npy"));
  EXPECT_THAT(names_of(table), ElementsAre("x1", "x2"));
  EXPECT_THAT(table.columns[1].numbers, ElementsAre(1, 3, 5));
  EXPECT_EQ(table.line(0), 0u);
  write_table(path("b.npy"), table);
  EXPECT_EQ(storage::read_npy(path("b.npy")), array);
  write_table(path("b.npz"), table);
  EXPECT_EQ(storage::read_npz(path("b.npz")), (storage::Arrays{{"x", array}}));

  const auto whole = storage::Array::from<std::int32_t>({2}, std::vector<std::int32_t>{7, 8});
  storage::write_npz(path("c.npz"), {{"many", array}, {"few", whole}});
  EXPECT_EQ(read_table(path("c.npz")).columns.size(), 2u);
  EXPECT_THAT(read_table(path("c.npz"), {.array = "few"}).columns.at(0).numbers, ElementsAre(7, 8));
}

}  // namespace
}  // namespace jeffreys
