// Conditions with heavy tails, which are drawn in before they are standardised.
#include "table/condition_map.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "jeffreys/base/input_error.h"
#include "table/tables.h"

namespace jeffreys::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

constexpr std::size_t kRows = 2000;

// The quotient of two normal numbers is a Cauchy one.
std::vector<double> cauchy_numbers(std::uint64_t seed, double centre = 0) {
  std::vector<double> numbers = normal_numbers(kRows, seed);
  const std::vector<double> others = normal_numbers(kRows, seed + 1);
  for (std::size_t i = 0; i < kRows; ++i) numbers[i] = centre + numbers[i] / others[i];
  return numbers;
}

Table heavy_table() {
  return TableMaker()
      .numbers("feature", normal_numbers(kRows, 1))
      .numbers("normal", transformed(normal_numbers(kRows, 2), [](double v) { return 3 + 2 * v; }))
      .numbers("heavy", cauchy_numbers(3, 100))
      .table();
}

Schema heavy_schema(std::span<const std::size_t> training = {}) {
  SchemaOptions options;
  options.condition = {"normal", "heavy"};
  return Schema::fit(heavy_table(), options, training);
}

TEST(HeavyTails, AreFoundWhereTheyAreOnly) {
  const Schema schema = heavy_schema();
  EXPECT_EQ(info_of(schema, "normal").tails, HeavyTails{});
  EXPECT_EQ(info_of(schema, "feature").tails, HeavyTails{});
  // Median and quartiles of a Cauchy distribution; standard errors of pi / (2 sqrt(rows)) = 0.035.
  EXPECT_NEAR(info_of(schema, "heavy").tails.centre, 100, 0.15);
  EXPECT_NEAR(info_of(schema, "heavy").tails.width, 1, 0.15);
}

TEST(HeavyTails, OfLightDistributionsThereAreNone) {
  for (const auto& function : std::vector<std::function<double(double)>>{
           [](double v) { return v; },
           [](double v) { return std::erf(v / std::numbers::sqrt2); },  // uniform
           [](double v) { return v + 10 * (v > 0 ? 1 : -1); },          // two modes
           [](double v) { return v * v > 1 ? 1.0 : 0.0; },              // two values
           [](double v) { return std::max(v, 0.0); }}) {                // half of them equal
    EXPECT_EQ(find_tails(transformed(normal_numbers(kRows, 5), function)), HeavyTails{});
  }
  EXPECT_EQ(find_tails({1.0}), HeavyTails{});
  EXPECT_NE(
      find_tails(transformed(normal_numbers(kRows, 5), [](double v) { return std::exp(2 * v); })),
      HeavyTails{});
}

TEST(HeavyTails, ComeFromTheTrainingRows) {
  std::vector<std::size_t> near;
  const std::vector<double> heavy = cauchy_numbers(3, 100);
  for (std::size_t i = 0; i < kRows; ++i) {
    if (std::abs(heavy[i] - 100) < 2) near.push_back(i);
  }
  EXPECT_EQ(info_of(heavy_schema(near), "heavy").tails, HeavyTails{});
}

TEST(HeavyTails, DrawnInValuesAreStandardisedAndKeepTheirOrder) {
  const Matrix<double> context = heavy_schema().encode(heavy_table()).context;
  for (Eigen::Index c = 0; c < 2; ++c) {
    EXPECT_NEAR(context.col(c).mean(), 0, 1e-12);
    EXPECT_NEAR(context.col(c).squaredNorm() / kRows, 1, 1e-12);
  }
  EXPECT_LT(context.col(1).cwiseAbs().maxCoeff(), 10);
  const std::vector<double> heavy = cauchy_numbers(3, 100);
  std::vector<std::size_t> order(kRows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return heavy[a] < heavy[b]; });
  for (std::size_t i = 1; i < kRows; ++i) {
    EXPECT_LT(context(static_cast<Eigen::Index>(order[i - 1]), 1),
              context(static_cast<Eigen::Index>(order[i]), 1));
  }
}

TEST(HeavyTails, ValuesComeBack) {
  const Schema schema = heavy_schema();
  std::vector<double> values{0, 0.1, 99.9, 100, 1e100, -123456789.125};
  for (double size = 1e-3; size < 1e12; size *= 7.3) {
    for (const double sign : {-1.0, 1.0})
      values.push_back(std::stod(fmt::format("{:.12g}", sign * size)));
  }
  const Table table = TableMaker()
                          .numbers("feature", std::vector<double>(values.size(), 0))
                          .numbers("normal", std::vector<double>(values.size(), 0.3))
                          .numbers("heavy", values)
                          .table();
  const Schema::Encoded encoded = schema.encode(table);
  const std::vector<double> again =
      schema.decode(encoded.x, encoded.context).find("heavy")->numbers;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // What is nearer to zero than to the centre has lost its last digits to the difference.
    if (std::abs(values[i]) > 10) {
      EXPECT_EQ(again[i], values[i]);
    } else {
      EXPECT_NEAR(again[i], values[i], 1e-12);
    }
  }
}

TEST(HeavyTails, AreInTheFileOnlyWhereThereAreSome) {
  const Schema schema = heavy_schema();
  const Json json = Json::parse(schema.to_json());
  EXPECT_FALSE(json.at("columns")[1].contains("tails"));
  EXPECT_EQ(json.at("columns")[2].at("tails").at("width"), info_of(schema, "heavy").tails.width);
  EXPECT_EQ(Schema::from_json(schema.to_json(), "f"), schema);
  // As an earlier version wrote it.
  Json old = json;
  old["columns"][2].erase("tails");
  const Schema plain = Schema::from_json(old.dump(), "f");
  EXPECT_EQ(info_of(plain, "heavy").tails, HeavyTails{});
  const ColumnInfo& info = info_of(plain, "heavy");
  EXPECT_EQ(plain.encode_conditions(
                std::map<std::string, std::string>{{"normal", "1"}, {"heavy", "700"}})(0, 1),
            (700 - info.mean) / info.scale);
}

TEST(HeavyTails, DamagedOnesAreRefused) {
  const std::string good = heavy_schema().to_json();
  const auto refusal = [&](std::size_t column, const Json& tails) -> std::string {
    Json json = Json::parse(good);
    json["columns"][column]["tails"] = tails;
    try {
      Schema::from_json(json.dump(), "f");
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal(2, {{"centre", 0}, {"width", 1}}), "none");
  EXPECT_THAT(refusal(2, {{"centre", 0}, {"width", 0}}), HasSubstr("width that is not positive"));
  EXPECT_THAT(refusal(2, {{"centre", 0}, {"width", -1}}), HasSubstr("width that is not positive"));
  EXPECT_THAT(refusal(2, {{"centre", 0}}), HasSubstr("lacks width"));
  EXPECT_THAT(refusal(2, {{"centre", "a"}, {"width", 1}}), HasSubstr("no number in centre"));
  EXPECT_THAT(refusal(2, 3), HasSubstr("not an object"));
  EXPECT_THAT(refusal(0, {{"centre", 0}, {"width", 1}}), HasSubstr("tails where none belong"));
}

}  // namespace
}  // namespace jeffreys::testing
