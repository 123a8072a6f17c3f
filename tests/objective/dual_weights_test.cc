// The weights of scores against numerical derivatives of the Lagrangian, with models of every kind.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "jeffreys/objective/constraint.h"
#include "jeffreys/objective/importance.h"
#include "jeffreys/objective/likelihood.h"
#include "support/gaussian_models.h"
#include "support/model_helpers.h"

namespace jeffreys {
namespace {

using testing::GaussianDensity;
using testing::normals;

constexpr Eigen::Index kRows = 24;
constexpr double kStep = 1e-5;

const Multipliers kMultipliers{0.7, 1.9, 1.2, 0.4, 1.1};

std::vector<double> values_of(const Multipliers& m) {
  return {m.forward, m.reverse, m.proxy, m.zeta_lower, m.zeta_upper};
}

ScoreWeights weights_of(const Multipliers& m, const DualSettings& settings = {}) {
  return total_weights(adaptive_problem(settings, m, false), values_of(m));
}

enum class Proxy { flow, residual, film };

struct Case {
  std::string name;
  Proxy proxy;
  DualSettings settings;
};
void PrintTo(const Case& c, std::ostream* stream) { *stream << c.name; }

std::unique_ptr<UnnormalizedDensity<double>> make_proxy(Proxy kind) {
  std::unique_ptr<UnnormalizedDensity<double>> model;
  if (kind == Proxy::flow) {
    model = std::make_unique<SplineFlow<double>>(
        SplineFlowOptions{.features = 2, .transforms = 2, .bins = 4, .hidden = {6}, .seed = 5});
  } else if (kind == Proxy::residual) {
    model = std::make_unique<ResidualEnergy<double>>(ResidualEnergyOptions{
        .features = 2, .hidden = 6, .blocks = 1, .temperature = 2, .seed = 5});
  } else {
    model = std::make_unique<FilmEnergy<double>>(FilmEnergyOptions{
        .features = 2, .context_features = 2, .hidden = 6, .blocks = 1, .seed = 5});
  }
  testing::add_parameter_noise(*model, 0.1, 6);
  return model;
}

// d function / d parameter i of a model.
double slope(UnnormalizedDensity<double>& model, std::size_t i,
             const std::function<double()>& function) {
  const double old = model.parameters()[i];
  const auto at = [&](double value) {
    model.edit_parameters([&](std::span<double> p) { p[i] = value; });
    return function();
  };
  // Without the h^2 term.
  const double near = (at(old + kStep) - at(old - kStep)) / (2 * kStep);
  const double far = (at(old + 2 * kStep) - at(old - 2 * kStep)) / (4 * kStep);
  at(old);
  return (4 * near - far) / 3;
}

// A batch whose zeta comes from the very samples that carry its gradient, so that the weighted sum
// of scores is the exact gradient.
class DualWeights : public ::testing::TestWithParam<Case> {
 protected:
  DualWeights() {
    testing::add_parameter_noise<double>(main, 0.1, 2);
    samples = main.sample(kRows, context, {.seed = 4});
  }

  [[nodiscard]] Vector<double> log_zeta() const {
    if (proxy->normalized()) return Vector<double>::Zero(1);
    const Vector<double> w = proxy->log_unnormalized(samples.x, context) - samples.log_prob;
    const std::span<const double> weights(w.data(), static_cast<std::size_t>(w.size()));
    // Rows come in pairs with the same condition, so that each zeta has two samples.
    return log_zeta_by_condition(weights, conditional() ? kRows / 2 : 1);
  }

  [[nodiscard]] double lagrangian_now() const {
    const Vector<double> zeta = log_zeta();
    const Vector<double> main_data = main.log_prob(x, context);
    const Vector<double> proxy_data = proxy->log_unnormalized(x, context);
    const Vector<double> proxy_samples = proxy->log_unnormalized(samples.x, context);
    const BatchValues values{main_data, samples.log_prob, proxy_data, proxy_samples, zeta};
    const BatchMeasures measures{divergences(values), zeta_level(zeta, settings())};
    const std::vector<Constraint> problem = adaptive_problem(settings(), kMultipliers, false);
    std::vector<double> levels;
    for (const Constraint& constraint : problem) levels.push_back(constraint.level(measures));
    return lagrangian(problem, levels, values_of(kMultipliers), zeta, settings());
  }

