// What the default settings learn from few pairs of several parameters.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "sbi/small_posteriors.h"

namespace jeffreys::testing {
namespace {

constexpr std::size_t kParameters = 5;
constexpr std::size_t kOutcomes = 8;

Prior slcp_prior() {
  std::vector<Prior::Parameter> parameters;
  for (std::size_t i = 0; i < kParameters; ++i) {
    parameters.push_back({fmt::format("p{}", i), Distribution::uniform(-3, 3)});
  }
  return Prior(std::move(parameters));
}

PairColumns slcp_columns() {
  PairColumns columns{slcp_prior().names(), {}};
  for (std::size_t i = 0; i < kOutcomes; ++i) columns.outcomes.push_back(fmt::format("x{}", i));
  return columns;
}

// "Simple likelihood, complex posterior" (Papamakarios et al. 2019), as in sbibm: four points of a
// normal in the plane, whose means, deviations and correlation the parameters are.
struct Slcp {
  Slcp(std::size_t rows, std::uint64_t seed)
      : parameters(slcp_prior().sample(static_cast<Eigen::Index>(rows), seed)),
        outcomes(parameters.rows(), kOutcomes) {
    const std::vector<double> noise = normal_numbers(rows * kOutcomes, seed);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      const auto p = parameters.row(row);
      const double correlation = std::tanh(p[4]);
      for (std::size_t k = 0; k < kOutcomes; k += 2) {
        const double a = noise[i * kOutcomes + k];
        const double b = noise[i * kOutcomes + k + 1];
        const auto column = static_cast<Eigen::Index>(k);
        outcomes(row, column) = p[0] + p[2] * p[2] * a;
        outcomes(row, column + 1) =
            p[1] + p[3] * p[3] * (correlation * a + std::sqrt(1 - correlation * correlation) * b);
      }
    }
  }

  [[nodiscard]] Table table() const {
    const PairColumns columns = slcp_columns();
    TableMaker maker;
    for (const bool outcome : {false, true}) {
      const Matrix<double>& values = outcome ? outcomes : parameters;
      for (Eigen::Index i = 0; i < values.cols(); ++i) {
        const Vector<double> column = values.col(i);
        maker.numbers(
            (outcome ? columns.outcomes : columns.parameters)[static_cast<std::size_t>(i)],
            {column.begin(), column.end()});
      }
    }
    return maker.table();
  }

  Matrix<double> parameters;
  Matrix<double> outcomes;
};

TEST(PosteriorFit, LearnsFromFewPairsOfSeveralParameters) {
  const Table pairs = Slcp(1000, 1).table();
  FitOptions options = default_posterior_options(800, kParameters, kOutcomes);
  options.schema = pair_schema(pairs, slcp_columns(), slcp_prior());
  const PreparedTable table = prepare(pairs, options);
  const Posterior posterior = make_posterior(table, fit(table, options).density, slcp_prior());
  const Slcp fresh(1000, 2);
  // Some of so many outcomes with heavy tails are beyond those of few pairs.
  const Vector<double> log_prob =
      posterior.log_prob(fresh.parameters, fresh.outcomes, {}, FarObservations::extrapolate);
  // The prior has 8.96 everywhere. Whole batches and the short steps of a table's density end at
  // 7.8, with a standard error of 0.1 over the fresh pairs.
  EXPECT_LT(-log_prob.mean(), 7.1);
}

TEST(PosteriorFit, TakesSmallBatchesWherePairsAreFew) {
  const auto batch = [](std::size_t rows) {
    return default_posterior_options(rows, 2, 2).train.batch_size;
  };
  EXPECT_EQ(batch(900), 100);
  EXPECT_EQ(batch(9000), 250);
  EXPECT_EQ(batch(50'000), 1000);
}

}  // namespace
}  // namespace jeffreys::testing
