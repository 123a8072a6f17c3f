// Columns with a distribution: a prior's parameters in a table of simulations.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "jeffreys/base/input_error.h"
#include "jeffreys/table/schema.h"
#include "kernels/random.h"
#include "support/quadrature.h"
#include "table/tables.h"

namespace jeffreys {
namespace {

using jeffreys::testing::Cells;
using jeffreys::testing::info_of;
using jeffreys::testing::normal_model_density;
using jeffreys::testing::normal_numbers;
using jeffreys::testing::quadrature_cells;
using jeffreys::testing::TableMaker;
using jeffreys::testing::transformed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::size_t kPairs = 400;

SchemaOptions prior_options() {
  SchemaOptions options;
  options.missing = Missing::drop;
  options.condition = {"outcome"};
  options.distributions = {{"angle", Distribution::uniform(-1, 1)},
                           {"offset", Distribution::normal(5, 2)},
                           {"size", Distribution::normal(0, 3, {.lower = 0})},
                           {"rate", Distribution::log_normal(-2, 0.5, {.upper = 4})}};
  return options;
}

// Draws from the priors, and an outcome.
Table simulations(std::size_t rows = kPairs) {
  TableMaker maker;
  std::uint64_t seed = 20;
  for (const std::string name : {"angle", "offset", "size", "rate"}) {
    const Distribution distribution = prior_options().distributions.at(name);
    maker.numbers(name, transformed(normal_numbers(rows, seed++), [&](double score) {
                    return distribution.from_normal_score(score);
                  }));
  }
  return maker.numbers("outcome", normal_numbers(rows, seed)).table();
}

Column& column_named(Table& table, const std::string& name) {
  for (Column& column : table.columns) {
    if (column.name == name) return column;
  }
  throw std::out_of_range(name);
}

std::string input_error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

std::string option_error_of(const SchemaOptions& options) {
  try {
    options.validate();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

TEST(SchemaPrior, EncodesStandardisedCoordinates) {
  const Table table = simulations();
  const Schema schema = Schema::fit(table, prior_options());
  EXPECT_THAT(schema.feature_names(), ElementsAre("angle", "offset", "size", "rate"));
  EXPECT_THAT(schema.notes(), ElementsAre());
  const Schema::Encoded encoded = schema.encode(table);
  for (std::size_t f = 0; f < schema.features(); ++f) {
    const ColumnInfo& info = info_of(schema, schema.feature_names()[f]);
    EXPECT_EQ(info.noise, 0);
    EXPECT_EQ(info.bounds, Bounds{});
    EXPECT_THAT(info.regression, ElementsAre());
    const auto c = static_cast<Eigen::Index>(f);
    EXPECT_NEAR(encoded.x.col(c).mean(), 0, 1e-12);
    EXPECT_NEAR(encoded.x.col(c).squaredNorm() / kPairs, 1, 1e-12);
    for (Eigen::Index r = 0; r < encoded.x.rows(); ++r) {
      const double value = table.find(info.name)->numbers[static_cast<std::size_t>(r)];
      const bool score = info.distribution->kind == DistributionKind::log_normal;
      EXPECT_NEAR(encoded.x(r, c) * info.scale + info.mean,
                  score ? info.distribution->normal_score(value) : value, 1e-13);
    }
  }
  // Normal scores: standard errors are 0.05 and 0.035.
  EXPECT_NEAR(info_of(schema, "rate").mean, 0, 0.2);
  EXPECT_NEAR(info_of(schema, "rate").scale, 1, 0.15);
}

TEST(SchemaPrior, OtherSourcesDecodeToTheSameValues) {
  const Table table = simulations();
  for (const bool regression : {false, true}) {
    SchemaOptions options = prior_options();
    options.regress_on_conditions = regression;
    const Schema schema = Schema::fit(table, options);
    ASSERT_TRUE(schema.folds());
    const Schema::Encoded encoded = schema.encode(table);
    const Schema::Sources sources = schema.other_sources(encoded.x, encoded.context);
    // Images beyond both ends of angle and one of size, alone and together: five in all where none
    // is too far.
    EXPECT_GT(sources.rows.size(), 3 * kPairs);
    EXPECT_LE(sources.rows.size(), 5 * kPairs);
    const Matrix<double> context = encoded.context(sources.rows, Eigen::all);
    const Table again = schema.decode(sources.x, context);
    for (const std::string& name : schema.feature_names()) {
      for (std::size_t i = 0; i < sources.rows.size(); ++i) {
        const double expected =
            table.find(name)->numbers[static_cast<std::size_t>(sources.rows[i])];
        EXPECT_NEAR(again.find(name)->numbers[i], expected, 1e-12 * (1 + std::abs(expected)));
      }
    }
    for (std::size_t i = 0; i < sources.rows.size(); ++i) {
      EXPECT_NE(sources.x.row(static_cast<Eigen::Index>(i)), encoded.x.row(sources.rows[i]));
    }
  }
}

TEST(SchemaPrior, WithoutEndsNothingFolds) {
  SchemaOptions options;
  options.distributions = {{"offset", Distribution::normal(5, 2)},
                           {"rate", Distribution::log_normal(-2, 0.5, {.upper = 4})}};
  const Schema schema = Schema::fit(simulations(), options);
  EXPECT_FALSE(schema.folds());
  const Schema::Encoded encoded = schema.encode(simulations());
  EXPECT_TRUE(schema.other_sources(encoded.x, encoded.context).rows.empty());
}

TEST(SchemaPrior, SourcesFoldEverySetOfFeaturesThatIsNear) {
  TableMaker maker;
  SchemaOptions options;
  constexpr Eigen::Index kFeatures = 8;
  for (int i = 0; i < kFeatures; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    maker.numbers(name, transformed(normal_numbers(kPairs, 50 + static_cast<std::uint64_t>(i)),
                                    [](double score) { return std::abs(score); }));
    options.distributions.emplace(name, Distribution::normal(0, 1, {.lower = 0}));
  }
  const Schema schema = Schema::fit(maker.table(), options);
  const auto sources_at = [&](double value) {
    TableMaker row;
    for (const std::string& name : schema.feature_names()) row.numbers(name, {value});
    const Matrix<double> x = schema.encode(row.table()).x;
    const Schema::Sources sources = schema.other_sources(x, Matrix<double>(1, 0));
    for (Eigen::Index r = 0; r < sources.x.rows(); ++r) {
      EXPECT_LE((sources.x.row(r).array() != x.row(0).array()).count(), 6);
    }
    return sources.rows.size();
  };
  // Half normal: mean 0.8, deviation 0.6. The image of 0.1 is 1.5 deviations away, that of 1 is 3,
  // that of 4 is 8.
  EXPECT_EQ(sources_at(0.1), 8u + 28u + 56u + 70u + 56u + 28u);  // one to six of eight
  EXPECT_GE(sources_at(1), 8u + 28u + 56u);
  EXPECT_LE(sources_at(1), 8u + 28u + 56u + 70u);
  EXPECT_EQ(sources_at(4), 0u);
}

TEST(SchemaPrior, DecodingUndoesEncoding) {
  const Table table = simulations();
  const Schema schema = Schema::fit(table, prior_options());
  const Table again = schema.decode(schema.encode(table).x);
  for (const std::string& name : schema.feature_names()) {
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const double expected = table.find(name)->numbers[row];
      EXPECT_NEAR(again.find(name)->numbers[row], expected, 1e-13 * (1 + std::abs(expected)));
    }
  }
}

TEST(SchemaPrior, SamplesNeverLeaveTheSupport) {
  const Schema schema = Schema::fit(simulations(), prior_options());
  constexpr Eigen::Index kRows = 250'000;
  Matrix<double> x(kRows, 4);
  kernels::fill_normals(kernels::RandomArguments<double>{
      .key = {.seed = 1}, .first_row = 0, .rows = kRows, .columns = 4, .output = x.data()});
  x.bottomRows(kRows / 2) *= 5;  // up to 34
  x.row(0).setConstant(-30);
  x.row(1).setConstant(30);
  x.row(2).setConstant(-1e300);
  x.row(3).setConstant(1e300);
  const Table table = schema.decode(x);
  for (const auto& [name, distribution] : prior_options().distributions) {
    const auto [lower, upper] = distribution.support();
    std::size_t outside = 0;
    for (const double value : table.find(name)->numbers) {
      outside += std::isfinite(value) && value > lower && value < upper ? 0u : 1u;
    }
    EXPECT_EQ(outside, 0u) << name;
  }
}

TEST(SchemaPrior, TheJacobianIsThatOfEncoding) {
  const Table table = simulations();
  const Schema schema = Schema::fit(table, prior_options());
  const Schema::Encoded encoded = schema.encode(table);
  Vector<double> expected = Vector<double>::Zero(encoded.x.rows());
  for (std::size_t f = 0; f < schema.features(); ++f) {
    const auto c = static_cast<Eigen::Index>(f);
    Matrix<double> lower = encoded.x;
    Matrix<double> upper = encoded.x;
    constexpr double kStep = 1e-5;  // coordinates bend within 0.02 of their scale
    lower.col(c).array() -= kStep;
    upper.col(c).array() += kStep;
    const std::string name = schema.feature_names()[f];
    const std::vector<double> from = schema.decode(lower).find(name)->numbers;
    const std::vector<double> to = schema.decode(upper).find(name)->numbers;
    for (Eigen::Index r = 0; r < expected.size(); ++r) {
      const auto row = static_cast<std::size_t>(r);
      expected[r] -= std::log((to[row] - from[row]) / (2 * kStep));
    }
  }
  EXPECT_LT((expected - encoded.log_jacobian).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(SchemaPrior, DensitiesStillIntegrateToOne) {
  // A normal model of the encoded column, in the user's units, which spills over the ends.
  constexpr double kDeviation = 0.8;
  for (const auto& [name, distribution] : prior_options().distributions) {
    SchemaOptions options;
    options.distributions = {{name, distribution}};
    const Schema schema =
        Schema::fit(TableMaker().numbers(name, simulations().find(name)->numbers).table(), options);
    const Cells cells = quadrature_cells(distribution, 20'000, 0.99);
    const Schema::Encoded encoded = schema.encode(TableMaker().numbers(name, cells.middle).table());
    const Vector<double> density = normal_model_density(schema, encoded, kDeviation);
    const Eigen::Map<const Vector<double>> widths(cells.width.data(), density.size());
    EXPECT_NEAR(density.dot(widths), 1, 3e-5) << name;
  }
}

TEST(SchemaPrior, TiesAndWholeNumbersStayAsTheyAre) {
  SchemaOptions options;
  options.distributions = {{"a", Distribution::uniform(-5, 5)}};
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(i % 11 - 5);
  const Table table = TableMaker().numbers("a", values).table();
  const Schema schema = Schema::fit(table, options);
  EXPECT_EQ(info_of(schema, "a").kind, ColumnKind::numeric);
  const std::vector<double> between =
      schema.decode(Matrix<double>::Constant(1, 1, 0.3)).find("a")->numbers;
  EXPECT_NE(between[0], std::round(between[0]));
  // -5 and 5 are ends of the support: moved inside by as little as can be.
  const Table again = schema.decode(schema.encode(table).x);
  for (std::size_t row = 0; row < values.size(); ++row) {
    const double moved = again.find("a")->numbers[row];
    EXPECT_LT(std::abs(moved), 5);
    EXPECT_NEAR(moved, values[row], 1e-14);
  }
}

TEST(SchemaPrior, TellsRowsThatAreNotDrawnFromThePrior) {
  const auto narrow = transformed(normal_numbers(kPairs, 9), [](double v) { return 0.05 * v; });
  SchemaOptions options;
  options.distributions = {{"a", Distribution::uniform(-1, 1)}};
  const Schema schema = Schema::fit(TableMaker().numbers("a", narrow).table(), options);
  EXPECT_THAT(schema.notes(),
              ElementsAre(StartsWith(
                  "Column \"a\" is not distributed as its prior says (uniform, -1 to 1)")));
}

TEST(SchemaPrior, RefusesCellsOutsideTheSupport) {
  const Schema schema = Schema::fit(simulations(), prior_options());
  for (const auto& [name, value, problem] :
       std::vector<std::tuple<std::string, double, std::string>>{
           {"angle", 1.5,
            "t.csv:5:1: column \"angle\" has 1.5, outside the prior's support -1 to 1; correct the "
            "cell or the prior"},
           {"size", -0.25,
            "t.csv:5:3: column \"size\" has -0.25, outside the prior's support 0 and above; "
            "correct the cell or the prior"},
           {"rate", 0,
            "t.csv:5:4: column \"rate\" has 0, outside the prior's support above 0 and up to 4; "
            "correct the cell or the prior"}}) {
    Table table = simulations();
    column_named(table, name).numbers[3] = value;
    EXPECT_EQ(input_error_of([&] { schema.encode(table); }), problem);
    EXPECT_EQ(input_error_of([&] { Schema::fit(table, prior_options()); }), problem);
  }
  Table missing = simulations();
  column_named(missing, "angle").numbers[3] = std::nan("");
  EXPECT_EQ(schema.encode(missing).dropped, 1u);
}

TEST(SchemaPrior, RefusesColumnsThatWouldLeaveTheModel) {
  const auto fit = [](Table table) {
    return input_error_of([&] { Schema::fit(table, prior_options()); });
  };
  Table table = simulations();
  column_named(table, "angle").numbers.assign(kPairs, 0.5);
  EXPECT_EQ(fit(table),
            "t.csv: column \"angle\" is 0.5 in all rows, but has the prior uniform, -1 to 1; draw "
            "it from the prior, or leave it out of the prior");
  table = simulations();
  column_named(table, "outcome").numbers = table.find("size")->numbers;
  EXPECT_THAT(fit(table), HasSubstr("\"size\" equals column \"outcome\" in all rows, but has"));
  table = simulations();
  column_named(table, "angle").numbers.assign(kPairs, std::nan(""));
  EXPECT_THAT(fit(table), HasSubstr("\"angle\" has no values, but a distribution"));
  table = simulations();
  column_named(table, "angle").name = "other";
  EXPECT_THAT(fit(table), HasSubstr("no column \"angle\", which is named as a column with a dist"));
  const Table text = TableMaker().text("angle", std::vector<std::string>(20, "high")).table();
  SchemaOptions options;
  options.distributions = {{"angle", Distribution::uniform(-1, 1)}};
  EXPECT_THAT(input_error_of([&] { Schema::fit(text, options); }),
              HasSubstr("column \"angle\" holds text, \"high\", where numbers are expected"));
}

TEST(SchemaPrior, RefusesOptionsThatContradict) {
  SchemaOptions options = prior_options();
  options.bounds = {{"angle", {-1, 1}}};
  EXPECT_EQ(option_error_of(options),
            "column \"angle\" has bounds and a distribution; leave the bounds out");
  options = prior_options();
  options.distributions["angle"] = Distribution::uniform(1, -1);
  EXPECT_EQ(option_error_of(options),
            "distribution of column \"angle\": lower: expected a number below upper, -1, got 1");
  for (const auto member : {&SchemaOptions::condition, &SchemaOptions::categorical,
                            &SchemaOptions::integer, &SchemaOptions::ignore}) {
    options = prior_options();
    options.*member = {"rate"};
    EXPECT_THAT(option_error_of(options), StartsWith("column \"rate\" is declared with a dist"));
  }
}

TEST(SchemaPrior, JsonKeepsDistributionsAndNothingElseChanges) {
  const Schema schema = Schema::fit(simulations(), prior_options());
  EXPECT_EQ(Schema::from_json(schema.to_json(), "m"), schema);
  const auto json = nlohmann::json::parse(schema.to_json());
  EXPECT_EQ(json["columns"][0]["distribution"],
            nlohmann::json({{"kind", "uniform"}, {"lower", -1.0}, {"upper", 1.0}}));
  EXPECT_FALSE(json["columns"][4].contains("distribution"));
  EXPECT_EQ(json["columns"][0].size(), json["columns"][4].size() + 1);
}

TEST(SchemaPrior, RefusesTheCoordinatesOfAnEarlierVersion) {
  auto json = nlohmann::json::parse(Schema::fit(simulations(), prior_options()).to_json());
  json["version"] = 1;
  EXPECT_EQ(input_error_of([&] { Schema::from_json(json.dump(), "m"); }),
            "m: this posterior is from an earlier version of the program, which had other "
            "coordinates for parameters with a prior; fit it again");
  json["version"] = 2;
  EXPECT_FALSE(Schema::from_json(json.dump(), "m").outdated());
  json["version"] = 5;
  EXPECT_THAT(input_error_of([&] { Schema::from_json(json.dump(), "m"); }),
              HasSubstr("the schema has version 5, this program reads versions 1 to 4"));
}

TEST(SchemaPrior, RefusesDamagedDistributions) {
  const std::string text = Schema::fit(simulations(), prior_options()).to_json();
  using Damage = std::function<void(nlohmann::json&)>;
  for (const auto& [problem, damage] : std::vector<std::pair<std::string, Damage>>{
           {"not an object", [](auto& column) { column["distribution"] = nullptr; }},
           {"lower: expected a number below",
            [](auto& column) { column["distribution"]["lower"] = 2; }},
           {"no number in upper", [](auto& column) { column["distribution"]["upper"] = "1"; }},
           {"expected one of uniform", [](auto& column) { column["distribution"]["kind"] = "?"; }},
           {"no numeric feature", [](auto& column) { column["role"] = "condition"; }},
           {"no numeric feature", [](auto& column) { column["kind"] = "integer"; }},
           {"a distribution and bounds or noise", [](auto& column) { column["noise"] = 0.1; }},
           {"a distribution and bounds or noise", [](auto& column) { column["lower"] = -3; }}}) {
    nlohmann::json json = nlohmann::json::parse(text);
    damage(json["columns"][0]);
    const std::string message = input_error_of([&] { Schema::from_json(json.dump(), "m"); });
    EXPECT_THAT(message, StartsWith("m: the schema is damaged: column 1 "));
    EXPECT_THAT(message, HasSubstr(problem));
  }
}

}  // namespace
}  // namespace jeffreys