  [[nodiscard]] bool conditional() const { return GetParam().proxy == Proxy::film; }
  [[nodiscard]] const DualSettings& settings() const { return GetParam().settings; }

  Matrix<double> x = testing::correlated_rows(kRows, 2, 1);
  Matrix<double> context =
      conditional() ? Matrix<double>(normals(kRows / 2, 2, 3).replicate(2, 1)) : Matrix<double>();
  SplineFlow<double> main{{.features = 2,
                           .context_features = conditional() ? 2 : 0,
                           .transforms = 2,
                           .bins = 4,
                           .hidden = {6}}};
  std::unique_ptr<UnnormalizedDensity<double>> proxy = make_proxy(GetParam().proxy);
  Samples<double> samples;
};

TEST_P(DualWeights, GiveTheProxyGradientOfTheLagrangian) {
  std::vector<double> gradient(proxy->layout().size(), 0.0);
  const ScoreWeights total = weights_of(kMultipliers, settings());
  proxy->add_scores(x, context, Vector<double>::Constant(kRows, total.proxy_data / kRows).eval(),
                    gradient);
  const Vector<double> zeta = log_zeta();
  const auto weights = [&](Eigen::Index first, std::span<const double> f, std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Eigen::Index row = first + static_cast<Eigen::Index>(i);
      out[i] = proxy->normalized()
                   ? total.proxy_samples / kRows
                   : proxy_sample_weight(samples.log_prob(row), f[i], zeta(row % zeta.size()),
                                         total, settings(), kRows);
    }
  };
  proxy->add_scores(samples.x, context, WeightFunction<double>(weights), gradient);
  double largest = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double expected = slope(*proxy, i, [&] { return lagrangian_now(); });
    ASSERT_NEAR(gradient[i], expected, 1e-7 * (1 + std::abs(expected))) << "parameter " << i;
    largest = std::max(largest, std::abs(expected));
  }
  EXPECT_GT(largest, 1e-2);
}

// The samples and their log density are held: only the forward term depends on the main model.
TEST_P(DualWeights, GiveTheForwardGradientOfTheLagrangian) {
  std::vector<double> gradient(main.layout().size(), 0.0);
  main.add_scores(
      x, context,
      Vector<double>::Constant(kRows, weights_of(kMultipliers, settings()).main_data / kRows)
          .eval(),
      gradient);
  double largest = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double expected = slope(main, i, [&] { return lagrangian_now(); });
    ASSERT_NEAR(gradient[i], expected, 1e-7 * (1 + std::abs(expected))) << "parameter " << i;
    largest = std::max(largest, std::abs(expected));
  }
  EXPECT_GT(largest, 1e-2);
}

INSTANTIATE_TEST_SUITE_P(
    All, DualWeights,
    ::testing::Values(Case{"Flow", Proxy::flow, {}}, Case{"Residual", Proxy::residual, {}},
                      Case{"Film", Proxy::film, {}},
                      Case{
                          "ResidualRaw", Proxy::residual, {.zeta_constraint = ZetaConstraint::raw}},
                      Case{"FilmRaw", Proxy::film, {.zeta_constraint = ZetaConstraint::raw}},
                      // Without noise on the bound log zeta is below or above it, in some
                      // conditions by more than 1.
                      Case{"ResidualPulled", Proxy::residual, {.zeta_slack = 0, .zeta_pull = 3}},
                      Case{"FilmPulled", Proxy::film, {.zeta_slack = 0, .zeta_pull = 3}},
                      Case{"FlowScaled",
                           Proxy::flow,
                           {.level_scale = 0.3, .level_offset = -2, .reverse_scale = 4}},
                      Case{"ResidualScaled",
                           Proxy::residual,
                           {.level_scale = 0.3, .level_offset = -2, .reverse_scale = 4}},
                      Case{"FilmScaled",
                           Proxy::film,
                           {.level_scale = 3, .level_offset = 1, .reverse_scale = 0.2}}),
    [](const auto& test) { return test.param.name; });

