#include "jeffreys/sbi/prior.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <stdexcept>

#include "jeffreys/base/input_error.h"
#include "jeffreys/table/schema.h"
#include "support/mistake_of.h"
#include "support/not_finite.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using jeffreys::testing::mistake_of;
using jeffreys::testing::problem_of;
using jeffreys::testing::ScratchTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Prior mixed_prior() {
  return Prior({{"zeal", Distribution::uniform(-1, 1)},
                {"angle", Distribution::normal(5, 2)},
                {"size", Distribution::normal(0, 3, {.lower = 0})},
                {"rate of decay", Distribution::log_normal(-2, 0.1, {0.1, 0.2})},
                {"a.\"b\\\n\xc3\xa4", Distribution::normal(0, 1, {8, 10})},
                {"b", Distribution::uniform(0.1, 1e16)}});
}

// "LINE:COLUMN: problem" of the text as a file p.toml.
std::string refusal(const std::string& text) {
  try {
    Prior::from_toml(text, "p.toml");
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("p.toml:")) << message;
    return message.substr(7);
  }
  return "none";
}

TEST(Prior, DrawsHaveTheirDistributions) {
  const Prior prior = mixed_prior();
  constexpr Eigen::Index kRows = 20'000;
  const Matrix<double> sample = prior.sample(kRows, 3);
  Matrix<double> scores(kRows, prior.dimension());
  for (Eigen::Index i = 0; i < prior.dimension(); ++i) {
    const auto& [name, distribution] = prior.parameters()[static_cast<std::size_t>(i)];
    const auto [lower, upper] = distribution.support();
    double largest_gap = 0;  // of Kolmogorov and Smirnov
    for (Eigen::Index row = 0; row < kRows; ++row) {
      EXPECT_TRUE(sample(row, i) > lower && sample(row, i) < upper) << name;
      scores(row, i) = distribution.normal_score(sample(row, i));
    }
    std::vector<double> sorted(kRows);
    for (Eigen::Index row = 0; row < kRows; ++row) {
      sorted[static_cast<std::size_t>(row)] = scores(row, i);
    }
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t row = 0; row < sorted.size(); ++row) {
      const double expected = 0.5 * std::erfc(-sorted[row] / std::numbers::sqrt2);
      const double before = static_cast<double>(row) / kRows;
      largest_gap = std::max({largest_gap, expected - before, before + 1.0 / kRows - expected});
    }
    // The root of rows times the gap has mean 0.87 and deviation 0.26; it exceeds 1.95 once in
    // 1000 seeds.
    EXPECT_LT(std::sqrt(kRows) * largest_gap, 1.95) << name;
  }
  // Parameters are independent: correlations have standard error 0.007.
  const Matrix<double> products = scores.transpose() * scores / kRows;
  for (Eigen::Index i = 0; i < prior.dimension(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) EXPECT_NEAR(products(i, j), 0, 0.028);
  }
}

TEST(Prior, RowsDependOnSeedIterationAndNumberAlone) {
  const Prior prior = mixed_prior();
  const Matrix<double> sample = prior.sample(1000, 7, 2);
  EXPECT_EQ(prior.sample(1000, 7, 2), sample);
  EXPECT_EQ(prior.sample(10, 7, 2), sample.topRows(10));
  EXPECT_EQ(prior.sample(10, 7, 2, 601), sample.middleRows(601, 10));
  EXPECT_EQ(prior.sample(0, 7, 2).rows(), 0);
  EXPECT_NE(prior.sample(10, 8, 2), sample.topRows(10));
  EXPECT_NE(prior.sample(10, 7, 1), sample.topRows(10));
  EXPECT_EQ(mistake_of([&] { prior.sample(-1, 0); }), "rows: expected 0 or more, got -1");
}

