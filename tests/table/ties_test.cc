// What Schema::fit finds out about repeated values.
#include <gmock/gmock.h>

#include "table/tables.h"

namespace jeffreys {
namespace {

using jeffreys::testing::cells_of;
using jeffreys::testing::normal_numbers;
using jeffreys::testing::TableMaker;
using jeffreys::testing::transformed;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ColumnInfo info_of_values(const std::vector<double>& values, const SchemaOptions& options = {}) {
  return Schema::fit(TableMaker().numbers("a", values).table(), options).columns().at(0);
}

std::vector<double> rounded_to(double step, std::size_t rows = 500) {
  return transformed(normal_numbers(rows, 1),
                     [&](double v) { return std::round(3 * v / step) * step; });
}

std::vector<double> decimals(double power, std::size_t rows = 500) {
  return transformed(normal_numbers(rows, 1),
                     [&](double v) { return std::round(3 * v * power) / power; });
}

TEST(Resolution, ContinuousValuesHaveNone) {
  const ColumnInfo info = info_of_values(normal_numbers(500, 1));
  EXPECT_EQ(info.kind, ColumnKind::numeric);
  EXPECT_EQ(info.resolution, 0);
  EXPECT_EQ(info.noise, 0);
  // Few repetitions, as among many rows with many decimals.
  EXPECT_EQ(info_of_values(decimals(1e5)).noise, 0);
}

TEST(Resolution, IsThatOfTheDecimals) {
  EXPECT_EQ(info_of_values(decimals(10)).resolution, 0.1);
  EXPECT_EQ(info_of_values(decimals(100, 5000)).resolution, 0.01);
  EXPECT_EQ(info_of_values(decimals(1)).resolution, 1);
  EXPECT_EQ(info_of_values(decimals(1)).kind, ColumnKind::integer);
}

TEST(Resolution, IsTheLargestStep) {
  EXPECT_EQ(info_of_values(rounded_to(0.25)).resolution, 0.25);
  EXPECT_EQ(
      info_of_values(transformed(decimals(10), [](double v) { return std::round(v * 10) / 50; }))
          .resolution,
      0.02);
  EXPECT_EQ(info_of_values(transformed(decimals(1), [](double v) { return 1000 * v; })).resolution,
            1000);
}

TEST(Resolution, FindsStepsThatAreNoDecimals) {
  const ColumnInfo info =
      info_of_values(transformed(decimals(1), [](double v) { return 0.7 + v / 3; }));
  EXPECT_NEAR(info.resolution, 1.0 / 3, 1e-12);
  const ColumnInfo uneven =
      info_of_values(transformed(decimals(1), [](double v) { return std::exp(v / 3); }));
  EXPECT_EQ(uneven.resolution, 0);
  EXPECT_GT(uneven.noise, 0);
}

TEST(Resolution, SinglePrecisionHidesNoDecimals) {
  const auto values = transformed(
      decimals(10), [](double v) { return static_cast<double>(static_cast<float>(v)); });
  EXPECT_EQ(info_of_values(values).resolution, 0.1);
}

TEST(Atoms, HoldManyRowsAmongFineOnes) {
  std::vector<double> values = decimals(1e4);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = 0;
  const Table table = TableMaker().numbers("a", values).table();
  const Schema schema = Schema::fit(table, {});
  const ColumnInfo& info = schema.columns()[0];
  EXPECT_THAT(info.atoms, ElementsAre(0));
  EXPECT_EQ(info.resolution, 1e-4);
  EXPECT_EQ(info.noise, 0);
  EXPECT_EQ(schema.continuous(), 1u);
  EXPECT_THAT(schema.categories(), ElementsAre(2u));
  EXPECT_THAT(schema.notes(), Contains(HasSubstr("33.4 % of the rows are exactly 0")));
  EXPECT_EQ(cells_of(schema.decode(schema.encode(table).x), "a"), cells_of(table, "a"));
}

// Mean and scale are those of the others.
TEST(Atoms, DoNotCountInTheMoments) {
  std::vector<double> values = normal_numbers(600, 1);
  const std::vector<double> others(values.begin() + 300, values.end());
  std::fill(values.begin(), values.begin() + 200, 1000);
  std::fill(values.begin() + 200, values.begin() + 300, -5);
  const ColumnInfo info = info_of_values(values);
  EXPECT_THAT(info.atoms, ElementsAre(1000, -5));
  EXPECT_NEAR(info.mean, info_of_values(others).mean, 1e-12);
  EXPECT_NEAR(info.scale, info_of_values(others).scale, 1e-12);
}

TEST(Atoms, AreNotWhereOtherValuesRepeatToo) {
  std::vector<double> values = decimals(1);
  EXPECT_THAT(info_of_values(values).atoms, IsEmpty());
  for (std::size_t i = 0; i < values.size(); i += 2) values[i] = 0;
  EXPECT_THAT(info_of_values(values).atoms, IsEmpty());
  // Too few rows to be told from chance.
  values = normal_numbers(500, 1);
  std::fill(values.begin(), values.begin() + 9, 0);
  EXPECT_THAT(info_of_values(values).atoms, IsEmpty());
}

TEST(Resolution, KeepingTiesAddsNoNoise) {
  SchemaOptions keep;
  keep.ties = Ties::keep;
  EXPECT_EQ(info_of_values(decimals(10), keep).noise, 0);
  EXPECT_EQ(info_of_values(decimals(1), keep).noise, 0);
  EXPECT_EQ(info_of_values(decimals(1), keep).kind, ColumnKind::numeric);
  keep.integer = {"a"};
  EXPECT_EQ(info_of_values(decimals(1), keep).noise, 1);
}

TEST(Resolution, DeclaredCategoriesOfNumbersKeepTheirText) {
  SchemaOptions options;
  options.categorical = {"a"};
  const Table table = TableMaker().numbers("a", decimals(1)).table();
  const Schema schema = Schema::fit(table, options);
  const auto& labels = schema.columns()[0].labels;
  EXPECT_THAT(labels, Contains("-2"));
  // By value, not by spelling.
  EXPECT_LT(std::find(labels.begin(), labels.end(), "-2"),
            std::find(labels.begin(), labels.end(), "-1"));
  EXPECT_EQ(cells_of(schema.decode(schema.encode(table).x), "a"), cells_of(table, "a"));
}

}  // namespace
}  // namespace jeffreys
