// Rows with missing cells in a fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "fit/gap_fills.h"
#include "fit/small_fits.h"
#include "jeffreys/fit/fit_table.h"
#include "jeffreys/fit/given.h"
#include "jeffreys/model/gaussian_mixture.h"
#include "support/refusal_of.h"
#include "support/scratch_folder.h"

namespace jeffreys::testing {
namespace {

using ::testing::HasSubstr;

constexpr double kPairCorrelation = 0.9;

// Correlated normal columns; every row lacks one of them, in turn, if gaps are wanted.
Table pairs_table(std::size_t rows, bool gaps, const std::string& more = "") {
  std::vector<double> a = normal_numbers(rows, 1);
  std::vector<double> b = normal_numbers(rows, 2);
  std::vector<double> c = normal_numbers(rows, 3);
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < rows; ++i) {
    b[i] = kPairCorrelation * a[i] + std::sqrt(1 - kPairCorrelation * kPairCorrelation) * b[i];
    labels.emplace_back(a[i] + c[i] > 0 ? "up" : "down");
    if (!gaps) continue;
    (i % 3 == 0 ? a : i % 3 == 1 ? b : c)[i] = std::nan("");
    if (i % 5 == 0) labels[i] = "";
  }
  TableMaker maker;
  maker.numbers("a", a).numbers("b", b).numbers("c", c);
  if (more == "labels") maker.text("label", labels);
  return maker.table();
}

FitOptions keep_options(std::int64_t iterations) {
  FitOptions options = small_fit_options(iterations);
  options.schema.bounds = {};
  options.schema.missing = Missing::keep;
  return options;
}

std::vector<float> numbers_of(const Fit& fit) {
  const auto parameters = fit.density.main().parameters();
  return {parameters.begin(), parameters.end()};
}

TEST(Gaps, ATableWhoseEveryRowHasOneIsFitted) {
  const Table table = pairs_table(300, true, "labels");
  FitOptions options = keep_options(200);
  const PreparedTable prepared = prepare(table, options);
  EXPECT_EQ(prepared.dropped, 0U);
  EXPECT_EQ(prepared.training.size() + prepared.validation.size(), 300);
  const Fit made = fit(prepared, options);
  EXPECT_TRUE(std::isfinite(made.report.main.held_out.nll));
  EXPECT_TRUE(std::isfinite(made.report.gaussian.held_out.nll));
  EXPECT_EQ(made.report.training.skipped, 0);
  options.schema.missing = Missing::drop;
  EXPECT_THAT(refusal_of([&] { static_cast<void>(prepare(table, options)); }),
              HasSubstr("--missing keep"));
}

TEST(Gaps, NoneAreFittedAsEver) {
  const Table table = pairs_table(120, false, "labels");
  FitOptions keep = keep_options(20);
  FitOptions drop = keep;
  drop.schema.missing = Missing::drop;
  EXPECT_EQ(numbers_of(small_fit(table, keep)), numbers_of(small_fit(table, drop)));
}

class GapCheckpoints : public ScratchTest {};

TEST_F(GapCheckpoints, GoOnBitForBit) {
  FitOptions options = keep_options(160);
  options.train.batch_size = 32;
  const PreparedTable table = prepare(pairs_table(150, true, "labels"), options);
  const Fit whole = fit(table, options);
  options.train.checkpoint.path = path("checkpoint");
  int steps = 0;
  FitRun run{.should_stop = [&] { return ++steps == 117; }};
  const Fit part = fit(table, options, run);
  EXPECT_EQ(part.report.training.stop_reason, StopReason::interrupted);
  const Fit rest = fit(table, options, {.threads = 2, .resume = true});
  EXPECT_EQ(numbers_of(rest), numbers_of(whole));
  EXPECT_EQ(rest.report.main.held_out.nll, whole.report.main.held_out.nll);
}

// The rows that lack a cell are learned from: dropping them leaves nothing about a and b together.
TEST(Gaps, RowsWithThemTeachTheModel) {
  FitOptions options = keep_options(600);
  const Table table = pairs_table(600, true);
  const Fit made = small_fit(table, options);
  const Table fresh = pairs_table(400, false);
  const Vector<double> log_prob = made.density.log_prob(fresh, From::main).log_prob;
  // The entropy of the source; independent columns would be 0.83 above it.
  const double entropy = 1.5 * (1 + std::log(2 * std::numbers::pi)) +
                         0.5 * std::log(1 - kPairCorrelation * kPairCorrelation);
  EXPECT_NEAR(-log_prob.mean(), entropy, 0.3);
}

TEST(Gaps, RowsAreScoredByWhatTheyHave) {
  FitOptions options = keep_options(300);
  const Fit made = small_fit(pairs_table(300, true), options);
  const Table rows = TableMaker()
                         .numbers("a", {0.3, 0.3})
                         .numbers("b", {0.1, 0.1})
                         .numbers("c", {std::nan(""), 0})
                         .table();
  const TableLogProb scores = made.density.log_prob(rows, From::main);
  ASSERT_EQ(scores.with_gaps, std::vector<std::size_t>{0});
  EXPECT_GT(scores.error(0), 0);
  EXPECT_LT(scores.error(0), 0.051);
  EXPECT_EQ(scores.error(1), 0);
  // The integral over c on a grid.
  std::vector<double> grid;
  for (int i = -400; i <= 400; ++i) grid.push_back(i / 50.0);
  const Table all = TableMaker()
                        .numbers("a", std::vector<double>(grid.size(), 0.3))
                        .numbers("b", std::vector<double>(grid.size(), 0.1))
                        .numbers("c", grid)
                        .table();
  const double sum = made.density.log_prob(all, From::main).log_prob.array().exp().sum() / 50;
  EXPECT_NEAR(scores.log_prob(0), std::log(sum), 4 * scores.error(0));
}

TEST(Gaps, RowsWithoutAnyCellAreNeitherLearnedFromNorScored) {
  Table table = pairs_table(120, false);
  for (Column& column : table.columns) column.numbers[7] = column.numbers[50] = std::nan("");
  const PreparedTable prepared = prepare(table, keep_options(20));
  EXPECT_EQ(prepared.dropped, 2U);
  const Fit made = small_fit(table, keep_options(20));
  const TableLogProb scores = made.density.log_prob(table, From::main);
  EXPECT_EQ(scores.dropped, 2U);
  EXPECT_EQ(scores.log_prob.size(), 118);
  EXPECT_EQ(scores.rows[7], 8U);
  EXPECT_TRUE(scores.with_gaps.empty());
  const Table nothing = take_rows(table, std::vector<std::size_t>{7, 50});
  EXPECT_THAT(refusal_of([&] { static_cast<void>(made.density.log_prob(nothing)); }),
              HasSubstr("no row can be scored"));
  // Filled, they are samples of the model.
  const Imputed filled = impute(made.density, nothing, Fill::draw, 2000, 3, made.density.chosen());
  EXPECT_TRUE(filled.left.empty());
  const Vector<double> fresh = made.density.log_prob(made.density.sample(4000, 1).table).log_prob;
  const Vector<double> drawn = made.density.log_prob(filled.table).log_prob;
  const double deviation = std::sqrt((fresh.array() - fresh.mean()).square().mean());
  // Four standard errors of the difference.
  EXPECT_NEAR(drawn.mean(), fresh.mean(), 4 * deviation * std::sqrt(2.0 / 4000));
}

// A row given a label that was never seen has no density, and a reason; it is not an error.
TEST(Gaps, RowsThatAreUnusualAloneAreNoMistake) {
  FitOptions options = keep_options(20);
  options.schema.condition = {"label"};
  const Fit made = small_fit(pairs_table(120, false, "labels"), options);
  Table rows = take_rows(pairs_table(120, false, "labels"), std::vector<std::size_t>{3});
  rows.columns[3].labels = {"sideways"};
  rows.columns[3].codes = {0};
  const TableLogProb scores = made.density.log_prob(rows, From::main, Unusual::keep);
  EXPECT_EQ(scores.log_prob.size(), 0);
  EXPECT_THAT(scores.unusual.at(0), HasSubstr("sideways"));
}

TEST(Gaps, ColumnsWithNextToNothingAreLeftOut) {
  Table table = pairs_table(120, false, "labels");
  for (const std::size_t i : {std::size_t{2}, std::size_t{3}}) {
    Column& column = table.columns[i];
    for (std::size_t row = 9; row < 120; ++row) {
      if (column.is_text()) {
        column.codes[row] = -1;
      } else {
        column.numbers[row] = std::nan("");
      }
    }
  }
  const PreparedTable prepared = prepare(table, keep_options(20));
  EXPECT_EQ(prepared.schema.feature_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(prepared.dropped, 0U);
  EXPECT_EQ(prepared.training.gaps.size(), 0);
  EXPECT_THAT(prepared.schema.notes(),
              ::testing::Contains(HasSubstr("\"c\" has 9 values in 120 rows, too few")));
}

// A sweep leaves the model's own conditional distribution as it is.
TEST(GapFills, FollowTheModel) {
  constexpr std::size_t kRows = 1000;
  Schema schema = Schema::identity(2);
  EncodedRows rows;
  rows.x = Matrix<double>::Zero(kRows, 2);
  rows.context.resize(kRows, 0);
  rows.log_jacobian = Vector<double>::Zero(kRows);
  rows.cells = Cells(rows.log_jacobian);
  rows.gaps = Gaps::Constant(kRows, 2, false);
  const std::vector<double> known = normal_numbers(kRows, 7);
  for (std::size_t i = 0; i < kRows; ++i) {
    rows.x(static_cast<Eigen::Index>(i), 0) = known[i];
    rows.gaps(static_cast<Eigen::Index>(i), 1) = i % 2 == 0;
    // The complete rows say something else than the model.
    if (i % 2 == 1) rows.x(static_cast<Eigen::Index>(i), 1) = 2 - known[i];
  }
  GaussianComponent part{.weight = 1, .mean = Vector<double>(2), .factor = Matrix<double>(2, 2)};
  part.mean << 0, 0;
  part.factor << 1, 0, 0.5, 0.6;
  const GaussianMixture<float> model({part});
  GapFills fills(row_shape(schema), rows, 3);
  for (std::uint64_t i = 0; i < 60; ++i) fills.sweep(model, 100 + 10 * i);
  Matrix<double> x = rows.x;
  std::vector<std::size_t> all(kRows);
  std::iota(all.begin(), all.end(), std::size_t{0});
  fills.write(all, x);
  double mean = 0;
  double square = 0;
  for (Eigen::Index i = 0; i < x.rows(); i += 2) {
    const double left = x(i, 1) - 0.5 * x(i, 0);
    mean += left / (kRows / 2.0);
    square += left * left / (kRows / 2.0);
  }
  // Four standard errors of 500 independent rows.
  EXPECT_NEAR(mean, 0, 4 * 0.6 / std::sqrt(kRows / 2.0));
  EXPECT_NEAR(square, 0.36, 4 * 0.36 * std::sqrt(2 / (kRows / 2.0)));
}

// Where rows lack b more often when a is large, the mean of the b that are there is too small.
TEST(GapMixture, LeavesGapsOutWithoutBias) {
  constexpr std::size_t kRows = 2000;
  const std::vector<double> a = normal_numbers(kRows, 1);
  const std::vector<double> e = normal_numbers(kRows, 2);
  Matrix<double> x(kRows, 2);
  Gaps gaps = Gaps::Constant(kRows, 2, false);
  double seen = 0;
  double count = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    x.row(row) << a[i], 0.9 * a[i] + std::sqrt(0.19) * e[i];
    gaps(row, 1) = a[i] > 0.2;
    if (gaps(row, 1)) continue;
    seen += x(row, 1);
    ++count;
  }
  gaps(0, 0) = false;
  const GapMixture mixture({.features = 2}, x, Matrix<double>(kRows, 0), gaps, 0);
  double mean = 0;
  for (const GapComponent& part : mixture.components()) {
    mean += std::exp(part.log_weight) * part.mean(1);
  }
  EXPECT_LT(seen / count, -0.4);
  EXPECT_NEAR(mean, 0, 0.1);
}

}  // namespace
}  // namespace jeffreys::testing
