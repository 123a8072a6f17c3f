// Columns given at will, against densities whose marginals and conditionals are known.
#include "jeffreys/fit/given.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fit/small_fits.h"
#include "jeffreys/model/gaussian_mixture.h"
#include "support/gaussian_models.h"
#include "support/refusal_of.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kCorrelation = 0.8;

// x1 and x2 are correlated standard normal numbers; x3 is independent, with mean 1 and deviation 2.
TabularDensity<double> normal_density() {
  GaussianComponent part{.weight = 1, .mean = Vector<double>(3), .factor = Matrix<double>(3, 3)};
  part.mean << 0, 0, 1;
  part.factor << 1, 0, 0, kCorrelation, std::sqrt(1 - kCorrelation * kCorrelation), 0, 0, 0, 2;
  return {Schema::identity(3), GaussianMixture<double>({part})};
}

Table row_of(const std::vector<std::pair<std::string, double>>& cells) {
  TableMaker maker;
  for (const auto& [name, value] : cells) maker.numbers(name, {value});
  return maker.table();
}

TEST(Given, MarginalsAreThoseOfTheDensity) {
  const auto density = normal_density();
  const Table table = row_of({{"x1", 0.7}, {"x2", -0.4}, {"x3", 2.5}});
  const auto of = [&](const std::vector<std::string>& columns,
                      const std::vector<std::string>& given) {
    const TableLogProb found = log_prob_given(density, table, columns, given, From::main);
    EXPECT_LT(found.error(0), 0.051);  // what scoring stops at
    return found.log_prob(0);
  };
  const double deviation = std::sqrt(1 - kCorrelation * kCorrelation);
  const double x1 = log_normal(0.7, 0, 1);
  const double x2_given_x1 = log_normal(-0.4, kCorrelation * 0.7, deviation);
  const double x3 = log_normal(2.5, 1, 2);
  EXPECT_NEAR(of({"x1"}, {}), x1, 0.05);
  EXPECT_NEAR(of({"x3"}, {}), x3, 0.05);
  EXPECT_NEAR(of({"x2"}, {"x1"}), x2_given_x1, 0.07);
  EXPECT_NEAR(of({"x2", "x3"}, {"x1"}), x2_given_x1 + x3, 0.05);
  EXPECT_NEAR(of({}, {}), x1 + x2_given_x1 + x3, 1e-9);
}

TEST(Given, SamplesFollowTheConditional) {
  const auto density = normal_density();
  constexpr Eigen::Index kRows = 4000;
  const GivenSamples drawn = sample_given(density, row_of({{"x1", 1.5}}), kRows, 3, From::main);
  EXPECT_GT(drawn.effective_samples, static_cast<double>(kRows));
  const Matrix<double> x = matrix_from_table(drawn.table, {"x1", "x2", "x3"});
  EXPECT_TRUE((x.col(0).array() == 1.5).all());
  const double variance = 1 - kCorrelation * kCorrelation;
  // Four standard errors of independent draws.
  EXPECT_NEAR(x.col(1).mean(), kCorrelation * 1.5, 4 * std::sqrt(variance / kRows));
  EXPECT_NEAR((x.col(1).array() - x.col(1).mean()).square().mean(), variance,
              4 * variance * std::sqrt(2.0 / kRows));
  EXPECT_NEAR(x.col(2).mean(), 1, 4 * 2 / std::sqrt(static_cast<double>(kRows)));
}