TEST(ProxySampleWeight, StaysFiniteWhereZetaAndTheWeightAloneDoNot) {
  const Multipliers no_zeta{1, 0.5, 2, 0, 0};
  // weight / zeta = 1, so (0.5 + 2 - 0.5) / 1
  EXPECT_NEAR(proxy_sample_weight(-1e4, 1e4, 2e4, weights_of(no_zeta), {}, 1), 2, 1e-9);
  EXPECT_NEAR(proxy_sample_weight(1e4, -1e4, -2e4, weights_of(no_zeta), {}, 4), 0.5, 1e-9);
  EXPECT_NEAR(proxy_sample_weight(0, -1e4, 0, weights_of({1, 0.5, 2, 3, 4}), {}, 1), -0.5, 1e-12);
}

// With zeta from the same n samples a weight is at most n times the forces; raw zeta's grows with
// it, up to what clipping can still handle.
TEST(ProxySampleWeight, IsBoundedWithLogZetaInTheConstraints) {
  const Multipliers m{1, 0.5, 2, 0, 3};
  EXPECT_NEAR(proxy_sample_weight(0, 700, 700 - std::log(10.0), weights_of(m), {}, 10), 5.5 - 0.05,
              1e-9);
  const DualSettings raw{.zeta_constraint = ZetaConstraint::raw};
  EXPECT_GT(proxy_sample_weight(0, 30, 30, weights_of(m, raw), raw, 10), 1e12);
  EXPECT_EQ(proxy_sample_weight(0, 1e4, 1e4, weights_of(m, raw), raw, 10), 1e13);
  EXPECT_EQ(proxy_sample_weight(0, 1e4, 1e4, weights_of({1, 0.5, 2, 3, 0}, raw), raw, 10), -1e13);
  EXPECT_TRUE(std::isnan(proxy_sample_weight(0, NAN, 0, weights_of(m), {}, 1)));
}

TEST(ZetaLevel, IsTheMeanOfLogZetaOrTheLogOfItsMean) {
  Vector<double> log_zeta(3);
  log_zeta << 0, std::log(2.0), std::log(4.0);
  EXPECT_NEAR(zeta_level(log_zeta, {}), std::log(2.0), 1e-15);
  EXPECT_NEAR(zeta_level(log_zeta, {.zeta_constraint = ZetaConstraint::raw}), std::log(7.0 / 3),
              1e-15);
  const auto gradient = [](const DualSettings& settings, std::size_t k) {
    const std::vector<Constraint> problem = adaptive_problem(settings, {}, false);
    return multiplier_gradient(problem[k], problem[k].level({{}, 0.7}), 0.2);
  };
  const DualSettings in_log{.zeta_slack = 0.5};
  EXPECT_NEAR(gradient(in_log, 3), -0.7, 1e-15);
  EXPECT_NEAR(gradient(in_log, 4), 0.7 - std::log(1.5), 1e-15);
  const DualSettings raw{.zeta_slack = 0.5, .zeta_constraint = ZetaConstraint::raw};
  EXPECT_NEAR(gradient(raw, 3), 1 - std::exp(0.7), 1e-15);
  EXPECT_NEAR(gradient(raw, 4), std::exp(0.7) - 1.5, 1e-15);
}

