// Whether a row is unusual, and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "jeffreys/base/input_error.h"
#include "jeffreys/fit/evaluate_density.h"
#include "jeffreys/fit/explain.h"
#include "jeffreys/fit/fit_table.h"
#include "support/mistake_of.h"
#include "support/scratch_folder.h"
#include "table/tables.h"

namespace jeffreys {
namespace {

using jeffreys::testing::normal_numbers;
using jeffreys::testing::TableMaker;
using ::testing::HasSubstr;

ChosenSettings settings_of(const std::vector<std::string>& texts) {
  ChosenSettings settings;
  for (const std::string& text : texts) settings.add_text(text, "test");
  return settings;
}

// Two columns that go together, from this seed on.
Table pairs_table(std::size_t rows, std::uint64_t seed) {
  std::vector<double> a = normal_numbers(rows, 2 * seed + 1);
  std::vector<double> b = normal_numbers(rows, 2 * seed + 2);
  for (std::size_t i = 0; i < rows; ++i) b[i] = a[i] + 0.3 * b[i];
  return TableMaker().numbers("a", a).numbers("b", b).table();
}

TableFit quick_fit(const Table& table, const std::string& calibration, int iterations = 15) {
  return fit_table(table, {},
                   settings_of({"iterations=" + std::to_string(iterations), "method=mle",
                                "flow.transforms=1", "flow.hidden=8", "learning_rate.main=0.02",
                                "validation.every=5", "calibration.fraction=" + calibration}));
}

// Of a fresh row after each of 300 fits to fresh tables. Under uniformity the largest distance from
// it exceeds 1.95 / sqrt(300) = 0.113 once in a thousand times.
TEST(PValues, AreUniformOverFits) {
  constexpr std::size_t kFits = 300;
  std::vector<double> p;
  for (std::size_t i = 0; i < kFits; ++i) {
    const TableFit made = quick_fit(pairs_table(120, 2 * i), "0.4");
    ASSERT_EQ(made.table.calibration.size(), 48);
    ASSERT_TRUE(made.fit.density.calibration().kept);
    const TableLogProb score = made.fit.density.log_prob(pairs_table(1, 2 * i + 1), From::main);
    p.push_back(made.fit.density.p_values(score, From::main)(0));
  }
  std::sort(p.begin(), p.end());
  double distance = 0;
  for (std::size_t i = 0; i < kFits; ++i) {
    // A p-value is a multiple of 1 / 49, and its distribution function is exact there.
    const auto up_to = std::upper_bound(p.begin(), p.end(), p[i] + 1e-9) - p.begin();
    distance = std::max(distance, std::abs(static_cast<double>(up_to) / kFits - p[i]));
  }
  EXPECT_LT(distance, 0.113);
}

class KeptPValues : public jeffreys::testing::ScratchTest {};

TEST_F(KeptPValues, AreSmallForUnusualRows) {
  const TableFit made = quick_fit(pairs_table(400, 0), "0.25", 200);
  made.fit.density.save(path("m"));
  const auto density = TabularDensity<float>::load(path("m"));
  EXPECT_TRUE(density.calibration().kept);
  EXPECT_EQ(density.calibration().main, made.fit.density.calibration().main);
  const Table rows = TableMaker().numbers("a", {0, 2}).numbers("b", {0, -2}).table();
  const Vector<double> p = density.p_values(density.log_prob(rows, From::main), From::main);
  EXPECT_GT(p(0), 0.3);
  EXPECT_DOUBLE_EQ(p(1), 1.0 / 101);
  TableLogProb scores = density.log_prob(rows, From::main);
  scores.log_prob(0) = NAN;
  scores.with_gaps = {1};
  EXPECT_TRUE(std::isnan(density.p_values(scores, From::main)(0)));
  EXPECT_TRUE(std::isnan(density.p_values(scores, From::main)(1))) << "it has gaps";
}

TEST(PValues, AreFromHeldOutRowsWhereNoneWereKept) {
  const TableFit made = quick_fit(pairs_table(100, 0), "0");
  EXPECT_FALSE(made.fit.density.calibration().kept);
  EXPECT_EQ(made.fit.density.calibration().main.size(), 20);
  const TableFit none =
      fit_table(pairs_table(100, 0), {},
                settings_of({"iterations=5", "method=mle", "validation.fraction=0"}));
  const TableLogProb scores = none.fit.density.log_prob(pairs_table(1, 0), From::main);
  EXPECT_THROW((void)none.fit.density.p_values(scores, From::main), std::invalid_argument);
}

TEST(PValues, NeedAShareThatLeavesRowsToTrainOn) {
  EXPECT_THAT(jeffreys::testing::mistake_of([] { (void)quick_fit(pairs_table(100, 0), "0.95"); }),
              HasSubstr("calibration.fraction: expected a share that leaves at least 10 rows"));
}

// b is a within 0.3; labels agree with the sign of a; the row breaks one of both.
class Explained : public ::testing::Test {
 protected:
  static Table labelled(std::size_t rows) {
    Table table = pairs_table(rows, 3);
    std::vector<std::string> labels;
    std::vector<double> spikes = normal_numbers(rows, 99);
    for (std::size_t i = 0; i < rows; ++i) {
      const bool up = table.columns[0].numbers[i] > 0;
      labels.emplace_back(up ? "up" : "down");
      if (!up) spikes[i] = 10;
    }
    return TableMaker()
        .numbers("a", table.columns[0].numbers)
        .numbers("b", table.columns[1].numbers)
        .text("sign", labels)
        .numbers("spike", spikes)
        .table();
  }

