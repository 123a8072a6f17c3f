// The density of a posterior, and how far an observation lies from what it was fitted to.
#include "jeffreys/sbi/posterior.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "jeffreys/base/input_error.h"
#include "jeffreys/sbi/task_prior.h"
#include "sbi/posterior_grid.h"
#include "sbi/small_posteriors.h"
#include "support/mistake_of.h"
#include "support/not_finite.h"

namespace jeffreys::testing {
namespace {

using jeffreys::testing::mistake_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(PosteriorDensity, IntegratesToOneBetweenTwoEnds) {
  const Posterior posterior = untrained_posterior({.roughness = 0.1});
  // In the middle, and at the prior's margin.
  for (const Matrix<double>& observed : {observation(0.2, 5), observation(1.05, 9.8)}) {
    // Cells half as wide change it by 2e-4.
    EXPECT_NEAR(PosteriorGrid(posterior, observed, box_prior(), 200, 0.8).mass(), 1, 5e-4)
        << observed;
  }
}

TEST(PosteriorDensity, IntegratesToOneWhereThereIsNoEnd) {
  const Posterior posterior = untrained_posterior({.prior = open_prior(), .roughness = 0.1});
  for (const Matrix<double>& observed : {observation(3.1, 0.4), observation(7, 0.9)}) {
    // Seven deviations around the samples, that of the logarithm for the log-normal parameter.
    Matrix<double> samples = posterior.sample(observed, 2000).parameters;
    samples.col(1) = samples.col(1).array().log();
    const Eigen::RowVectorXd mean = samples.colwise().mean();
    const Eigen::RowVectorXd deviation =
        (samples.rowwise() - mean).array().square().colwise().mean().sqrt() * 7 / 6;
    const Prior around({{"a", Distribution::normal(mean[0], deviation[0])},
                        {"b", Distribution::log_normal(mean[1], deviation[1])}});
    // Cells half as wide change it by less than 2e-4.
    EXPECT_NEAR(PosteriorGrid(posterior, observed, around, 300, 0.8).mass(), 1, 2e-3) << observed;
  }
}

TEST(PosteriorDensity, IsZeroOutsideTheSupport) {
  const Matrix<double> observed = observation(0.2, 5);
  const Posterior posterior = untrained_posterior();
  Matrix<double> parameters(8, 2);
  parameters << 0, 5, -1, 5, 1, 10, 1.0000001, 5, 0, 1.9999, kInfinity, 5, 0, -kInfinity, 1e200, 5;
  const Vector<double> values = posterior.log_prob(parameters, observed);
  // The ends belong to it.
  for (const Eigen::Index row : {0, 1, 2}) EXPECT_TRUE(std::isfinite(values[row])) << row;
  for (Eigen::Index row = 3; row < 8; ++row) EXPECT_EQ(values[row], -kInfinity) << row;
}

TEST(PosteriorDensity, IsZeroWhereNoFloatReaches) {
  const Posterior posterior = untrained_posterior({.prior = open_prior()});
  Matrix<double> parameters(5, 2);
  parameters << 1e17, 1, -1e60, 1, 1e149, 1, -1e200, 1, 3, 1e120;
  const Vector<double> values = posterior.log_prob(parameters, observation(3, 0.4));
  EXPECT_LT(values[0], -1e30);
  for (Eigen::Index row = 1; row < 4; ++row) EXPECT_EQ(values[row], -kInfinity) << row;
  // A logarithm brings it near, which is far all the same.
  EXPECT_LT(values[4], -1e3);
}

TEST(PosteriorDensity, NotANumberStaysInItsRow) {
  const Posterior posterior = untrained_posterior();
  Matrix<double> parameters(3, 2);
  parameters << 0, 5, 0, std::nan(""), 0.1, 5;
  const Vector<double> values = posterior.log_prob(parameters, observation(0.2, 5));
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_TRUE(std::isfinite(values[0]) && std::isfinite(values[2]));
}

TEST(PosteriorDensity, EveryRowMayHaveItsOwnObservation) {
  const Posterior posterior = untrained_posterior();
  const Matrix<double> parameters = box_prior().sample(20, 4);
  Matrix<double> observed = parameters;
  observed.bottomRows(10) = observation(0.2, 5).replicate(10, 1);
  Matrix<double> with_gap = parameters;
  with_gap(3, 0) = 7;  // outside: the rows after it must keep their own observations
  const Vector<double> together = posterior.log_prob(with_gap, observed);
  for (Eigen::Index row = 0; row < 20; ++row) {
    const double alone = posterior.log_prob(parameters.row(row), observed.row(row))[0];
    EXPECT_TRUE(row == 3 ? together[row] == -kInfinity : std::abs(together[row] - alone) < 1e-5)
        << row;
  }
  const Vector<double> shared = posterior.log_prob(parameters, observation(0.2, 5));
  const Vector<double> repeated =
      posterior.log_prob(parameters, observation(0.2, 5).replicate(20, 1));
  EXPECT_LT((shared - repeated).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(PosteriorDensity, TheModelThatSpeaksIsTheChosenOne) {
  const Posterior main = untrained_posterior({.proxy = ModelChoice{"flow"}});
  TabularDensity<float> density = main.density();
  density.choose(From::proxy);
  const Posterior proxy(density, box_prior());
  const Matrix<double> parameters = box_prior().sample(50, 4);
  const Matrix<double> observed = observation(0.2, 5);
  const Vector<double> a = main.log_prob(parameters, observed);
  const Vector<double> b = proxy.log_prob(parameters, observed);
  EXPECT_TRUE(same_bits(a, main.log_prob(parameters, observed, From::main)));
  EXPECT_TRUE(same_bits(b, main.log_prob(parameters, observed, From::proxy)));
  EXPECT_GT((a - b).cwiseAbs().maxCoeff(), 0.01);
}

TEST(PosteriorDensity, WithoutAPriorItIsThatOfTheColumns) {
  const Posterior posterior = untrained_posterior({.prior = {}});
  Table table = pairs_of(open_prior());
  Matrix<double> parameters(5, 2), observed(5, 2);
  for (Eigen::Index row = 0; row < 5; ++row) {
    const auto r = static_cast<std::size_t>(row);
    parameters.row(row) << table.find("a")->numbers[r], table.find("b")->numbers[r];
    observed.row(row) << table.find("x1")->numbers[r], table.find("x2")->numbers[r];
  }
  const Vector<double> expected = posterior.density().log_prob(table).log_prob;
  EXPECT_LT((posterior.log_prob(parameters, observed) - expected.head(5)).cwiseAbs().maxCoeff(),
            1e-5);
}

TEST(PosteriorDensity, TellsWrongArguments) {
  const Posterior posterior = untrained_posterior();
  const Matrix<double> two = Matrix<double>::Zero(2, 2);
  const auto density = [&](const Matrix<double>& parameters, const Matrix<double>& observed) {
    return mistake_of([&] { (void)posterior.log_prob(parameters, observed); });
  };
  EXPECT_EQ(density(Matrix<double>::Zero(2, 3), two), "parameters: expected 2 columns, got 3");
  EXPECT_EQ(density(Matrix<double>::Zero(3, 2), two), "observed: expected 1 or 3 rows, got 2");
  EXPECT_EQ(density(two, Matrix<double>::Zero(1, 1)), "observed: expected 2 outcomes, got 1");
  EXPECT_EQ(density(two, observation(0, std::nan(""))), "observed: expected finite numbers");
  EXPECT_EQ(density(two, observation(1e40, 5)),
            "observed: expected outcomes within 1e+18 deviations of the training pairs");
  EXPECT_THAT(mistake_of([&] {
                (void)posterior.log_prob(observation(0, 5), observation(0, 5), From::proxy);
              }),
              HasSubstr("no proxy model"));
  EXPECT_EQ(posterior.log_prob(Matrix<double>(0, 2), observation(0, 5)).size(), 0);
}

TEST(PosteriorParts, MustFitTogether) {
  const TabularDensity<float> with_prior = untrained_posterior().density();
  const TabularDensity<float> without = untrained_posterior({.prior = {}}).density();
  const auto made = [](const TabularDensity<float>& density, const std::optional<Prior>& prior) {
    return mistake_of([&] { Posterior(density, prior); });
  };
  EXPECT_EQ(made(with_prior, box_prior()), "none");
  EXPECT_EQ(made(without, {}), "none");
  const std::string distributions = "density: expected a schema with the distributions";
  EXPECT_THAT(made(with_prior, {}), StartsWith(distributions));
  EXPECT_THAT(made(without, box_prior()), StartsWith(distributions));
  EXPECT_THAT(made(with_prior, open_prior()), StartsWith(distributions));
  const auto parameters = box_prior().parameters();
  EXPECT_THAT(made(with_prior, Prior({parameters[1], parameters[0]})), StartsWith("prior: "));
  EXPECT_THAT(made(with_prior, Prior({parameters[0]})), StartsWith("prior: "));
  const SplineFlow<float> alone({.features = 2, .hidden = {4}});
  EXPECT_THAT(made(TabularDensity<float>(Schema::identity(2), alone), {}),
              StartsWith("density: expected conditions"));
}

TEST(PosteriorParts, ColumnsArePairs) {
  const Table table = pairs_of(box_prior());
  const auto problem = [&](const PairColumns& columns, const std::optional<Prior>& prior) {
    try {
      (void)pair_schema(table, columns, prior);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(problem(pair_columns(), box_prior()), "none");
  EXPECT_THAT(problem({{}, {"x1"}}, {}), StartsWith("parameters: expected at least one"));
  EXPECT_THAT(problem({{"a"}, {}}, {}), StartsWith("outcomes: expected at least one"));
  EXPECT_THAT(problem({{"a", "x1"}, {"x1"}}, {}), HasSubstr("\"x1\" is given twice"));
  EXPECT_THAT(problem({{"a"}, {"x1"}}, box_prior()), StartsWith("prior: expected distributions"));
  EXPECT_THAT(problem({{"a"}, {"x9"}}, {}),
              HasSubstr("no column \"x9\" for the outcomes; the columns are a, b, x1, x2"));
  EXPECT_THAT(problem({{"c"}, {"x1"}}, {}), HasSubstr("no column \"c\" for the parameters"));
  // Other columns are ignored, and so is the order of the prior.
  const SchemaOptions one = pair_schema(table, {{"a"}, {"x2"}}, {});
  EXPECT_THAT(one.ignore, ::testing::ElementsAre("b", "x1"));
  EXPECT_TRUE(one.regress_on_conditions);
  const auto parameters = box_prior().parameters();
  const Prior turned({parameters[1], parameters[0]});
  EXPECT_EQ(problem(pair_columns(), turned), "none");
  const PreparedTable prepared = prepared_pairs(table, turned);
  const Posterior posterior =
      make_posterior(prepared, TabularDensity<float>(prepared.schema, rough_flow(0.2, 7)), turned);
  EXPECT_EQ(posterior.prior(), box_prior());
}

TEST(TaskPrior, HasTheDensityOfTheTasksOwn) {
  for (const std::string& name : task_names()) {
    const auto task = make_task(name, 3);
    const Prior prior = task_prior(*task);
    EXPECT_EQ(prior.names(), task->parameter_names());
    Matrix<double> parameters = task->sample_prior(50, 1);
    const double miss =
        (prior.log_prob(parameters) - task->prior_log_prob(parameters)).cwiseAbs().maxCoeff();
    EXPECT_LT(miss, 1e-12) << name;
    parameters *= 100;
    EXPECT_EQ((prior.log_prob(parameters).array() == -kInfinity).count(),
              (task->prior_log_prob(parameters).array() == -kInfinity).count());
  }
}

// Outcomes that follow each other: x2 = x1 within a tenth.
Posterior narrow_posterior() {
  const std::vector<double> along = normal_numbers(400, 1);
  const std::vector<double> across = normal_numbers(400, 2);
  std::vector<double> x1, x2;
  for (std::size_t i = 0; i < along.size(); ++i) {
    x1.push_back(50 + 10 * along[i]);
    x2.push_back(50 + 10 * along[i] + across[i]);
  }
  const Table table = TableMaker()
                          .numbers("a", normal_numbers(400, 3))
                          .numbers("b", normal_numbers(400, 4))
                          .numbers("x1", x1)
                          .numbers("x2", x2)
                          .table();
  const PreparedTable prepared = prepared_pairs(table, {});
  return make_posterior(prepared, TabularDensity<float>(prepared.schema, rough_flow(0.1, 7)), {});
}

TEST(ObservationDistance, CountsDeviationsBeyondTheRange) {
  const Posterior posterior = narrow_posterior();
  const ColumnInfo& x1 = info_of(posterior.density().schema(), "x1");
  const ColumnInfo& x2 = info_of(posterior.density().schema(), "x2");
  EXPECT_NEAR(x1.scale, 10, 1.5);  // its standard error is 0.35
  Matrix<double> observed(4, 2);
  observed << 50, 50, x1.maximum + 2 * x1.scale, x2.maximum, x1.minimum - 3 * x1.scale,
      x2.minimum - 4 * x2.scale, x1.maximum, x2.maximum;
  const std::vector<ObservationDistance> found = posterior.distances(observed);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].beyond_range, 0);
  EXPECT_EQ(found[0].outcome, "");
  EXPECT_FALSE(found[0].far());
  EXPECT_NEAR(found[1].beyond_range, 2, 1e-12);
  EXPECT_EQ(found[1].outcome, "x1");
  EXPECT_TRUE(found[1].far());
  EXPECT_NEAR(found[2].beyond_range, 4, 1e-12);
  EXPECT_EQ(found[2].outcome, "x2");
  EXPECT_EQ(found[3].beyond_range, 0);
  EXPECT_TRUE(posterior.distances(Matrix<double>(0, 2)).empty());
  EXPECT_THAT(mistake_of([&] { (void)posterior.distances(Matrix<double>::Zero(1, 3)); }),
              StartsWith("observed: expected 2 outcomes"));
}

TEST(ObservationDistance, SeesWhatIsFarInsideTheRange) {
  const Posterior posterior = narrow_posterior();
  Matrix<double> observed(3, 2);
  observed << 50, 50, 60, 60, 40, 60;  // the last one is 20 deviations across the line
  const std::vector<ObservationDistance> found = posterior.distances(observed);
  EXPECT_LT(found[0].distance, 0.5);
  EXPECT_NEAR(found[1].distance, 1, 0.3);
  EXPECT_EQ(found[2].beyond_range, 0);
  // sqrt((40 - 60)^2 / 1 + ...) within the standard error of the deviation across, 1 in 28.
  EXPECT_NEAR(found[2].distance, 20, 3);
  EXPECT_TRUE(found[2].far());
  EXPECT_FALSE(found[1].far());
  // The largest of 400 normal pairs: within 2.2 and 6 but for one in 10,000 tables.
  EXPECT_GT(found[0].largest_training, 2.2);
  EXPECT_LT(found[0].largest_training, 6);
}

TEST(FarObservations, AreRefusedWithTheOutcomeItsValueAndTheRange) {
  const Posterior posterior = narrow_posterior();
  const Matrix<double> parameters = Matrix<double>::Zero(3, 2);
  Matrix<double> observed(3, 2);
  observed << 50, 50, 40, 41, 60, 400;
  const ColumnInfo& x2 = info_of(posterior.density().schema(), "x2");
  const std::string expected = fmt::format(
      "observed: row 2 is beyond the training pairs (outcome x2 is 400, but {:.6g} to {:.6g}",
      x2.minimum, x2.maximum);
  EXPECT_THAT(mistake_of([&] { (void)posterior.sample(observed, 1); }), StartsWith(expected));
  EXPECT_THAT(mistake_of([&] { (void)posterior.log_prob(parameters, observed); }),
              StartsWith(expected));
  // Each outcome is possible, but not both together.
  EXPECT_THAT(mistake_of([&] { (void)posterior.sample(observation(40, 60), 1); }),
              HasSubstr("do not go together"));
  constexpr auto kAllow = FarObservations::extrapolate;
  EXPECT_EQ(posterior.sample(observed, 1, {.far = kAllow}).parameters.rows(), 3);
  EXPECT_TRUE(posterior.log_prob(parameters, observed, {}, kAllow).allFinite());
}

TEST(FarObservations, MayLieALittleOutside) {
  const Posterior posterior = narrow_posterior();
  const ColumnInfo& x1 = info_of(posterior.density().schema(), "x1");
  const auto found = [&](double share) {
    const double value = x1.maximum + share * (x1.maximum - x1.minimum);
    return posterior.distances(observation(value, value)).front();
  };
  EXPECT_TRUE(found(0.05).far());
  EXPECT_FALSE(found(0.05).beyond());
  EXPECT_TRUE(found(0.3).beyond());
}

TEST(FarObservations, AreHardlyEverNewPairs) {
  const Posterior posterior = normal_posterior(NormalPairs(1000));
  const auto found = posterior.distances(NormalPairs(20'000, 5).outcomes);
  const auto share = [&](auto is) {
    return static_cast<double>(std::count_if(found.begin(), found.end(), is)) / 20'000;
  };
  // Four ends and a distance, each with about one chance in 1,000; the standard error of a share
  // of 0.1 % is 0.02 %.
  EXPECT_GT(share([](const auto& d) { return d.far(); }), 0.001);
  EXPECT_LT(share([](const auto& d) { return d.beyond(); }), 0.001);
}

TEST(ObservationDistance, NeedsNothingButRangesWhereOutcomesAreMany) {
  Posterior posterior = narrow_posterior();
  posterior.set_training_outcomes(Matrix<double>::Zero(10, 101));
  EXPECT_EQ(posterior.distances(observation(40, 60))[0].largest_training, 0);
  EXPECT_FALSE(posterior.distances(observation(40, 60))[0].far());
  EXPECT_TRUE(posterior.distances(observation(400, 60))[0].far());
  // Outcomes that are the same number twice have no spread across.
  Matrix<double> flat(50, 2);
  const std::vector<double> numbers = normal_numbers(50, 1);
  for (Eigen::Index i = 0; i < 50; ++i)
    flat.row(i).setConstant(numbers[static_cast<std::size_t>(i)]);
  posterior.set_training_outcomes(flat);
  EXPECT_TRUE(std::isfinite(posterior.distances(observation(40, 60))[0].distance));
}

}  // namespace
}  // namespace jeffreys::testing
