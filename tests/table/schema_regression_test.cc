// Features that count from their regression on the conditions.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "jeffreys/base/input_error.h"
#include "jeffreys/table/schema.h"
#include "support/quadrature.h"
#include "table/column_map.h"
#include "table/regression.h"
#include "table/tables.h"

namespace jeffreys {
namespace {

using jeffreys::testing::Cells;
using jeffreys::testing::info_of;
using jeffreys::testing::mixed_options;
using jeffreys::testing::mixed_table;
using jeffreys::testing::normal_model_density;
using jeffreys::testing::normal_numbers;
using jeffreys::testing::quadrature_cells;
using jeffreys::testing::TableMaker;
using jeffreys::testing::transformed;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SchemaRegression : public ::testing::Test {
 protected:
  static constexpr std::size_t kRows = 240;

  static SchemaOptions options() {
    SchemaOptions options;
    options.condition = {"x", "y", "group"};
    options.bounds = {{"share", {0, 1}}};
    options.distributions = {{"angle", Distribution::uniform(-1, 1)},
                             {"size", Distribution::normal(0, 3, {.lower = 0})},
                             {"rate", Distribution::log_normal(-2, 0.5, {.upper = 4})}};
    options.regress_on_conditions = true;
    return options;
  }

  // Every kind of feature, all of which follow x; and every kind of condition.
  static Table table() {
    const std::vector<double> x = normal_numbers(kRows, 1);
    const std::vector<double> noise = normal_numbers(kRows, 2);
    std::vector<double> plain, count, share, angle, size, rate, y;
    std::vector<std::string> colour, group;
    for (std::size_t i = 0; i < kRows; ++i) {
      const double place = 0.8 * x[i] + 0.6 * noise[i];  // standard normal
      plain.push_back(100 + 5 * place);
      count.push_back(std::round(10 * place));
      share.push_back(1 / (1 + std::exp(-place)));
      angle.push_back(Distribution::uniform(-1, 1).from_normal_score(place));
      size.push_back(options().distributions.at("size").from_normal_score(place));
      rate.push_back(options().distributions.at("rate").from_normal_score(place));
      y.push_back(30 * std::sin(static_cast<double>(i)));
      colour.emplace_back(place > 0.5 ? "red" : place > 0 ? "blue" : "green");
      group.emplace_back(i % 3 == 0 ? "first" : "second");
    }
    return TableMaker()
        .numbers("plain", plain)
        .numbers("x", x)
        .numbers("count", count)
        .numbers("share", share)
        .text("colour", colour)
        .numbers("angle", angle)
        .numbers("size", size)
        .numbers("y", y)
        .numbers("rate", rate)
        .text("group", group)
        .table();
  }

  // Numbers come first, then categories.
  static const ColumnInfo& info(const Schema& schema, Eigen::Index feature) {
    std::vector<const ColumnInfo*> features;
    for (const bool categories : {false, true}) {
      for (const ColumnInfo& info : schema.columns()) {
        const bool category = info.kind == ColumnKind::categorical;
        if (info.role == ColumnRole::feature && category == categories) features.push_back(&info);
      }
    }
    return *features[static_cast<std::size_t>(feature)];
  }

  static std::string problem_in(const std::function<void()>& call) {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }
};

TEST_F(SchemaRegression, IsThatOfLeastSquaresWithARidgeOfOneRow) {
  // At the smallest sum of squares and of squared slopes, both slopes are 0.
  for (const Eigen::Index width : {1, 4, 60}) {
    constexpr Eigen::Index kFewRows = 40;
    Matrix<double> context(kFewRows, width);
    for (Eigen::Index j = 0; j < width; ++j) {
      const auto column = normal_numbers(kFewRows, static_cast<std::uint64_t>(10 + j));
      context.col(j) = Eigen::Map<const Vector<double>>(column.data(), kFewRows).array() + 7;
    }
    const auto numbers = normal_numbers(kFewRows, 9);
    const Vector<double> values = Eigen::Map<const Vector<double>>(numbers.data(), kFewRows);
    const LinearFit fit = regress(context, values, {});
    ASSERT_EQ(fit.coefficients.size(), static_cast<std::size_t>(width) + 1);
    const Eigen::Map<const Vector<double>> slopes(fit.coefficients.data(), width);
    const Vector<double> residuals = (values - context * slopes).array() - fit.coefficients.back();
    EXPECT_NEAR(residuals.sum(), 0, 1e-10);
    EXPECT_LT((context.transpose() * residuals - slopes).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_NEAR(fit.deviation, std::sqrt(residuals.squaredNorm() / kFewRows), 1e-12);
  }
}

TEST_F(SchemaRegression, BelongsToNumericFeaturesWithoutBounds) {
  const Schema schema = Schema::fit(table(), options());
  ASSERT_EQ(schema.context_features(), 4u);
  for (const ColumnInfo& column : schema.columns()) {
    const bool expected = column.role == ColumnRole::feature &&
                          column.kind != ColumnKind::categorical && column.bounds == Bounds{};
    EXPECT_EQ(column.regression.size(), expected ? 5u : 0u) << column.name;
    EXPECT_EQ(column.regression_deviation > 0, expected) << column.name;
  }
  EXPECT_EQ(info_of(schema, "count").kind, ColumnKind::integer);
  // 5 times 0.8 x and noise of 3, in units of x, whose deviation is 1 within 0.05: the standard
  // error of the slope is 3 / sqrt(240) = 0.2.
  EXPECT_NEAR(info_of(schema, "plain").regression[0], 4, 0.8);
  EXPECT_NEAR(info_of(schema, "plain").regression_deviation, 3, 0.6);
}

TEST_F(SchemaRegression, DecodingUndoesEncoding) {
  const Table rows = table();
  const Schema schema = Schema::fit(rows, options());
  const Schema::Encoded encoded = schema.encode(rows);
  const Table again = schema.decode(encoded.x, encoded.context);
  for (const Column& column : rows.columns) {
    const Column* other = again.find(column.name);
    ASSERT_NE(other, nullptr);
    for (std::size_t row = 0; row < kRows; ++row) {
      if (column.is_text()) {
        EXPECT_EQ(other->text(row), column.text(row));
      } else {
        const double expected = column.numbers[row];
        EXPECT_NEAR(other->numbers[row], expected, 1e-12 * (1 + std::abs(expected)));
      }
    }
  }
  // One context for all rows.
  const Table same = schema.decode(encoded.x, encoded.context.row(5));
  EXPECT_EQ(same.find("angle")->numbers[5], again.find("angle")->numbers[5]);
  EXPECT_NE(same.find("angle")->numbers[6], again.find("angle")->numbers[6]);
}

TEST_F(SchemaRegression, WithoutAPriorItIsTakenOffTheValue) {
  const Table rows = table();
  const Schema schema = Schema::fit(rows, options());
  const Schema::Encoded encoded = schema.encode(rows);
  const ColumnInfo& plain = info_of(schema, "plain");
  for (Eigen::Index r = 0; r < encoded.x.rows(); ++r) {
    double guess = plain.regression.back();
    for (Eigen::Index j = 0; j < 4; ++j) {
      guess += plain.regression[static_cast<std::size_t>(j)] * encoded.context(r, j);
    }
    EXPECT_NEAR(encoded.x(r, 0) * plain.scale + plain.mean + guess,
                rows.find("plain")->numbers[static_cast<std::size_t>(r)], 1e-12);
  }
}

TEST_F(SchemaRegression, WithAPriorValuesNearTheGuessAreDifferencesFromIt) {
  const Schema schema = Schema::fit(table(), options());
  for (const std::string name : {"angle", "size", "rate"}) {
    const ColumnInfo& column = info_of(schema, name);
    const FeatureDecoder decode(column);
    // The outer ones are where the line leaves the support, by far: folded, a small step there goes
    // back.
    for (const double x : {-1e9, -30., -0.5, 0., 0.5, 30., 1e9}) {
      const Eigen::RowVectorXd context = (Eigen::RowVectorXd(4) << x, 0.5, 0, 1).finished();
      const Origin origin = origin_of(column, context);
      const auto value_at = [&](double place) {
        return decode((place - column.mean) / column.scale, origin);
      };
      const double guess = value_at(0);
      EXPECT_TRUE(column.distribution->contains(guess)) << name << " at " << x;
      const double step = 1e-4 * column.regression_deviation;
      const double slope = (value_at(step) - value_at(-step)) / (2 * step);
      const auto [lower, upper] = column.distribution->support();
      if (name == "rate" || std::abs(x) < 1) {
        EXPECT_NEAR(slope, 1, 1e-6) << name << " at " << x;
      } else if (x < 0 || std::isfinite(upper)) {
        EXPECT_LT(slope, 0) << name << " at " << x;
        EXPECT_LE(std::abs(guess - (x < 0 ? lower : upper)), column.regression_deviation)
            << name << " at " << x;
      }
    }
  }
}

TEST_F(SchemaRegression, NoDecodedValueLeavesTheSupport) {
  const Schema schema = Schema::fit(table(), options());
  for (const double x : {-1e100, -5., 0., 5., 1e100}) {
    const Eigen::RowVectorXd context = (Eigen::RowVectorXd(4) << x, -x, 1, 0).finished();
    for (const double z : {-1e300, -40., -3., 0., 3., 40., 1e300}) {
      const Table decoded = schema.decode(
          Matrix<double>::Constant(1, static_cast<Eigen::Index>(schema.features()), z),
          Matrix<double>(context));
      for (const auto& [name, distribution] : options().distributions) {
        const double value = decoded.find(name)->numbers[0];
        const auto [lower, upper] = distribution.support();
        EXPECT_TRUE(value > lower && value < upper) << name << " " << value << " at " << x;
      }
    }
  }
}

TEST_F(SchemaRegression, TheJacobianIsThatOfEncoding) {
  const Table rows = table();
  const Schema schema = Schema::fit(rows, options());
  const Schema::Encoded encoded = schema.encode(rows);
  Vector<double> expected = Vector<double>::Zero(encoded.x.rows());
  constexpr double kStep = 1e-5;
  for (Eigen::Index f = 0; f < encoded.x.cols(); ++f) {
    const ColumnInfo& column = info(schema, f);
    for (Eigen::Index r = 0; r < expected.size(); ++r) {
      // Categories are codes, whose probability is that of all labels that were seen.
      if (column.kind == ColumnKind::categorical) {
        expected[r] += std::log1p(-column.unseen);
        continue;
      }
      // Whole numbers are rounded on their way back: only scaled on their way in.
      if (column.noise > 0) {
        expected[r] -= std::log(column.scale);
        continue;
      }
      const FeatureDecoder decode(column);
      const Origin origin =
          column.regression.empty() ? Origin{} : origin_of(column, encoded.context.row(r));
      const double z = encoded.x(r, f);
      expected[r] -=
          std::log((decode(z + kStep, origin) - decode(z - kStep, origin)) / (2 * kStep));
    }
  }
  EXPECT_LT((expected - encoded.log_jacobian).cwiseAbs().maxCoeff(), 1e-6);
}

// A normal model of one encoded feature, in the user's units, where the context puts the guess in
// the middle, near an end and beyond it.
TEST_F(SchemaRegression, DensitiesIntegrateToOneAtEveryContext) {
  constexpr double kDeviation = 0.4;
  const Table rows = table();
  for (const auto& [name, distribution] : options().distributions) {
    SchemaOptions one = options();
    one.bounds.clear();
    one.distributions = {{name, distribution}};
    one.condition = {"x"};
    const auto fitted_to = [&](const std::vector<double>& values, const std::vector<double>& x) {
      return TableMaker().numbers(name, values).numbers("x", x).table();
    };
    const Schema schema =
        Schema::fit(fitted_to(rows.find(name)->numbers, rows.find("x")->numbers), one);
    const Cells cells = quadrature_cells(distribution, 20'000, 0.99);
    for (const double x : {-8., -1.5, 0., 1.5, 8.}) {
      const std::vector<double> given(cells.middle.size(), x);
      const Schema::Encoded encoded = schema.encode(fitted_to(cells.middle, given));
      const Vector<double> density = normal_model_density(schema, encoded, kDeviation);
      const Eigen::Map<const Vector<double>> widths(cells.width.data(), density.size());
      EXPECT_NEAR(density.dot(widths), 1, 1e-5) << name << " at " << x;
    }
  }
}

TEST_F(SchemaRegression, ComesFromTheTrainingRowsAlone) {
  Table rows = table();
  std::vector<std::size_t> training;
  for (std::size_t i = 0; i < kRows / 2; ++i) training.push_back(2 * i);
  const Schema before = Schema::fit(rows, options(), training);
  for (Column& column : rows.columns) {
    if (column.name != "plain") continue;
    for (std::size_t i = 1; i < kRows; i += 2) column.numbers[i] += 1000 + static_cast<double>(i);
  }
  const Schema after = Schema::fit(rows, options(), training);
  EXPECT_EQ(info_of(after, "plain").regression, info_of(before, "plain").regression);
  EXPECT_EQ(info_of(after, "plain").scale, info_of(before, "plain").scale);
  const Schema all = Schema::fit(rows, options());
  EXPECT_NE(info_of(all, "plain").regression, info_of(before, "plain").regression);
}

TEST_F(SchemaRegression, TakesMoreConditionsThanRows) {
  constexpr std::size_t kFewRows = 15;
  TableMaker maker;
  maker.numbers("plain", normal_numbers(kFewRows, 1));
  SchemaOptions wide;
  wide.regress_on_conditions = true;
  for (std::size_t i = 0; i < 50; ++i) {
    wide.condition.push_back("x" + std::to_string(i));
    maker.numbers(wide.condition.back(), normal_numbers(kFewRows, 100 + i));
  }
  const Table rows = maker.table();
  const Schema schema = Schema::fit(rows, wide);
  const Schema::Encoded encoded = schema.encode(rows);
  EXPECT_GT(info_of(schema, "plain").regression_deviation, 1e-3);  // the ridge's doing
  EXPECT_NEAR(encoded.x.squaredNorm() / kFewRows, 1, 1e-9);
  const Table again = schema.decode(encoded.x, encoded.context);
  for (std::size_t row = 0; row < kFewRows; ++row) {
    EXPECT_NEAR(again.find("plain")->numbers[row], rows.find("plain")->numbers[row], 1e-12);
  }
}

TEST_F(SchemaRegression, TakesFeaturesThatAreConstantOrNearlySo) {
  std::vector<double> late(kRows, 5.0);
  for (std::size_t i = kRows / 2; i < kRows; ++i) late[i] += 0.1 * std::sin(static_cast<double>(i));
  const std::vector<double> x = normal_numbers(kRows, 1);
  const Table rows = TableMaker()
                         .numbers("same", std::vector<double>(kRows, 2.5))
                         .numbers("late", late)
                         .numbers("line", transformed(x, [](double v) { return 3 * v + 1; }))
                         .numbers("x", x)
                         .table();
  SchemaOptions one;
  one.condition = {"x"};
  one.regress_on_conditions = true;
  one.ties = Ties::keep;
  std::vector<std::size_t> training;
  for (std::size_t i = 0; i < kRows / 2; ++i) training.push_back(i);
  const Schema schema = Schema::fit(rows, one, training);
  EXPECT_EQ(info_of(schema, "same").role, ColumnRole::constant);
  EXPECT_TRUE(info_of(schema, "same").regression.empty());
  EXPECT_EQ(info_of(schema, "late").regression_deviation, 0);
  const Schema::Encoded encoded = schema.encode(rows);
  ASSERT_TRUE(encoded.x.allFinite());
  const Table again = schema.decode(encoded.x, encoded.context);
  for (std::size_t row = 0; row < kRows; ++row) {
    EXPECT_EQ(again.find("same")->numbers[row], 2.5);
    EXPECT_NEAR(again.find("late")->numbers[row], late[row], 1e-12);
    EXPECT_NEAR(again.find("line")->numbers[row], rows.find("line")->numbers[row], 1e-12);
  }
}

TEST_F(SchemaRegression, RefusesToDecodeWithoutAContext) {
  const Schema schema = Schema::fit(table(), options());
  const Schema::Encoded encoded = schema.encode(table());
  try {
    (void)schema.decode(encoded.x);
    ADD_FAILURE() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected a context, which the features' regression"));
  }
  EXPECT_THROW((void)schema.decode(encoded.x, encoded.context.topRows(7)), std::invalid_argument);
}

TEST_F(SchemaRegression, LeavesOtherSchemasAsTheyAre) {
  // Without conditions there is nothing to regress on, and bounds and labels take no part.
  SchemaOptions none = mixed_options();
  none.condition.clear();
  const std::string plain = Schema::fit(mixed_table(), none).to_json();
  EXPECT_EQ(plain.find("regression"), std::string::npos);
  none.regress_on_conditions = true;
  EXPECT_EQ(Schema::fit(mixed_table(), none).to_json(), plain);

  SchemaOptions off = options();
  off.regress_on_conditions = false;
  const Schema without = Schema::fit(table(), off);
  const Schema with = Schema::fit(table(), options());
  EXPECT_EQ(without.to_json().find("regression"), std::string::npos);
  for (std::size_t i = 0; i < with.columns().size(); ++i) {
    if (!with.columns()[i].regression.empty()) continue;
    EXPECT_EQ(with.columns()[i], without.columns()[i]);
  }
}

TEST_F(SchemaRegression, JsonKeepsIt) {
  const Schema schema = Schema::fit(table(), options());
  const std::string text = schema.to_json();
  const Schema again = Schema::from_json(text, "m");
  EXPECT_EQ(again, schema);
  EXPECT_EQ(again.to_json(), text);
}

TEST_F(SchemaRegression, RefusesDamagedRegressions) {
  const std::string text = Schema::fit(table(), options()).to_json();
  using Damage = std::function<void(nlohmann::json&)>;
  constexpr std::size_t kPlain = 0;
  constexpr std::size_t kX = 1;
  constexpr std::size_t kShare = 3;
  constexpr std::size_t kColour = 4;
  const auto give = [](auto& column) {
    column["regression"] = {1, 2, 3, 4, 5};
    column["regression_deviation"] = 1;
  };
  for (const auto& [place, problem, damage] :
       std::vector<std::tuple<std::size_t, std::string, Damage>>{
           {kPlain, "no list in regression", [](auto& c) { c["regression"] = 3; }},
           {kPlain, "else than finite numbers", [](auto& c) { c["regression"][1] = "1"; }},
           {kPlain, "else than finite numbers", [](auto& c) { c["regression"][1] = nullptr; }},
           {kPlain, "another number of conditions", [](auto& c) { c["regression"].erase(1); }},
           {kPlain, "another number of conditions", [](auto& c) { c["regression"].push_back(0); }},
           {kPlain, "where none belongs", [](auto& c) { c["regression"].clear(); }},
           {kPlain, "lacks regression_deviation", [](auto& c) { c.erase("regression_deviation"); }},
           {kPlain, "negative deviation", [](auto& c) { c["regression_deviation"] = -1; }},
           {kPlain, "no number", [](auto& c) { c["regression_deviation"] = "1"; }},
           {kPlain, "where none belongs", [](auto& c) { c["lower"] = 0; }},
           {kX, "where none belongs", give},
           {kShare, "where none belongs", give},
           {kColour, "where none belongs", give}}) {
    nlohmann::json json = nlohmann::json::parse(text);
    damage(json["columns"][place]);
    const std::string message = problem_in([&] { Schema::from_json(json.dump(), "m"); });
    EXPECT_THAT(message, StartsWith("m: the schema is damaged: ")) << problem;
    EXPECT_THAT(message, HasSubstr(problem));
  }
  // No conditions, but a regression on none.
  nlohmann::json json = nlohmann::json::parse(text);
  for (auto& column : json["columns"]) {
    if (column["role"] == "condition") column["role"] = "feature";
    if (column["kind"] == "categorical") column["unseen"] = 0.01;
    if (column.contains("regression")) column["regression"] = {0.5};
  }
  EXPECT_THAT(problem_in([&] { Schema::from_json(json.dump(), "m"); }),
              HasSubstr("another number of conditions"));
}

}  // namespace
}  // namespace jeffreys
