#include "jeffreys/table/notation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <stdexcept>

#include "jeffreys/table/table_file.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using jeffreys::testing::ScratchTest;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;
using ::testing::Not;

class NotationTest : public ScratchTest {
 protected:
  Table read(std::string_view bytes, const TableOptions& options = {}) const {
    return read_table(file("a.csv", bytes), options);
  }
  // The numbers of the first column, whose cells are these.
  Column column(const std::vector<std::string>& cells, const TableOptions& options = {}) const {
    std::string text = "a;b\n";
    for (const std::string& cell : cells) text += cell + ";x\n";
    return read(text, options).columns.front();
  }
  // What is read is written as it was.
  void expect_same(const std::vector<std::string>& cells,
                   const std::vector<double>& numbers) const {
    const Column found = column(cells);
    ASSERT_FALSE(found.is_text()) << cells.front();
    EXPECT_EQ(found.numbers, numbers) << cells.front();
    for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(found.text(i), cells[i]);
  }
};

TEST_F(NotationTest, NumbersAsPeopleWriteThem) {
  expect_same({"1,5", "-2,25", "3"}, {1.5, -2.25, 3});
  expect_same({"1.234,50", "12,00", "-1.000.000,25"}, {1234.5, 12, -1000000.25});
  expect_same({"61.5%", "7.0%", "100.0%"}, {61.5, 7, 100});
  expect_same({"12,5 %", "-3,0 %"}, {12.5, -3});
  expect_same({"$1,234", "$12", "-$1,000,000"}, {1234, 12, -1000000});
  expect_same({"1.234,00 €", "5,50 €"}, {1234, 5.5});
  expect_same({"CHF 1'234.50", "CHF 12.00"}, {1234.5, 12});
  expect_same({"1 234", "56", "1 234 567"}, {1234, 56, 1234567});
  expect_same({"1\u00a0234,5", "56,0"}, {1234.5, 56});
  expect_same({"($1,234.00)", "$12.00"}, {-1234, 12});
  expect_same({"12 kg", "70 kg"}, {12, 70});
  expect_same({"007", "012", "123"}, {7, 12, 123});
  expect_same({"1.50", "2.00"}, {1.5, 2});
  EXPECT_EQ(column({"\u22125,5", "1,5"}).numbers, (std::vector{-5.5, 1.5}));
  EXPECT_EQ(column({"1,5e-3", "2"}).numbers, (std::vector{0.0015, 2.0}));
}

TEST_F(NotationTest, DatesAndTimes) {
  expect_same({"1970-01-02", "1969-12-31", "2024-02-29"}, {1, -1, 19782});
  expect_same({"31.12.2021", "01.01.2022"}, {18992, 18993});
  expect_same({"12/31/2021", "1/2/2022"}, {18992, 18994});
  expect_same({"31/12/2021", "02/01/2022"}, {18992, 18994});
  expect_same({"2021-03", "1970-01"}, {614, 0});
  expect_same({"02JAN2022", "31DEC2021"}, {18994, 18992});
  expect_same({"1970-01-01 00:01:05", "1970-01-02 00:00:00"}, {65, 86400});
  expect_same({"1970-01-01T00:00:00.250Z", "1970-01-01T00:00:01.125Z"}, {0.25, 1.125});
  expect_same({"01.01.1970 01:05", "02.01.1970 00:00"}, {3900, 86400});
  expect_same({"1/1/1970 1:05 PM", "1/31/1970 12:00 AM"}, {47100, 2592000});
  expect_same({"08:30", "17:05"}, {30600, 61500});
  EXPECT_EQ(column({"1970-01-01T02:00:00+01:00", "1970-07-01T02:00:00+02:00"}).numbers,
            (std::vector{3600.0, 181 * 86400.0}));
}

TEST_F(NotationTest, WhatIsNoNotationStaysText) {
  for (const std::vector<std::string>& cells : {std::vector<std::string>{"A1", "A2", "B7"},
                                                {"1,5", "red", "blue"},
                                                {"2021-02-30", "x", "y"},
                                                {"<5", "<7", "8"},
                                                {"1-2", "3-4", "5-6"},
                                                {"12 kg", "13 lb", "14 st"}}) {
    EXPECT_TRUE(column(cells).is_text()) << cells.front();
  }
}

