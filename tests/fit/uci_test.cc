// The UCI tables of the paper, as they are published. JEFFREYS_DATA names the folder that holds
// uci/.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "jeffreys/fit/fit.h"
#include "jeffreys/table/table_file.h"

namespace jeffreys {
namespace {

class UciTables : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("JEFFREYS_DATA");
    if (folder == nullptr ||
        !std::filesystem::is_directory(std::filesystem::path(folder) / "uci")) {
      GTEST_SKIP() << "set JEFFREYS_DATA to a folder that holds uci/ to run this test";
    }
    folder_ = std::filesystem::path(folder) / "uci";
  }

  // A few steps of the dual method on the table.
  static Fit short_fit(const Table& table, const SchemaOptions& schema) {
    FitOptions options;
    options.schema = schema;
    const PreparedTable prepared = prepare(table, options);
    options = default_fit_options(prepared.rows(), prepared.schema.features(), 0);
    options.train.iterations = 5;
    return fit(prepared, options);
  }

  static void expect_finite(const Fit& fit, std::size_t features) {
    EXPECT_EQ(fit.density.schema().features(), features);
    EXPECT_EQ(fit.report.training.skipped, 0);
    EXPECT_TRUE(std::isfinite(fit.report.main.held_out.nll));
    EXPECT_TRUE(std::isfinite(fit.report.proxy->held_out.nll));
  }

  std::filesystem::path folder_;
};

TEST_F(UciTables, Wine) {
  const Table table = read_table(folder_ / "winequality-red.csv");
  EXPECT_EQ(table.rows(), 1599U);
  ASSERT_EQ(table.columns.size(), 12U);
  EXPECT_EQ(table.columns[0].name, "fixed acidity");
  SchemaOptions schema;
  schema.ignore = {"quality"};
  expect_finite(short_fit(table, schema), 11);
}

TEST_F(UciTables, HeartWithMissingCells) {
  const Table table = read_table(folder_ / "processed.cleveland.data");
  EXPECT_EQ(table.rows(), 303U);
  ASSERT_EQ(table.columns.size(), 14U);
  EXPECT_EQ(usable_rows(table, {}).size(), 303U);
  SchemaOptions schema{.missing = Missing::drop};
  EXPECT_EQ(usable_rows(table, schema).size(), 297U);
  schema.ignore = {"x12", "x13", "x14"};
  EXPECT_EQ(usable_rows(table, schema).size(), 303U);
  expect_finite(short_fit(table, schema), 11);
}

TEST_F(UciTables, CancerWithADiagnosisAsCondition) {
  const Table table = read_table(folder_ / "wdbc.data");
  EXPECT_EQ(table.rows(), 569U);
  SchemaOptions schema;
  schema.ignore = {"x1"};
  schema.condition = {"x2"};
  const Fit result = short_fit(table, schema);
  EXPECT_EQ(result.density.schema().context_features(), 2U);
  expect_finite(result, 30);
}

}  // namespace
}  // namespace jeffreys