  static const TableFit& made() {
    static const TableFit fit = fit_table(
        labelled(500), {},
        settings_of({"members=1", "iterations=400", "flow.transforms=2", "flow.hidden=16,16",
                     "learning_rate.main=0.01", "learning_rate.proxy=0.01"}));
    return fit;
  }
};

TEST_F(Explained, NamesTheColumn) {
  const Table rows = TableMaker()
                         .numbers("a", {1, 1, 1, -1, 1})
                         .numbers("b", {1, -3, 1, -1, 1})
                         .text("sign", {"up", "up", "down", "down", "never"})
                         .numbers("spike", {0.1, 0, 0.1, 0.3, -0.2})
                         .table();
  for (const From from : {From::main, From::proxy}) {
    const Surprises found = explain(made().fit.density, rows, from);
    EXPECT_THAT(found.columns, ::testing::ElementsAre("a", "b", "sign", "spike"));
    ASSERT_EQ(found.nats.rows(), 5);
    EXPECT_LT(found.nats.row(0).maxCoeff(), 1);  // an ordinary row
    Eigen::Index most = 0;
    found.nats.row(1).maxCoeff(&most);
    EXPECT_EQ(most, 1) << found.nats.row(1);  // b is far from a
    found.nats.row(3).maxCoeff(&most);
    EXPECT_EQ(most, 3) << found.nats.row(3);  // rows that are down have the atom
    found.nats.row(4).maxCoeff(&most);
    EXPECT_EQ(most, 2) << found.nats.row(4);  // a label that was never seen
    EXPECT_GT(found.nats(2, 2), 1) << found.nats.row(2);
  }
}

// The chain rule: -log p(label | others) is what the joint densities of all labels say.
TEST_F(Explained, IsTheConditionalProbabilityOfAClass) {
  const auto row = [](const std::string& label) {
    return TableMaker()
        .numbers("a", {0.2})
        .numbers("b", {0.1})
        .text("sign", {label})
        .numbers("spike", {0.4})
        .table();
  };
  const auto& density = made().fit.density;
  std::vector<double> joint;
  for (const char* label : {"up", "down", "other"}) {
    joint.push_back(std::exp(density.log_prob(row(label), From::main, Unusual::keep).log_prob(0)));
  }
  // What is left to "other" does not depend on the other columns.
  const double unseen = 0.5 / 401;
  const double seen = joint[0] + joint[1];
  double entropy = -unseen * std::log(unseen);
  for (const double j : {joint[0], joint[1]}) {
    const double p = (1 - unseen) * j / seen;
    entropy -= p * std::log(p);
  }
  const double expected = -std::log((1 - unseen) * joint[1] / seen) - entropy;
  EXPECT_NEAR(explain(density, row("down"), From::main).nats(0, 2), expected, 1e-4);
}

TEST(UnusualRows, AreScoredWithTheReason) {
  std::vector<std::string> labels(100, "x");
  for (std::size_t i = 0; i < 50; ++i) labels[i] = "y";
  std::vector<double> share = normal_numbers(100, 1);
  for (double& value : share) value = 1 / (1 + std::exp(-value));
  SchemaOptions columns;
  columns.bounds = {{"s", {0, 1}}};
  const Table table = TableMaker()
                          .text("k", labels)
                          .numbers("s", share)
                          .numbers("g", normal_numbers(100, 2))
                          .table();
  const TableFit made =
      fit_table(table, columns, settings_of({"iterations=10", "method=mle", "flow.transforms=1"}));
  const Table rows = TableMaker()
                         .text("k", {"x", "z", "y", "z"})
                         .numbers("s", {0.5, 0.5, 1.5, -1})
                         .numbers("g", {0, 0, 0, 0})
                         .table();
  const TableLogProb scores = made.fit.density.log_prob(rows, {}, Unusual::keep);
  ASSERT_EQ(scores.log_prob.size(), 4);
  EXPECT_TRUE(std::isfinite(scores.log_prob(0)));
  EXPECT_TRUE(std::isfinite(scores.log_prob(1)));
  EXPECT_EQ(scores.log_prob(2), -INFINITY);
  EXPECT_EQ(scores.log_prob(3), -INFINITY);
  EXPECT_EQ(scores.unusual.size(), 3u);
  EXPECT_EQ(scores.unusual.at(1),
            "column \"k\" has the label \"z\", which the model does not know");
  EXPECT_EQ(scores.unusual.at(2), "column \"s\" has 1.5, outside its bounds 0 to 1");
  EXPECT_THAT(scores.unusual.at(3), HasSubstr("; column \"s\" has -1"));
  EXPECT_THROW((void)made.fit.density.log_prob(rows), InputError);
  EXPECT_THROW((void)evaluate_density(made.fit.density, rows), InputError);
}

// Without the condition's label there is nothing that the density could be of.
TEST(UnusualRows, WithAnUnknownConditionHaveNoScore) {
  std::vector<std::string> labels(100, "x");
  for (std::size_t i = 0; i < 50; ++i) labels[i] = "y";
  SchemaOptions columns;
  columns.condition = {"k"};
  const TableFit made =
      fit_table(TableMaker().text("k", labels).numbers("a", normal_numbers(100, 1)).table(),
                columns, settings_of({"iterations=10", "method=mle", "flow.transforms=1"}));
  const Table rows = TableMaker().text("k", {"z", "x"}).numbers("a", {0, 0}).table();
  const TableLogProb scores = made.fit.density.log_prob(rows, {}, Unusual::keep);
  EXPECT_THAT(scores.rows, ::testing::ElementsAre(1u));
  EXPECT_EQ(scores.unusual.count(0), 1u);
}

}  // namespace
}  // namespace jeffreys