TEST_F(NotationTest, AmbiguousCellsGoByTheOtherColumnsAndAreTold) {
  // In a file with decimal commas 1.234 means thousands.
  const Table german = read("a;b\n1.234;1,5\n567;2,25\n");
  EXPECT_THAT(german.columns[0].numbers, ElementsAre(1234, 567));
  EXPECT_THAT(german.notes, Contains(HasSubstr("could also be numbers with decimal points")));
  const Table plain = read("a;b\n1.234;1.5\n567;2.25\n");
  EXPECT_THAT(plain.columns[0].numbers, ElementsAre(1.234, 567));
  EXPECT_THAT(plain.notes, IsEmpty());
  EXPECT_THAT(read("a\tb\n1,234\t1.5\n5,678\t2\n").columns[0].numbers, ElementsAre(1234, 5678));
  EXPECT_THAT(read("a;b\n1,234;x\n5,678;y\n").columns[0].numbers, ElementsAre(1.234, 5.678));
  const Table dates = read("a,b\n1/2/2021,1\n3/4/2021,2\n");
  EXPECT_THAT(dates.notes, Contains(HasSubstr("it could also be dates (%d/%m/%Y)")));
}

TEST_F(NotationTest, AKnownNotationDecides) {
  const Notation comma{.decimal = ','};
  const TableOptions options{.notations = {{"a", comma}}};
  EXPECT_THAT(read("a\tb\n1,234\t1\n5,678\t2\n", options).columns[0].numbers,
              ElementsAre(1.234, 5.678));
  // But another notation that is clear is read, too.
  EXPECT_THAT(read("a\tb\n1.5\t1\n2.25\t2\n", options).columns[0].numbers, ElementsAre(1.5, 2.25));
}

TEST_F(NotationTest, TheBeginningOfAFileDoesNotDeceive) {
  std::string text = "a;b\n";
  for (int i = 0; i < 5000; ++i) text += "12;x\n";
  text += "1,5;x\n";
  const Table table = read(text);
  EXPECT_EQ(table.columns[0].numbers.back(), 1.5);
  EXPECT_EQ(table.columns[0].text_cells, 0u);
}

TEST_F(NotationTest, MissingMarkers) {
  const Table table = read(
      "a,b\n1,x\nN/A,none\nNULL,None\nnone,-\n.,NULL\n#N/A,#N/A\n-,.\nNaT,<NA>\n2,y\n"
      "#DIV/0!,z\n");
  ASSERT_EQ(table.rows(), 10u);
  EXPECT_EQ(table.columns[0].text_cells, 0u);
  EXPECT_THAT(table.columns[0].numbers, ElementsAre(1, IsNan(), IsNan(), IsNan(), IsNan(), IsNan(),
                                                    IsNan(), IsNan(), 2, IsNan()));
  EXPECT_THAT(table.columns[1].labels, ElementsAre("x", "y", "z"));
  EXPECT_THAT(table.notes, Contains("Column \"b\": \"None\" is taken as missing, in 1 cell."));
  const Table more =
      read("a,b\n1,x\n-999,unknown\n-999.0,UNKNOWN\n2,y\n", {.missing = {"-999", "unknown"}});
  EXPECT_THAT(more.columns[0].numbers, ElementsAre(1, IsNan(), IsNan(), 2));
  EXPECT_THAT(more.columns[1].labels, ElementsAre("x", "y"));
}

TEST_F(NotationTest, HeadersOfYearsUnitsPreamblesAndRowNames) {
  const Table years = read("country,2019,2020\nPeru,1.5,2.5\nChad,3.5,4.5\nMali,2,3\n");
  EXPECT_EQ(years.columns[1].name, "2019");
  EXPECT_EQ(years.rows(), 3u);
  EXPECT_THAT(years.notes, Contains(HasSubstr("--header no")));
  EXPECT_EQ(read("red,2019,2020\nblue,2018,2019\nred,2017,2018\n").rows(), 3u);
  EXPECT_THAT(read("1,2\n3,4\n").notes, Contains(HasSubstr("--header yes")));
  const Table units = read("t,v\ns,mV\n1,2.5\n2,3.5\n3,4.5\n");
  EXPECT_THAT(units.columns[1].numbers, ElementsAre(2.5, 3.5, 4.5));
  EXPECT_EQ(units.line(0), 3u);
  const Table preamble = read("Logger 5\nSerial,77\n\nt,v,w\n1,2.5,1\n2,3.5,1\n3,4.5,2\n");
  EXPECT_EQ(preamble.columns[2].name, "w");
  EXPECT_EQ(preamble.rows(), 3u);
  EXPECT_THAT(preamble.notes, Contains(HasSubstr("begins on line 4")));
  const Table r = read("\"a\",\"b\"\n\"1\",5,6\n\"2\",7,8\n\"3\",9,1\n");
  EXPECT_THAT(r.columns[2].numbers, ElementsAre(6, 8, 1));
  EXPECT_EQ(r.columns[2].name, "b");
  EXPECT_THAT(read("sep=;\na;b\n1;2\n3;4\n").columns[1].numbers, ElementsAre(2, 4));
  EXPECT_THAT(read("a|b\n1|2\n3|4\n").columns[1].numbers, ElementsAre(2, 4));
  std::string pandas = ",a\n";
  for (int i = 0; i < 20; ++i) pandas += std::to_string(i) + "," + std::to_string(i % 7) + ".5\n";
  EXPECT_EQ(read(pandas).columns.size(), 1u);
}