TEST(Given, SeedDecides) {
  const auto density = normal_density();
  const auto draw = [&](std::uint64_t seed) {
    return cells_of(sample_given(density, row_of({{"x1", 0}}), 5, seed, From::main).table, "x2");
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}

TEST(Given, MeansAndMediansAreThoseOfTheConditional) {
  const auto density = normal_density();
  const Table table = TableMaker()
                          .numbers("x1", {1, std::nan(""), 0.5})
                          .numbers("x2", {std::nan(""), -1, 0.5})
                          .table();
  for (const Fill fill : {Fill::mean, Fill::median}) {
    const Imputed filled = impute(density, table, fill, 1, 0, From::main);
    EXPECT_EQ(filled.cells, 2U + 3U);  // and the column that the table lacks
    // Three standard errors of 1,024 proposals, of which at least a third count.
    EXPECT_NEAR(filled.table.find("x2")->numbers[0], kCorrelation, 0.12);
    EXPECT_NEAR(filled.table.find("x1")->numbers[1], -kCorrelation, 0.12);
    EXPECT_EQ(filled.table.find("x1")->numbers[2], 0.5);
    EXPECT_NEAR(filled.table.find("x3")->numbers[2], 1, 0.35);
  }
}

TEST(Given, DrawsKeepTheSpread) {
  const auto density = normal_density();
  const Table table =
      TableMaker().numbers("x1", {0}).numbers("x2", {std::nan("")}).numbers("x3", {0}).table();
  constexpr int kDraws = 400;
  const Imputed filled = impute(density, table, Fill::draw, kDraws, 1, From::main);
  ASSERT_EQ(filled.table.rows(), static_cast<std::size_t>(kDraws));
  const Matrix<double> x = matrix_from_table(filled.table, {"x2"});
  const double variance = 1 - kCorrelation * kCorrelation;
  EXPECT_NEAR(x.array().square().mean(), variance, 4 * variance * std::sqrt(2.0 / kDraws));
}

TEST(Given, RefusesWhatIsTooUnusualOrWhole) {
  const auto density = normal_density();
  const auto refusal = [&](const Table& given) {
    return refusal_of([&] { static_cast<void>(sample_given(density, given, 5, 0, From::main)); });
  };
  EXPECT_THAT(refusal(row_of({{"x1", 0}, {"x2", 0}, {"x3", 0}})), HasSubstr("nothing is left"));
  EXPECT_THAT(refusal_of([&] {
                density.schema().given_row({{"zz", "1"}});
              }),
              AllOf(HasSubstr("zz"), HasSubstr("x1, x2, x3")));
  // So far out that the density of what is given is 0 in any precision.
  EXPECT_THAT(refusal(row_of({{"x1", 1e160}})), HasSubstr("too large"));
  EXPECT_THAT(
      refusal_of([&] {
        static_cast<void>(log_prob_given(density, row_of({{"x1", 0}}), {"x2"}, {"x1"}, From::main));
      }),
      HasSubstr("\"x2\""));
}

// Labels, whole numbers and an atom: what is summed over must not matter.
class GivenColumns : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    constexpr std::size_t kRows = 120;
    const std::vector<double> z = normal_numbers(kRows, 1);
    const std::vector<double> e = normal_numbers(kRows, 2);
    std::vector<double> number;
    std::vector<double> count;
    std::vector<double> rain;
    std::vector<std::string> colour;
    for (std::size_t i = 0; i < kRows; ++i) {
      colour.emplace_back(z[i] > 0.5 ? "red" : "blue");
      number.push_back(z[i] + 0.3 * e[i]);
      count.push_back(std::round(2 + z[i]));
      rain.push_back(e[i] > 0.3 ? std::exp(e[i]) : 0);
    }
    const Table table = TableMaker()
                            .numbers("number", number)
                            .numbers("count", count)
                            .numbers("rain", rain)
                            .text("colour", colour)
                            .table();
    FitOptions options = small_fit_options(150);
    options.schema.bounds = {};
    options.train.method = Method::mle;
    fit_.emplace(small_fit(table, options));
  }
  static void TearDownTestSuite() { fit_.reset(); }

  [[nodiscard]] double log_prob(const Table& row, const std::vector<std::string>& columns,
                                const std::vector<std::string>& given = {}) const {
    return log_prob_given(fit_->density, row, columns, given, From::main).log_prob(0);
  }

  static inline std::optional<Fit> fit_;
};

TEST_F(GivenColumns, SumToOne) {
  double labels = 0;
  double counts = 0;
  for (const char* colour : {"red", "blue"}) {
    const Table row = TableMaker().numbers("number", {0.2}).text("colour", {colour}).table();
    labels += std::exp(log_prob(row, {"colour"}, {"number"}));
  }
  for (int count = -3; count < 8; ++count) {
    const Table row = row_of({{"count", count}});
    counts += std::exp(log_prob(row, {"count"}));
  }
  const double unseen = info_of(fit_->density.schema(), "colour").unseen;
  EXPECT_NEAR(labels, 1 - unseen, 0.08);  // two scores, each uncertain by 5 %
  EXPECT_NEAR(counts, 1, 0.08);
}

TEST_F(GivenColumns, SamplesAgreeWithDensities) {
  const GivenSamples drawn = sample_given(
      fit_->density, TableMaker().text("colour", {"red"}).table(), 2000, 1, From::main);
  const std::vector<std::string> counts = cells_of(drawn.table, "count");
  const Table row = TableMaker().numbers("count", {3}).text("colour", {"red"}).table();
  const double probability = std::exp(log_prob(row, {"count"}, {"colour"}));
  const auto found = static_cast<double>(std::count(counts.begin(), counts.end(), "3")) / 2000;
  // Four standard errors, and 7 % for the two scores.
  EXPECT_NEAR(found, probability,
              4 * std::sqrt(probability * (1 - probability) / 2000) + 0.07 * probability);
  EXPECT_EQ(cells_of(drawn.table, "colour"), std::vector<std::string>(2000, "red"));
}

TEST_F(GivenColumns, MayBeAtoms) {
  const GivenSamples dry = sample_given(fit_->density, row_of({{"rain", 0}}), 20, 1, From::main);
  EXPECT_EQ(cells_of(dry.table, "rain"), std::vector<std::string>(20, "0"));
}

TEST_F(GivenColumns, RefuseImpossibleValues) {
  const auto refusal = [&](const Table& given) {
    return refusal_of(
        [&] { static_cast<void>(sample_given(fit_->density, given, 5, 0, From::main)); });
  };
  EXPECT_THAT(refusal(row_of({{"count", 2.5}})), HasSubstr("whole numbers"));
  EXPECT_THAT(refusal(TableMaker().text("colour", {"green"}).table()),
              AllOf(HasSubstr("green"), HasSubstr("red")));
  EXPECT_THAT(refusal(row_of({{"number", 1e6}})), HasSubstr("unusual"));
}

}  // namespace
}  // namespace jeffreys::testing
