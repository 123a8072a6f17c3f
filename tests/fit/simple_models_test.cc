// Simple densities as models like any other.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <numbers>

#include "fit/gap_mixture.h"
#include "fit/simple_models.h"
#include "fit/small_fits.h"
#include "fit/table_baseline.h"

namespace jeffreys::testing {
namespace {

// Labels that say where a number lies and how widely it spreads, another label that mostly agrees,
// and a condition that the number follows if it is wanted.
Table labelled_table(std::size_t rows, std::uint64_t seed) {
  const std::vector<double> z = normal_numbers(rows, seed);
  const std::vector<double> side = normal_numbers(rows, seed + 1);
  const std::vector<double> c = normal_numbers(rows, seed + 2);
  const std::vector<double> flip = normal_numbers(rows, seed + 3);
  std::vector<double> x(rows);
  std::vector<std::string> k(rows);
  std::vector<std::string> also(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const bool high = side[i] > 0;
    x[i] = c[i] + (high ? 4 + 0.2 * z[i] : z[i]);
    k[i] = high ? "high" : "low";
    also[i] = high == (flip[i] > -1.5) ? "yes" : "no";
  }
  return TableMaker().numbers("x", x).text("k", k).text("also", also).numbers("c", c).table();
}

struct Judged {
  double gaussian;
  double mixture;
};

// Mean NLLs of fresh rows. `classes`: by the mixture with class probabilities.
Judged judge(const SchemaOptions& columns, bool classes) {
  FitOptions options;
  options.schema = columns;
  options.validation_fraction = 0.2;
  const PreparedTable table = prepare(labelled_table(300, 1), options);
  const RowShape shape = row_shape(table.schema);
  const auto nll = [&](AnyDensity<float> density) {
    return -TabularDensity<float>(table.schema, std::move(density))
                .log_prob(labelled_table(1000, 50))
                .log_prob.mean();
  };
  return {nll(gaussian_model(shape, table.training)),
          nll(classes ? class_mixture_model(shape, table.training, 3)
                      : mixture_model(shape, table.training, table.validation, 3)->density)};
}

// The Gaussian among the models is the Gaussian of the verdict.
TEST(SimpleModels, TheGaussianIsThatOfTheReport) {
  for (const bool labels : {false, true}) {
    FitOptions options;
    if (!labels) options.schema.ignore = {"k", "also"};
    const PreparedTable table = prepare(labelled_table(80, 1), options);
    const RowShape shape = row_shape(table.schema);
    const TabularDensity<float> density(table.schema, gaussian_model(shape, table.training));
    const Vector<double> expected = TableBaseline(shape, table.training).log_prob(table.validation);
    EXPECT_TRUE(density.score(table.validation, From::main).log_prob.isApprox(expected, 1e-4));
  }
}

// Of the source: a fair side, and whether the other label agrees (0.933 of the rows), and half of
// the rows in a spread of 0.2, half in one of 1. The Gaussian has one spread for both, and labels
// that know nothing of each other.
TEST(SimpleModels, AMixtureSeesHowLabelsAndNumbersHangTogether) {
  const double agree = 0.93319;
  const double labels = std::log(2.0) - agree * std::log(agree) - (1 - agree) * std::log(1 - agree);
  const double number =
      0.5 * std::log(2 * std::numbers::pi * std::numbers::e) + 0.5 * std::log(0.2);
  SchemaOptions columns;
  columns.ignore = {"c"};
  // Without c, which the number contains, the spreads are sqrt(1.04) and sqrt(2).
  const double wide = 0.5 * std::log(2 * std::numbers::pi * std::numbers::e) +
                      0.25 * std::log(1.04) + 0.25 * std::log(2.0);
  const Judged alone = judge(columns, true);
  EXPECT_NEAR(alone.mixture, labels + wide, 0.15);
  EXPECT_GT(alone.gaussian, alone.mixture + 0.3);
  columns.ignore = {};
  columns.condition = {"c"};
  columns.ignore = {"also"};
  const Judged given = judge(columns, false);
  EXPECT_LT(given.mixture, given.gaussian);
  EXPECT_GT(given.mixture, std::log(2.0) + number - 0.05);
}

// Conditions that only shift the numbers are no reason to lose their shape.
TEST(SimpleModels, AMixtureFollowsConditions) {
  SchemaOptions columns;
  columns.ignore = {"k", "also"};
  columns.condition = {"c"};
  const Judged judged = judge(columns, false);
  // Half N(0, 1) and half N(4, 0.2), hardly overlapping, around the condition.
  const double exact =
      std::log(2.0) + 0.5 * std::log(2 * std::numbers::pi * std::numbers::e) + 0.5 * std::log(0.2);
  EXPECT_NEAR(judged.mixture, exact, 0.3);
  EXPECT_GT(judged.gaussian, exact + 0.5);
}

TEST(SimpleModels, TheClassMixtureIsTheOneThatProposes) {
  const PreparedTable table = prepare(labelled_table(200, 1), FitOptions());
  const RowShape shape = row_shape(table.schema);
  const EncodedRows rows = spread_over_cells(table.training, 7, 1);
  const GapMixture mixture(shape, rows.x, rows.context, {}, 7);
  const AnyDensity<float> model = class_mixture_model(shape, table.training, 7);
  const auto expected = [&](Eigen::Index row) {
    double sum = 0;
    for (const GapComponent& part : mixture.components()) {
      const Vector<double> apart = rows.x.row(row).head(shape.features).transpose() - part.mean;
      double log_joint = part.log_weight - 0.5 * apart.dot(part.covariance.ldlt().solve(apart)) -
                         0.5 * std::log((2 * std::numbers::pi * part.covariance).determinant());
      for (std::size_t j = 0; j < shape.categories.size(); ++j) {
        const auto code =
            static_cast<Eigen::Index>(rows.x(row, shape.features + static_cast<Eigen::Index>(j)));
        log_joint += std::log(part.probabilities[j](code));
      }
      sum += std::exp(log_joint);
    }
    return std::log(sum);
  };
  const Vector<float> found = model->log_prob(Matrix<float>(rows.x.cast<float>()));
  for (Eigen::Index row = 0; row < 20; ++row) EXPECT_NEAR(found(row), expected(row), 1e-3);
}

// A row that counts twice is two rows, and one that counts nothing is none.
TEST(SimpleModels, KnowWeights) {
  FitOptions options;
  options.validation_fraction = 0;
  const PreparedTable table = prepare(labelled_table(400, 1), options);
  const RowShape shape = row_shape(table.schema);
  EncodedRows weighted = table.training;
  weighted.weights = Vector<double>::Ones(weighted.size());
  std::array<std::vector<std::size_t>, 2> all;  // every other row learns, the others judge
  std::array<std::vector<std::size_t>, 2> counting;
  for (Eigen::Index i = 0; i < weighted.size(); ++i) {
    const bool first = weighted.x(i, shape.features) == 0;
    weighted.weights(i) = first ? 2 : 0;
    const auto half = static_cast<std::size_t>(i % 2);
    all[half].push_back(static_cast<std::size_t>(i));
    if (first) counting[half].push_back(static_cast<std::size_t>(i));
  }
  const EncodedRows learned = weighted.take(all[0]);
  const EncodedRows some = table.training.take(counting[0]);
  const Matrix<float> x = table.training.x(counting[1], Eigen::all).cast<float>();
  const auto mean = [&](const AnyDensity<float>& density) { return density->log_prob(x).mean(); };
  EXPECT_NEAR(mean(gaussian_model(shape, learned)), mean(gaussian_model(shape, some)), 0.05);
  EXPECT_NEAR(mean(class_mixture_model(shape, learned, 1)),
              mean(class_mixture_model(shape, some, 1)), 0.2);
  EXPECT_NEAR(mean(mixture_model(shape, learned, weighted.take(all[1]), 1)->density),
              mean(mixture_model(shape, some, table.training.take(counting[1]), 1)->density), 0.2);
  // Half of the rows have another label.
  EXPECT_LT(mean(gaussian_model(shape, table.training)), mean(gaussian_model(shape, some)) - 0.4);
}

}  // namespace
}  // namespace jeffreys::testing