TEST_F(NotationTest, ASingleColumnOfDecimalCommasIsOneColumn) {
  EXPECT_THAT(read("x\n1,5\n2,25\n7,5\n").columns.front().numbers, ElementsAre(1.5, 2.25, 7.5));
}

TEST_F(NotationTest, MakesRoomForDigitsThatItWouldRound) {
  Notation euros{.suffix = " €", .decimal = ',', .decimals = 2, .fixed = true};
  euros.make_room_for(1.25);
  EXPECT_EQ(euros.write(3), "3,00 €");
  euros.make_room_for(1.255);
  EXPECT_EQ(euros.write(1.255), "1,255 €");
  Notation days{.pattern = "%Y-%m-%d"};
  days.make_room_for(0.5);
  EXPECT_EQ(days, (Notation{.pattern = "%Y-%m-%d"}));
}

TEST_F(NotationTest, NumbersWithExponentsHaveNoThousands) {
  const Table table = read("a;b\n1,5;1.320e-06\n2,5;8.337e-07\n-7,25;2.500e+02\n");
  EXPECT_THAT(table.columns[0].numbers, ElementsAre(1.5, 2.5, -7.25));
  EXPECT_THAT(table.columns[1].numbers, ElementsAre(1.32e-6, 8.337e-7, 250));
}

TEST_F(NotationTest, ExponentsComeBackAsTheyWere) {
  const Notation volts = read("V\n-4.9180e-01\n1.0000e+00\n2.5000e-07\n").columns[0].notation;
  EXPECT_EQ(volts.write(0.123456789), "1.2346e-01");
  EXPECT_EQ(volts.write(-2), "-2.0000e+00");
  EXPECT_EQ(volts.write(0), "0.0000e+00");
  EXPECT_EQ(volts.round(0.123456789), 0.12346);
  EXPECT_EQ(read("a;b\n1,5E+03;1\n2,5E-10;2\n").columns[0].notation.write(77), "7,7E+01");
  // As many digits as a double has, and more.
  const Notation all =
      read("x\n8.203932499999844197e-03\n1.000000000000000000e+00\n").columns[0].notation;
  EXPECT_EQ(all.write(0.1), "1.000000000000000056e-01");
  EXPECT_EQ(all.round(0.1), 0.1);
  // Where they differ, or are not those of programs, numbers are plain.
  for (const char* text : {"x\n1.5e-03\n1.25e-03\n", "x\n1.5e-03\n2.5\n", "x\n1.5e3\n2.5e4\n",
                           "x\n1.5e-03\n2.5E-03\n"}) {
    EXPECT_EQ(read(text).columns[0].notation.exponent, '\0') << text;
  }
  Notation roomy = volts;
  roomy.make_room_for(0.123456789);
  EXPECT_EQ(roomy.write(0.123456789), "0.123456789");
  EXPECT_THROW((Notation{.exponent = 'x'}.validate()), std::invalid_argument);
  EXPECT_THROW((Notation{.exponent = 'e', .mantissa = 31}.validate()), std::invalid_argument);
}

TEST_F(NotationTest, OnlyRealNotationsAreValid) {
  EXPECT_NO_THROW(Notation{}.validate());
  EXPECT_NO_THROW((Notation{.pattern = "%d.%m.%Y %H:%M"}.validate()));
  EXPECT_THROW((Notation{.decimal = 'x'}.validate()), std::invalid_argument);
  EXPECT_THROW((Notation{.decimal = ',', .grouping = ","}.validate()), std::invalid_argument);
  EXPECT_THROW((Notation{.decimals = 400}.validate()), std::invalid_argument);
  EXPECT_THROW((Notation{.pattern = "%q"}.validate()), std::invalid_argument);
  EXPECT_FALSE((Notation{.pattern = "%Y-%m-%d"}.read("2021-02-30")));
  EXPECT_EQ((Notation{.pattern = "%H:%M:%S"}.write(59.6)), "00:01:00");
}

}  // namespace
}  // namespace jeffreys
