// Rows that count more than others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fit/small_fits.h"
#include "jeffreys/evaluate/gaussian_baseline.h"
#include "jeffreys/evaluate/held_out.h"
#include "jeffreys/fit/evaluate_density.h"
#include "jeffreys/model/spline_flow.h"
#include "support/model_helpers.h"
#include "support/refusal_of.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Rows of which every third counts twice and every other third not at all, and the same rows
// repeated or left out.
struct Weighted {
  Matrix<double> x;
  Vector<double> weights;
  Matrix<double> repeated;

  explicit Weighted(Eigen::Index count = 60)
      : x(correlated_rows(count, 2, 3)), weights(Vector<double>::Ones(count)) {
    std::vector<Eigen::Index> rows;
    for (Eigen::Index i = 0; i < count; ++i) {
      weights(i) = static_cast<double>(i % 3);
      for (Eigen::Index k = 0; k < i % 3; ++k) rows.push_back(i);
    }
    repeated = x(rows, Eigen::all);
  }
};

TEST(Weights, MeansAreThoseOfRepeatedRows) {
  const Weighted rows;
  const MeanNll weighted = mean_nll(rows.x.col(0), rows.weights);
  EXPECT_NEAR(weighted.nll, mean_nll(rows.repeated.col(0)).nll, 1e-12);
  // Equal weights of any size are none.
  const MeanNll plain = mean_nll(rows.x.col(0));
  const MeanNll equal = mean_nll(rows.x.col(0), Vector<double>::Constant(60, 7));
  EXPECT_NEAR(equal.nll, plain.nll, 1e-12);
  EXPECT_NEAR(equal.standard_error, plain.standard_error, 1e-12);
}

TEST(Weights, GaussianIsThatOfRepeatedRows) {
  // So many that the correlations are hardly shrunk, which depends on the spread of single rows.
  const Weighted rows(6000);
  const Matrix<double> none(6000, 0);
  const GaussianBaseline weighted(rows.x, none, rows.weights);
  const GaussianBaseline repeated(rows.repeated, none);
  const Vector<double> apart = weighted.log_prob(rows.x, none) - repeated.log_prob(rows.x, none);
  EXPECT_LT(apart.cwiseAbs().mean(), 0.01);
  const GaussianBaseline plain(rows.x, none);
  EXPECT_GT((plain.log_prob(rows.x, none) - repeated.log_prob(rows.x, none)).cwiseAbs().mean(),
            2 * apart.cwiseAbs().mean());
}

class WeightedTraining : public ::testing::TestWithParam<Method> {};

TEST_P(WeightedTraining, IsThatOfRepeatedRows) {
  const Weighted rows;
  const auto train = [](const Matrix<double>& x, const Vector<double>& weights) {
    SplineFlow<double> main({.features = 2, .transforms = 1, .bins = 4, .hidden = {8}, .seed = 1});
    SplineFlow<double> proxy({.features = 2, .transforms = 1, .bins = 4, .hidden = {8}, .seed = 2});
    TrainingData<double> data;
    data.x = x;
    data.weights = weights;
    data.validation_x = x;
    data.validation_weights = weights;
    const TrainOptions options{.method = GetParam(), .iterations = 10};
    Trainer<double> trainer(main, needs_proxy(GetParam()) ? &proxy : nullptr, data, options);
    const TrainResult result = trainer.run();
    const StepRecord& first = result.history.front();
    return std::pair(first.divergences.forward, first.main_gradient_norm);
  };
  // Samples of the main model follow the number of rows, which is the same here.
  const auto weighted = train(rows.x, rows.weights);
  const auto repeated = train(rows.repeated, {});
  ASSERT_EQ(rows.x.rows(), rows.repeated.rows());
  EXPECT_NEAR(weighted.first, repeated.first, 1e-10);
  EXPECT_NEAR(weighted.second, repeated.second, 1e-9 * repeated.second);
  const auto plain = train(rows.x, {});
  EXPECT_GT(std::abs(plain.first - repeated.first), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Methods, WeightedTraining, ::testing::Values(Method::mle, Method::dual));

TEST(Weights, ColumnIsNoFeature) {
  const std::size_t rows = 160;
  TableMaker maker;
  maker.numbers("x", normal_numbers(rows, 1)).numbers("y", normal_numbers(rows, 2));
  std::vector<double> weights(rows, 1);
  for (std::size_t i = 0; i < rows; ++i) weights[i] = i % 2 == 0 ? 3 : 0.5;
  const Table table = maker.numbers("w", weights).table();
  FitOptions options = small_fit_options(20);
  options.schema.bounds = {};
  options.schema.weights = "w";
  const PreparedTable prepared = prepare(table, options);
  EXPECT_EQ(prepared.schema.feature_names(), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(prepared.training.weights.size(), prepared.training.size());
  const Fit made = fit(prepared, options);
  const DensityEvaluation own = evaluate_density(made.density, table);
  EXPECT_EQ(own.weights, "w");
  const Vector<double> log_prob = made.density.log_prob(table, From::main).log_prob;
  const Eigen::Map<const Vector<double>> w(weights.data(), static_cast<Eigen::Index>(rows));
  EXPECT_NEAR(own.main.nll, -log_prob.dot(w) / w.sum(), 1e-9);
}

TEST(Weights, RefuseWhatCannotBeOne) {
  const auto refusal = [](std::vector<double> weights) {
    return refusal_of([&] {
      const Table table =
          TableMaker().numbers("x", normal_numbers(20, 1)).numbers("w", std::move(weights)).table();
      FitOptions options;
      options.schema.weights = "w";
      static_cast<void>(prepare(table, options));
    });
  };
  std::vector<double> weights(20, 1);
  EXPECT_EQ(refusal(weights), "none");
  weights[4] = -1;
  EXPECT_THAT(refusal(weights), AllOf(HasSubstr("t.csv:6:2"), HasSubstr("\"-1\"")));
  weights[4] = std::nan("");
  EXPECT_THAT(refusal(weights), AllOf(HasSubstr("t.csv:6:2"), HasSubstr("missing")));
  EXPECT_THAT(refusal(std::vector<double>(20, 0)), HasSubstr("all weights"));
}

}  // namespace
}  // namespace jeffreys::testing
