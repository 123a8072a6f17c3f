#include "jeffreys/table/schema.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <numbers>
#include <numeric>

#include "support/not_finite.h"
#include "table/tables.h"

namespace jeffreys {
namespace {

using jeffreys::testing::cells_of;
using jeffreys::testing::info_of;
using jeffreys::testing::mixed_options;
using jeffreys::testing::mixed_table;
using jeffreys::testing::normal_numbers;
using jeffreys::testing::TableMaker;
using jeffreys::testing::transformed;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Given = std::map<std::string, std::string>;

TEST(Schema, DescribesTheColumns) {
  const Schema schema = Schema::fit(mixed_table(), mixed_options());
  EXPECT_THAT(schema.feature_names(),
              ElementsAre("plain", "colour", "count", "share", "rounded", "positive"));
  EXPECT_THAT(schema.condition_names(), ElementsAre("given"));
  EXPECT_THAT(schema.text_columns(), ElementsAre("colour"));
  EXPECT_EQ(schema.features(), 6u);
  EXPECT_EQ(schema.context_features(), 1u);
  EXPECT_EQ(info_of(schema, "plain").kind, ColumnKind::numeric);
  EXPECT_EQ(info_of(schema, "plain").noise, 0);
  EXPECT_THAT(info_of(schema, "colour").labels, ElementsAre("blue", "green", "red"));
  EXPECT_EQ(info_of(schema, "count").kind, ColumnKind::integer);
  EXPECT_EQ(info_of(schema, "count").resolution, 1);
  EXPECT_EQ(info_of(schema, "rounded").resolution, 0.1);
  EXPECT_EQ(info_of(schema, "given").role, ColumnRole::condition);
}

// Numbers on a lattice have, in the middle of their cells, a little less than variance 1.
TEST(Schema, NumbersAreStandardisedAndCategoriesComeLast) {
  const Schema schema = Schema::fit(mixed_table(), mixed_options());
  const Schema::Encoded encoded = schema.encode(mixed_table());
  ASSERT_EQ(encoded.x.rows(), 200);
  ASSERT_EQ(schema.continuous(), 5u);
  EXPECT_THAT(schema.categories(), ElementsAre(3u));
  for (Eigen::Index f = 0; f < 5; ++f) {
    EXPECT_NEAR(encoded.x.col(f).mean(), 0, 1e-12);
    EXPECT_NEAR(encoded.x.col(f).squaredNorm() / 200, 1, f == 1 || f == 3 ? 0.01 : 1e-12);
  }
  EXPECT_EQ(encoded.x(0, 5), 2);  // red
  EXPECT_EQ(encoded.x(1, 5), 1);  // green
  EXPECT_NEAR(encoded.context.col(0).mean(), 0, 1e-12);
}

TEST(Schema, DecodingUndoesEncoding) {
  const Table table = mixed_table();
  const Schema schema = Schema::fit(table, mixed_options());
  const Schema::Encoded encoded = schema.encode(table);
  const Table again = schema.decode(encoded.x, encoded.context);
  ASSERT_EQ(again.columns.size(), table.columns.size());
  for (const std::string name : {"colour", "count", "rounded"}) {
    EXPECT_EQ(cells_of(again, name), cells_of(table, name)) << name;
  }
  for (const std::string name : {"plain", "share", "positive", "given"}) {
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const double expected = table.find(name)->numbers[row];
      EXPECT_NEAR(again.find(name)->numbers[row], expected, 1e-14 * (10 + std::abs(expected)))
          << name;
    }
  }
  EXPECT_EQ(schema.decode(encoded.x).find("given"), nullptr);
  EXPECT_EQ(schema.decode(encoded.x.topRows(3), encoded.context.topRows(1)).find("given")->rows(),
            3u);
}

TEST(Schema, TheJacobianIsThatOfEncoding) {
  const SchemaOptions options = mixed_options();
  const Schema schema = Schema::fit(mixed_table(), options);
  const Schema::Encoded encoded = schema.encode(mixed_table());
  constexpr double kStep = 1e-6;
  Vector<double> expected = Vector<double>::Zero(encoded.x.rows());
  for (std::size_t f = 0; f < schema.features(); ++f) {
    const std::string name = schema.feature_names()[f];
    if (name == "colour") {
      // Codes have the probability of all labels that were seen.
      expected.array() += std::log1p(-info_of(schema, name).unseen);
      continue;
    }
    std::array<Matrix<double>, 2> moved;
    for (const std::size_t side : {0u, 1u}) {
      Table table = mixed_table();
      for (Column& column : table.columns) {
        if (column.name != name) continue;
        for (double& v : column.numbers)
          v += (side == 0 ? -1 : 1) * kStep * std::min(1.0, std::abs(v) + 1e-3);
      }
      moved[side] = schema.encode(table).x;
    }
    const Table table = mixed_table();
    for (Eigen::Index r = 0; r < expected.size(); ++r) {
      const double v = table.find(name)->numbers[static_cast<std::size_t>(r)];
      const double step = kStep * std::min(1.0, std::abs(v) + 1e-3);
      const auto c = static_cast<Eigen::Index>(f > 1 ? f - 1 : f);  // colour comes last
      expected[r] += std::log((moved[1](r, c) - moved[0](r, c)) / (2 * step));
    }
  }
  EXPECT_LT((expected - encoded.log_jacobian).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(Schema, DensitiesStillIntegrateToOne) {
  // A standard normal model of the encoded column, integrated over the user's units.
  for (const Bounds bounds : {Bounds{}, Bounds{-1, 7}, Bounds{.lower = -1}, Bounds{.upper = 7}}) {
    const auto values =
        transformed(normal_numbers(100, 8), [](double v) { return 3 + std::clamp(v, -3.0, 3.0); });
    SchemaOptions options;
    options.bounds = {{"a", bounds}};
    const Schema schema = Schema::fit(TableMaker().numbers("a", values).table(), options);
    constexpr std::size_t kPoints = 200'000;
    const double from = std::max(bounds.lower, -40.0);
    const double step = (std::min(bounds.upper, 60.0) - from) / kPoints;
    std::vector<double> grid(kPoints);
    for (std::size_t i = 0; i < kPoints; ++i)
      grid[i] = from + (static_cast<double>(i) + 0.5) * step;
    const Schema::Encoded encoded = schema.encode(TableMaker().numbers("a", grid).table());
    const Eigen::ArrayXd log_density = -0.5 * encoded.x.col(0).array().square() -
                                       0.5 * std::log(2 * std::numbers::pi) +
                                       encoded.log_jacobian.array();
    EXPECT_NEAR(log_density.exp().sum() * step, 1, 1e-3) << bounds.lower << " " << bounds.upper;
  }
}

// The mean density of a standard normal model over the places of each row's cells, in the user's
// units.
Vector<double> cell_densities(const Schema::Encoded& encoded) {
  constexpr Eigen::Index kPlaces = 256;
  std::vector<std::size_t> rows(static_cast<std::size_t>(encoded.size()));
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const Matrix<double> places = even_points(kPlaces, encoded.cells.open(), 0);
  Vector<double> sum = Vector<double>::Zero(encoded.size());
  for (Eigen::Index p = 0; p < kPlaces; ++p) {
    Matrix<double> x = encoded.x;
    Vector<double> log_jacobian;
    encoded.cells.place(rows, places.row(p).replicate(encoded.size(), 1), x, &log_jacobian);
    sum.array() += (-0.5 * x.col(0).array().square() + log_jacobian.array()).exp();
  }
  return sum / (kPlaces * std::sqrt(2 * std::numbers::pi));
}

// Values on a lattice are cells: with bounds their probabilities under any model sum to 1.
TEST(Schema, ProbabilitiesOfCellsBetweenBoundsSumToOne) {
  struct Lattice {
    double first, step;
    int count;
    Bounds bounds;
  };
  for (const Lattice& l : {Lattice{1, 1, 5, {1, 5}}, Lattice{1, 1, 5, {0.5, 5.5}},
                           Lattice{0, 1, 12, {.lower = 0}}, Lattice{-3, 0.25, 9, {.upper = -1}}}) {
    std::vector<double> values;
    std::vector<double> all;
    for (int i = 0; i < l.count; ++i) {
      const double value = l.first + i * l.step;
      for (int k = 0; k <= (i * 7) % 5 + 2; ++k) values.insert(values.end(), 5, value);
      all.push_back(value);
    }
    // What the model may draw beyond the values of the table.
    for (int i = 1; i <= 300 && !std::isfinite(l.bounds.upper); ++i) {
      all.push_back(l.first + (l.count - 1 + i) * l.step);
    }
    for (int i = 1; i <= 300 && !std::isfinite(l.bounds.lower); ++i) {
      all.push_back(l.first - i * l.step);
    }
    SchemaOptions options;
    options.bounds = {{"a", l.bounds}};
    const Schema schema = Schema::fit(TableMaker().numbers("a", values).table(), options);
    const Schema::Encoded encoded = schema.encode(TableMaker().numbers("a", all).table());
    EXPECT_NEAR(cell_densities(encoded).sum() * l.step, 1, 0.003) << l.first << " " << l.step;
    EXPECT_EQ(Schema::from_json(schema.to_json(), "test"), schema);
  }
}

// Files of earlier versions have no reach: they keep the map that they were fitted with, and their
// cells end at the bounds.
TEST(Schema, WithoutAReachCellsEndAtTheBounds) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(1 + i % 5);
  SchemaOptions options;
  options.bounds = {{"a", {1, 5}}};
  const Table table = TableMaker().numbers("a", values).table();
  const Schema schema = Schema::fit(table, options);
  EXPECT_EQ(schema.columns()[0].reach, (Bounds{0.5, 5.5}));
  EXPECT_FALSE(schema.outdated());
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(schema.to_json());
  json["version"] = 1;
  json["seed"] = 0;
  for (const char* key : {"reach_lower", "reach_upper", "shape"}) json["columns"][0].erase(key);
  const Schema old = Schema::from_json(json.dump(), "old");
  EXPECT_TRUE(old.outdated());
  EXPECT_EQ(old.columns()[0].reach, (Bounds{1, 5}));
  const Schema::Encoded encoded = old.encode(table);
  EXPECT_TRUE(encoded.x.allFinite());
  EXPECT_EQ(old.decode(encoded.x).find("a")->numbers, values);
  EXPECT_NEAR(cell_densities(encoded).head(5).sum(), 1, 0.003);
}

// In files of earlier versions categories were codes with noise, among the numbers.
TEST(Schema, CategoriesOfEarlierFilesAreCells) {
  const Table table = mixed_table();
  nlohmann::ordered_json json =
      nlohmann::ordered_json::parse(Schema::fit(table, mixed_options()).to_json());
  json["version"] = 3;
  json["columns"][1]["noise"] = 1;
  json["columns"][1].erase("unseen");
  const Schema old = Schema::from_json(json.dump(), "old");
  EXPECT_TRUE(old.outdated());
  EXPECT_EQ(old.continuous(), 6u);
  EXPECT_THAT(old.categories(), ::testing::IsEmpty());
  const Schema::Encoded encoded = old.encode(table);
  EXPECT_EQ(cells_of(old.decode(encoded.x, encoded.context), "colour"), cells_of(table, "colour"));
  EXPECT_EQ(encoded.x(0, 1), 2.5);  // red, in the middle
}

TEST(Schema, RowsDependOnThemselvesAlone) {
  const Schema schema = Schema::fit(mixed_table(), mixed_options());
  const Schema::Encoded encoded = schema.encode(mixed_table());
  EXPECT_EQ(encoded.x, schema.encode(mixed_table()).x);
  // Another order of columns, and fewer rows.
  Table shorter = mixed_table();
  std::reverse(shorter.columns.begin(), shorter.columns.end());
  for (Column& column : shorter.columns) {
    column.numbers.resize(std::min<std::size_t>(column.numbers.size(), 50));
    column.codes.resize(std::min<std::size_t>(column.codes.size(), 50));
  }
  EXPECT_EQ(schema.encode(shorter).x, encoded.x.topRows(50));
}

TEST(Schema, PlacesCoverTheWholeCell) {
  std::vector<double> values(400);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 3 : 4;
  const Table table = TableMaker().numbers("a", values).table();
  const Schema schema = Schema::fit(table, {});
  const ColumnInfo& info = schema.columns()[0];
  EXPECT_EQ(info.noise, 1);
  Schema::Encoded encoded = schema.encode(table);
  ASSERT_EQ(encoded.cells.open(), 1);
  const std::vector<std::size_t> rows{0, 1, 0};
  Matrix<double> x(3, 1);
  encoded.cells.place(rows, Eigen::Vector3d(0, 0.5, 1), x);
  EXPECT_NEAR(x(0, 0) * info.scale + info.mean, 2.5, 1e-12);
  EXPECT_NEAR(x(1, 0) * info.scale + info.mean, 4, 1e-12);
  EXPECT_NEAR(x(2, 0) * info.scale + info.mean, 3.5, 1e-12);
  EXPECT_THROW(encoded.cells.place(rows, Eigen::Vector2d(0, 1), x), std::invalid_argument);
  const EncodedRows taken = encoded.take(std::vector<std::size_t>{1});
  Matrix<double> one(1, 1);
  taken.cells.place(std::vector<std::size_t>{0}, Matrix<double>::Constant(1, 1, 0.5), one);
  EXPECT_EQ(one(0, 0), x(1, 0));
}

// The number of an atom is free: over its places it is standard normal, and counts as nothing.
TEST(Schema, TheNumberOfAnAtomIsIntegratedOut) {
  std::vector<double> values = normal_numbers(300, 1);
  std::fill(values.begin(), values.begin() + 100, 7);
  const Table table = TableMaker().numbers("a", values).table();
  const Schema schema = Schema::fit(table, {});
  const Schema::Encoded encoded = schema.encode(table);
  EXPECT_EQ(encoded.x(0, 1), 1);
  EXPECT_EQ(encoded.x(299, 1), 0);
  EXPECT_NEAR(cell_densities(encoded)(0), 1, 1e-9);
  EXPECT_EQ(schema.decode(encoded.x).find("a")->numbers.front(), 7);
}

TEST(Schema, LabelsThatWereNeverSeenShareASmallProbability) {
  std::vector<std::string> labels(100, "a");
  for (std::size_t i = 0; i < 40; ++i) labels[i] = "b";
  labels[40] = "c";
  labels[41] = "d";
  const Schema schema = Schema::fit(TableMaker().text("k", labels).table(), {});
  // Two of 100 rows have a label of their own.
  EXPECT_NEAR(schema.columns()[0].unseen, 2.0 / 101, 1e-12);
  EXPECT_EQ(schema.continuous(), 0u);
  EXPECT_THAT(schema.categories(), ElementsAre(4u));
}

TEST(Schema, ConditionsAreNotDequantised) {
  SchemaOptions options = mixed_options();
  options.condition = {"colour", "count"};
  const Schema schema = Schema::fit(mixed_table(), options);
  EXPECT_EQ(schema.context_features(), 4u);
  const Schema::Encoded encoded = schema.encode(mixed_table());
  const Eigen::RowVector3d red(0, 0, 1);
  const Eigen::RowVector3d green(0, 1, 0);
  EXPECT_EQ(encoded.context.row(0).head(3), red);
  EXPECT_EQ(encoded.context.row(1).head(3), green);
  EXPECT_EQ(encoded.context(0, 3), encoded.context(17, 3));
  EXPECT_EQ(schema.encode_conditions(Given{{"colour", "red"}, {"count", "0"}}),
            encoded.context.row(0));
  EXPECT_EQ(schema.encode_conditions(mixed_table()), encoded.context);
  EXPECT_EQ(cells_of(schema.decode(encoded.x, encoded.context), "count"),
            cells_of(mixed_table(), "count"));
}

TEST(Schema, ConstantsAndCopiesAreRestored) {
  Table table = TableMaker()
                    .numbers("a", normal_numbers(50, 1))
                    .numbers("one", std::vector<double>(50, 1.5))
                    .text("word", std::vector<std::string>(50, "same"))
                    .numbers("b", normal_numbers(50, 1))
                    .numbers("empty", std::vector<double>(50, std::nan("")))
                    .table();
  const Schema schema = Schema::fit(table, {});
  EXPECT_THAT(schema.feature_names(), ElementsAre("a"));
  const Schema::Encoded encoded = schema.encode(table);
  const Table again = schema.decode(encoded.x);
  EXPECT_EQ(again.columns.size(), 4u);
  EXPECT_EQ(cells_of(again, "one"), cells_of(table, "one"));
  EXPECT_EQ(cells_of(again, "word"), cells_of(table, "word"));
  EXPECT_EQ(cells_of(again, "b"), cells_of(again, "a"));
  EXPECT_THAT(schema.notes(), Contains(HasSubstr("Column \"one\" is \"1.5\" in all rows")));
  EXPECT_THAT(schema.notes(), Contains(HasSubstr("Column \"b\" equals column \"a\"")));
  EXPECT_THAT(schema.notes(), Contains(HasSubstr("Column \"empty\" has no values")));
  // They need not be there when densities are asked for.
  EXPECT_EQ(schema.encode(TableMaker().numbers("a", normal_numbers(50, 1)).table()).x, encoded.x);
}

TEST(Schema, AFeatureEqualToAConditionIsTheCopy) {
  const Table table = TableMaker()
                          .numbers("a", normal_numbers(50, 1))
                          .numbers("b", normal_numbers(50, 2))
                          .numbers("c", normal_numbers(50, 1))
                          .table();
  SchemaOptions options;
  options.condition = {"c"};
  const Schema schema = Schema::fit(table, options);
  EXPECT_THAT(schema.feature_names(), ElementsAre("b"));
  const Schema::Encoded encoded = schema.encode(table);
  EXPECT_EQ(cells_of(schema.decode(encoded.x, encoded.context), "a"),
            cells_of(schema.decode(encoded.x, encoded.context), "c"));
  EXPECT_EQ(schema.decode(encoded.x).columns.size(), 1u);
}

TEST(Schema, RowsWithMissingCellsAreDropped) {
  std::vector<double> values = normal_numbers(30, 1);
  values[3] = values[7] = std::nan("");
  const Table table = TableMaker().numbers("a", values).numbers("b", normal_numbers(30, 2)).table();
  const SchemaOptions dropping{.missing = Missing::drop};
  const Schema schema = Schema::fit(table, dropping);
  const Schema::Encoded encoded = schema.encode(table);
  EXPECT_EQ(encoded.dropped, 2u);
  EXPECT_EQ(encoded.rows, usable_rows(table, dropping));
  EXPECT_THAT(encoded.rows, Not(Contains(7u)));
  SchemaOptions ignoring = dropping;
  ignoring.ignore = {"a"};
  EXPECT_EQ(Schema::fit(table, ignoring).encode(table).dropped, 0u);
  EXPECT_THAT(schema.notes(), Contains(HasSubstr("2 of 30 rows have missing cells")));
}

TEST(Schema, MeanAndScaleComeFromTheTrainingRows) {
  const Table table = TableMaker().numbers("a", normal_numbers(100, 1)).table();
  std::vector<std::size_t> training(40);
  std::iota(training.begin(), training.end(), std::size_t{0});
  const Matrix<double> x = Schema::fit(table, {}, training).encode(table).x;
  EXPECT_NEAR(x.topRows(40).mean(), 0, 1e-12);
  EXPECT_NEAR(x.topRows(40).squaredNorm() / 40, 1, 1e-12);
  SchemaOptions all;
  all.standardize = Standardize::all;
  EXPECT_EQ(Schema::fit(table, all, training), Schema::fit(table, {}));
  EXPECT_THROW(Schema::fit(table, {}, std::vector<std::size_t>{100}), std::invalid_argument);
}

TEST(Schema, SamplesNeverLeaveTheirBounds) {
  SchemaOptions options = mixed_options();
  options.bounds["count"] = {0, 16};
  options.bounds["rounded"] = {.upper = 4.25};
  const Schema schema = Schema::fit(mixed_table(), options);
  Matrix<double> x(8, 6);
  x.rowwise() = Eigen::RowVectorXd::Zero(6);
  for (Eigen::Index r = 0; r < 8; ++r)
    x.row(r).head(5).setConstant((r < 4 ? -1 : 1) * std::pow(10, r % 4 * 2));
  const Table samples = schema.decode(x);
  for (const auto& [name, bounds] : options.bounds) {
    for (const double value : samples.find(name)->numbers) {
      EXPECT_TRUE(value >= bounds.lower && value <= bounds.upper && value < kInfinity)
          << name << " " << value;
    }
  }
}

TEST(Schema, ValuesAtABoundAreMovedInside) {
  std::vector<double> values =
      transformed(normal_numbers(100, 6), [](double v) { return 1 / (1 + std::exp(-v)); });
  values[0] = 0;
  values[1] = 1;
  SchemaOptions options;
  options.bounds = {{"a", {0, 1}}};
  const Table table = TableMaker().numbers("a", values).table();
  const Schema schema = Schema::fit(table, options);
  const Schema::Encoded encoded = schema.encode(table);
  EXPECT_TRUE(encoded.x.allFinite() && encoded.log_jacobian.allFinite());
  EXPECT_LT(encoded.x.cwiseAbs().maxCoeff(), 5);
  EXPECT_THAT(schema.notes(), Contains(HasSubstr("2 of 100 rows lie exactly at a bound")));
}

TEST(Schema, ReportsWhatAModelWillFindHard) {
  const Table tails =
      TableMaker()
          .numbers("a", transformed(normal_numbers(1000, 1),
                                    [](double v) { return std::exp(4 * std::abs(v)); }))
          .numbers("b", transformed(normal_numbers(1000, 2),
                                    [](double v) { return std::abs(v) < 0.05 ? 500 * v : v; }))
          .table();
  EXPECT_THAT(Schema::fit(tails, {}).notes(), Contains(HasSubstr("Column \"b\" has heavy tails")));
  TableMaker wide;
  for (std::uint64_t i = 0; i < 12; ++i)
    wide.numbers("a" + std::to_string(i), normal_numbers(10, i));
  EXPECT_THAT(
      Schema::fit(wide.table(), {}).notes(),
      Contains("There are more columns (12) than rows (10): the density can only be rough."));
  const Table bounded =
      TableMaker()
          .numbers("price", transformed(normal_numbers(100, 1), [](double v) { return v * v; }))
          .numbers("share", transformed(normal_numbers(100, 2),
                                        [](double v) { return 1 / (1 + std::exp(-2 * v)); }))
          .numbers("height", transformed(normal_numbers(100, 3), [](double v) { return 170 + v; }))
          .numbers("flag", transformed(normal_numbers(100, 4), [](double v) { return v > 0; }))
          .table();
  const auto notes = Schema::fit(bounded, {}).notes();
  EXPECT_THAT(notes, Contains(HasSubstr("If it cannot be negative, say so with --bound price=0:")));
  EXPECT_THAT(notes, Contains(HasSubstr("--bound share=0:1.")));
  EXPECT_THAT(notes, Not(Contains(HasSubstr("--bound height"))));
  EXPECT_THAT(notes, Contains(HasSubstr("If they are labels, say so with --categorical flag")));
  std::vector<double> index(20);
  std::iota(index.begin(), index.end(), 0.0);
  EXPECT_THAT(Schema::fit(TableMaker().numbers("id", index).table(), {}).notes(),
              Contains(HasSubstr("Column \"id\" counts the rows")));
}

}  // namespace
}  // namespace jeffreys