TEST(Prior, TheDensityIsAProduct) {
  const Prior prior({{"a", Distribution::uniform(-1, 1)}, {"b", Distribution::normal(5, 2)}});
  Matrix<double> rows(5, 2);
  rows << 0.5, 6, 1, 5, 1.5, 6, std::nan(""), 6, 0, kInfinity;
  const Vector<double> log_prob = prior.log_prob(rows);
  const double normal = -std::log(2 * std::sqrt(2 * std::numbers::pi));
  EXPECT_NEAR(log_prob[0], -std::numbers::ln2 + normal - 0.125, 1e-14);
  EXPECT_NEAR(log_prob[1], -std::numbers::ln2 + normal, 1e-14);
  EXPECT_EQ(log_prob[2], -kInfinity);
  EXPECT_TRUE(std::isnan(log_prob[3]));
  EXPECT_EQ(log_prob[4], -kInfinity);
  EXPECT_TRUE(prior.contains(std::vector<double>{1, 6}));
  EXPECT_FALSE(prior.contains(std::vector<double>{1.5, 6}));
  EXPECT_FALSE(prior.contains(std::vector<double>{0, std::nan("")}));
  EXPECT_EQ(mistake_of([&] { prior.log_prob(Matrix<double>::Zero(1, 3)); }),
            "parameters: expected 2 columns, got 3");
  EXPECT_EQ(mistake_of([&] { prior.contains(std::vector<double>{1}); }),
            "row: expected 2 columns, got 1");
}

TEST(Prior, SamplesFitASchemaWithItsDistributions) {
  const Prior prior({{"a", Distribution::uniform(-1, 1)}, {"b", Distribution::normal(5, 2)}});
  const Matrix<double> sample = prior.sample(500, 1);
  Table table{"t.csv", {}, {}};
  for (Eigen::Index i = 0; i < prior.dimension(); ++i) {
    Column& column = table.columns.emplace_back();
    column.name = prior.names()[static_cast<std::size_t>(i)];
    for (Eigen::Index row = 0; row < sample.rows(); ++row) {
      column.numbers.push_back(sample(row, i));
    }
  }
  SchemaOptions options;
  options.distributions = prior.distributions();
  const Schema schema = Schema::fit(table, options);
  EXPECT_EQ(schema.feature_names(), prior.names());
  EXPECT_THAT(schema.notes(), ElementsAre());
}

TEST(Prior, RefusesWhatIsNoPrior) {
  const Distribution normal;
  EXPECT_EQ(mistake_of([&] { Prior({}); }), "parameters: expected one or more, got none");
  EXPECT_EQ(mistake_of([&] {
              Prior({{"", normal}});
            }),
            "parameters: expected names, got an empty one");
  EXPECT_EQ(mistake_of([&] {
              Prior({{"a", normal}, {"a", normal}});
            }),
            "parameters: expected different names, got \"a\" twice");
  EXPECT_EQ(mistake_of([&] {
              Prior({{"a", Distribution::normal(0, 0)}});
            }),
            "parameter \"a\": deviation: expected a positive number, got 0");
}

TEST(Prior, FilesAndJsonGiveItBack) {
  const Prior prior = mixed_prior();
  EXPECT_EQ(Prior::from_toml(prior.to_toml(), "p.toml"), prior);
  EXPECT_EQ(Prior::from_json(prior.to_json(), "m"), prior);
  EXPECT_EQ(Prior({prior.parameters()[0], prior.parameters()[2]}).to_toml(),
            "[zeal]\ndistribution = \"uniform\"\nlower = -1\nupper = 1\n\n"
            "[size]\ndistribution = \"normal\"\nmean = 0\ndeviation = 3\nlower = 0\n");
  EXPECT_THAT(Prior({prior.parameters()[0], prior.parameters()[1]}).describe(),
              ElementsAre("zeal: uniform, -1 to 1", "angle: normal with mean 5 and deviation 2"));
}

TEST(Prior, FilesMayBeWrittenInSeveralWays) {
  const Prior prior = Prior::from_toml(
      "b = {distribution = \"uniform\", lower = 0, upper = 1e3} # a comment\n"
      "a.distribution = \"normal\"\n"
      "a.deviation = 2.5\n"
      "a.mean = -1\n"
      "[\"c d\"]\n"
      "upper = 3\n"
      "distribution = 'log_normal'\n"
      "mean = 0\n"
      "deviation = 1\n",
      "p.toml");
  EXPECT_THAT(prior.names(), ElementsAre("b", "a", "c d"));
  EXPECT_EQ(prior.parameters()[0].distribution, Distribution::uniform(0, 1000));
  EXPECT_EQ(prior.parameters()[1].distribution, Distribution::normal(-1, 2.5));
  EXPECT_EQ(prior.parameters()[2].distribution, Distribution::log_normal(0, 1, {.upper = 3}));
}