TEST(MainSampleWeights, OfLeaveOneOutSumToZeroAndTakeOneRow) {
  const Vector<double> log_p = normals(50, 1, 1);
  const Vector<double> f = normals(50, 1, 2);
  const Vector<double> log_zeta = Vector<double>::Constant(1, 3.0);
  const BatchValues values{log_p, log_p, f, f, log_zeta};
  const DualSettings settings{.reverse_scale = 2,
                              .reverse_estimator = ReverseEstimator::leave_one_out};
  const Vector<double> weights =
      main_sample_weights(values, weights_of(kMultipliers, settings), settings);
  EXPECT_NEAR(weights.sum(), 0, 1e-12);
  // a_7 less the mean of the others, by hand.
  const Vector<double> a = (log_p - f).array() + 3.0;
  const double others = (a.sum() - a(7)) / 49;
  EXPECT_NEAR(weights(7), kMultipliers.reverse * 2 * (a(7) - others) / 50, 1e-12);

  const Vector<double> one = log_p.head(1);
  const Vector<double> one_f = f.head(1);
  const Vector<double> single = main_sample_weights({one, one, one_f, one_f, log_zeta},
                                                    weights_of(kMultipliers, settings), settings);
  EXPECT_NEAR(single(0), kMultipliers.reverse * 2 * a(0), 1e-12);
}

// Three samples of each of two conditions: sample m of condition i is row 2 m + i.
TEST(MainSampleWeights, OfLeaveOneOutStayWithinTheCondition) {
  const Vector<double> log_p = normals(6, 1, 1);
  const Vector<double> f = normals(6, 1, 2);
  Vector<double> log_zeta(2);
  log_zeta << 5, -7;
  const DualSettings settings{.reverse_estimator = ReverseEstimator::leave_one_out};
  const Vector<double> weights = main_sample_weights({log_p, log_p, f, f, log_zeta},
                                                     weights_of(kMultipliers, settings), settings);
  const Vector<double> a = log_p - f;
  for (Eigen::Index i = 0; i < 2; ++i) {
    EXPECT_NEAR(weights(i) + weights(2 + i) + weights(4 + i), 0, 1e-12);
    // zeta is the same for all samples of the condition, so it has no part in the difference.
    EXPECT_NEAR(weights(2 + i), kMultipliers.reverse * (a(2 + i) - (a(i) + a(4 + i)) / 2) / 6,
                1e-12);
  }
}

TEST(MainSampleWeights, TakeTheZetaOfEachRow) {
  const Vector<double> log_p = normals(6, 1, 1);
  const Vector<double> f = normals(6, 1, 2);
  const Vector<double> log_zeta = normals(6, 1, 3);
  const Vector<double> weights =
      main_sample_weights({log_p, log_p, f, f, log_zeta},
                          weights_of(kMultipliers, {.reverse_scale = 2}), {.reverse_scale = 2});
  const Vector<double> expected = (log_p - f + log_zeta) * (kMultipliers.reverse * 2 / 6);
  EXPECT_LT((weights - expected).cwiseAbs().maxCoeff(), 1e-14);
}

// Mean and standard error of gradients over seeds.
struct Gradients {
  explicit Gradients(std::size_t size) : sum(Vector<double>::Zero(as_index(size))), squares(sum) {}
  static Eigen::Index as_index(std::size_t size) { return static_cast<Eigen::Index>(size); }
  void add(const std::vector<double>& gradient) {
    const Eigen::Map<const Vector<double>> g(gradient.data(), as_index(gradient.size()));
    sum += g;
    squares += g.cwiseAbs2();
    ++count;
  }
  [[nodiscard]] double mean(std::size_t i) const { return sum(as_index(i)) / count; }
  [[nodiscard]] double error(std::size_t i) const {
    const double variance = squares(as_index(i)) / count - mean(i) * mean(i);
    return std::sqrt(std::max(variance, 0.0) / count);
  }
  Vector<double> sum;
  Vector<double> squares;
  double count = 0;
};