TEST(Prior, RefusesWrongFiles) {
  const std::string uniform = "[a]\ndistribution = \"uniform\"\n";
  const std::string normal = "[a]\ndistribution = \"normal\"\n";
  for (const auto& [text, problem] : std::vector<std::pair<std::string, std::string>>{
           {"", " has no parameter; write a table for each parameter"},
           {"# nothing\n", " has no parameter; write a table for each parameter"},
           {"a = 1", "1:5: \"a\" is not a table; write a table for each parameter"},
           {"[[a]]\nlower = 1", "1:1: \"a\" is not a table"},
           {"[\"\"]\nlower = 1", "1:1: a parameter has an empty name"},
           {"[a]\nlower = 0\n", "1:1: [a] lacks distribution; it is one of uniform, normal, log"},
           {"[a]\ndistribution = 3\n", "2:16: [a] distribution: expected one of uniform, normal"},
           {"[a]\ndistribution = \"gamma\"\n",
            "2:16: [a] distribution: expected one of uniform, normal, log_normal, got \"gamma\""},
           {"[a]\ndistribtion = \"normal\"\n",
            "2:15: [a] has no key \"distribtion\"; did you mean distribution?"},
           {uniform + "lowr = 0\nupper = 1\n", "3:8: [a] has no key \"lowr\"; did you mean lower?"},
           {uniform + "lower = 0\nupper = 1\nstep = 1\n",
            "5:8: [a] has no key \"step\"; known: distribution, lower, upper"},
           {uniform + "lower = 0\nupper = 1\nmean = 1\n", "5:8: [a] has no key \"mean\"; known:"},
           {uniform + "lower = 0\n", "1:1: [a] lacks upper; uniform needs lower and upper"},
           {normal + "mean = 0\n", "1:1: [a] lacks deviation; normal needs mean and deviation"},
           {uniform + "lower = \"0\"\nupper = 1\n", "3:9: lower: expected a number"},
           {uniform + "lower = true\nupper = 1\n", "3:9: lower: expected a number"},
           {uniform + "lower = -inf\nupper = 1\n",
            "3:9: lower: expected a finite number, got -inf; for no end leave it out"},
           {normal + "mean = nan\ndeviation = 1\n", "3:8: mean: expected a finite number, got nan"},
           {uniform + "lower = 1\nupper = 1\n",
            "3:9: [a] lower: expected a number below upper, 1, got 1"},
           {normal + "mean = 0\ndeviation = 0\n",
            "4:13: [a] deviation: expected a positive number, got 0"},
           {normal + "mean = 0\ndeviation = 1\nlower = 3\nupper = 2\n",
            "5:9: [a] lower: expected a number below upper, 2, got 3"},
           {"[a.b]\ndistribution = \"normal\"\n",
            "1:1: [a.b] is a table inside [a]; write [\"a.b\"] if the name has a dot"},
           {uniform + "lower = 0\nlower = 1\n", "4:"},
           {uniform + "lower = 0\nupper = 1\n" + uniform, "5:"},
           {"[a\n", "1:"},
           {"\xff\xfe", "1:"}}) {
    EXPECT_THAT(refusal(text), HasSubstr(problem)) << text;
  }
}

class PriorFile : public ScratchTest {};

TEST_F(PriorFile, IsReadAndRefused) {
  EXPECT_EQ(Prior::read(file("p.toml", mixed_prior().to_toml())), mixed_prior());
  const auto read = [](const std::filesystem::path& path) { Prior::read(path); };
  EXPECT_THAT(problem_of(path("none.toml"), read), HasSubstr("cannot be read"));
  EXPECT_THAT(problem_of(path("."), read), HasSubstr("is a directory"));
  EXPECT_THAT(problem_of(file("large.toml", std::string(10'000'001, '\n')), read),
              HasSubstr("too large"));
}

TEST(Prior, RefusesDamagedJson) {
  for (const auto& [text, problem] : std::vector<std::pair<std::string, std::string>>{
           {"", "not a list"},
           {"{}", "not a list"},
           {"[]", "expected one or more"},
           {"[1]", "something else than a name"},
           {R"([{"name": "a"}])", "something else than a name"},
           {R"([{"name": 1, "distribution": {}}])", "something else than a name"},
           {R"([{"name": "a", "distribution": {"kind": "normal"}}])", "lacks mean"},
           {R"([{"name": "", "distribution": {"kind":"uniform","lower":0,"upper":1}}])",
            "an empty one"}}) {
    try {
      Prior::from_json(text, "m");
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_EQ(error.file(), "m");
      EXPECT_THAT(error.problem(), HasSubstr("the prior is damaged: "));
      EXPECT_THAT(error.problem(), HasSubstr(problem)) << text;
    }
  }
}

}  // namespace
}  // namespace jeffreys