Gradients reverse_gradients(const Density<double>& main, const Density<double>& proxy,
                            const DualSettings& settings) {
  constexpr std::uint64_t kSeeds = 300;
  constexpr Eigen::Index kSamples = 200;
  const Vector<double> log_zeta = Vector<double>::Constant(1, 2.0);  // a baseline: no effect
  Gradients result(main.layout().size());
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Samples<double> y;
    main.sample(kSamples, Matrix<double>(), {.seed = seed}, y, KeepTape::yes);
    const Vector<double> f = proxy.log_prob(y.x);
    const BatchValues values{y.log_prob, y.log_prob, f, f, log_zeta};
    std::vector<double> gradient(main.layout().size(), 0.0);
    main.add_sample_scores(
        y, main_sample_weights(values, weights_of(kMultipliers, settings), settings), gradient);
    result.add(gradient);
  }
  return result;
}

// KL(main || proxy) of one feature, by the trapezoidal rule.
double kl_by_quadrature(const Density<double>& main, const Density<double>& proxy) {
  const Matrix<double> grid = Vector<double>::LinSpaced(8001, -10, 10);
  const Vector<double> log_p = main.log_prob(grid);
  const Vector<double> log_q = proxy.log_prob(grid);
  return (log_p.array().exp() * (log_p - log_q).array()).sum() * (20.0 / 8000);
}

// Both estimators against the derivative by quadrature, in every parameter: four standard errors of
// the mean of 300 gradients, and 1e-4 for the quadrature.
void expect_reverse_gradient(Density<double>& main, const Density<double>& proxy) {
  DualSettings settings{.level_scale = 5, .level_offset = 7, .reverse_scale = 3};
  const Gradients plain = reverse_gradients(main, proxy, settings);
  settings.reverse_estimator = ReverseEstimator::leave_one_out;
  const Gradients less_noise = reverse_gradients(main, proxy, settings);
  double largest = 0;
  double plain_error = 0;
  double less_error = 0;
  for (std::size_t i = 0; i < main.layout().size(); ++i) {
    const double expected =
        kMultipliers.reverse * 3 * slope(main, i, [&] { return kl_by_quadrature(main, proxy); });
    EXPECT_NEAR(plain.mean(i), expected, 4 * plain.error(i) + 1e-4) << "parameter " << i;
    EXPECT_NEAR(less_noise.mean(i), expected, 4 * less_noise.error(i) + 1e-4) << "parameter " << i;
    largest = std::max(largest, std::abs(expected) / (plain.error(i) + 1e-4));
    plain_error += plain.error(i);
    less_error += less_noise.error(i);
  }
  EXPECT_GT(largest, 8);  // a wrong sign or factor would show
  EXPECT_LT(less_error, 0.9 * plain_error);
}

TEST(MainSampleWeights, EstimateTheReverseGradientOfAGaussian) {
  GaussianDensity main(0.4, 0.8);
  const GaussianDensity proxy(-0.1, 1.1);
  expect_reverse_gradient(main, proxy);
}

TEST(MainSampleWeights, EstimateTheReverseGradientOfAFlow) {
  SplineFlow<double> main({.features = 1, .transforms = 1, .bins = 3, .hidden = {2}});
  SplineFlow<double> proxy({.features = 1, .transforms = 1, .bins = 3, .hidden = {2}, .seed = 1});
  testing::add_parameter_noise<double>(main, 0.5, 3);
  testing::add_parameter_noise<double>(proxy, 0.5, 4);
  expect_reverse_gradient(main, proxy);
}

// -H of a Gaussian is -log deviation + constant: gradient (0, -weight). Four standard errors.
TEST(EntropySampleWeights, EstimateTheGradientOfTheNegativeEntropy) {
  const GaussianDensity main(0.4, 0.8);
  Gradients found(2);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Samples<double> y = main.sample(200, {.seed = seed});
    std::vector<double> gradient(2, 0.0);
    main.add_sample_scores(y, entropy_sample_weights(y.log_prob, 0.7), gradient);
    found.add(gradient);
  }
  EXPECT_NEAR(found.mean(0), 0, 4 * found.error(0));
  EXPECT_NEAR(found.mean(1), -0.7, 4 * found.error(1));
  EXPECT_LT(found.error(1), 0.02);
}

}  // namespace
}  // namespace jeffreys
