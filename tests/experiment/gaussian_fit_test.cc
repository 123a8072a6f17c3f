#include "experiment/gaussian_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace jeffreys::experiment {
namespace {

using ::testing::HasSubstr;

constexpr Divergence kAll[] = {Divergence::forward, Divergence::reverse, Divergence::jeffreys};
// Neither symmetric nor with equal widths.
const LineMixture kUneven{{{-1, 0.3}, {0.5, 0.6}, {1.4, 0.25}}};
const LineMixture kTwo{{{-1, 0.25}, {1, 0.25}}};

double value(const LineMixture& mixture, double mean, double log_deviation, Divergence kind) {
  return divergence(mixture, {mean, std::exp(log_deviation)}, kind).value;
}

TEST(GaussianFit, DerivativesAreFiniteDifferences) {
  constexpr double kStep = 1e-4;
  for (const Divergence kind : kAll) {
    const double mean = 0.2;
    const double log = -0.3;
    const auto f = [&](int i, int j) {
      return value(kUneven, mean + i * kStep, log + j * kStep, kind);
    };
    const DivergenceValue exact = divergence(kUneven, {mean, std::exp(log)}, kind);
    const double square = kStep * kStep;
    EXPECT_NEAR(exact.d_mean, (f(1, 0) - f(-1, 0)) / (2 * kStep), 1e-6);
    EXPECT_NEAR(exact.d_log, (f(0, 1) - f(0, -1)) / (2 * kStep), 1e-6);
    EXPECT_NEAR(exact.d_mean_mean, (f(1, 0) - 2 * f(0, 0) + f(-1, 0)) / square, 1e-4);
    EXPECT_NEAR(exact.d_log_log, (f(0, 1) - 2 * f(0, 0) + f(0, -1)) / square, 1e-4);
    EXPECT_NEAR(exact.d_mean_log, (f(1, 1) - f(1, -1) - f(-1, 1) + f(-1, -1)) / (4 * square), 1e-4);
  }
}

TEST(GaussianFit, ForwardKlMatchesTheMoments) {
  const LineGaussian fit = fit_gaussian(kUneven, Divergence::forward);
  const double mean = (-1 + 0.5 + 1.4) / 3;
  const double square = (1 + 0.09 + 0.25 + 0.36 + 1.96 + 0.0625) / 3;
  EXPECT_NEAR(fit.mean, mean, 1e-9);
  EXPECT_NEAR(fit.deviation, std::sqrt(square - mean * mean), 1e-9);
}

TEST(GaussianFit, DivergencesOfTwoGaussiansHaveAClosedForm) {
  const LineMixture one{{{0.5, 2}}};
  const LineGaussian other{-1, 0.7};
  const double forward = std::log(0.7 / 2) + (4 + 2.25) / (2 * 0.49) - 0.5;
  const double reverse = std::log(2 / 0.7) + (0.49 + 2.25) / (2 * 4.0) - 0.5;
  EXPECT_NEAR(divergence(one, other, Divergence::forward).value, forward, 1e-12);
  EXPECT_NEAR(divergence(one, other, Divergence::reverse).value, reverse, 1e-12);
  EXPECT_NEAR(divergence(one, other, Divergence::jeffreys).value, forward + reverse, 1e-12);
}

// Of modes far apart the reverse KL takes one, at the price of log 2.
TEST(GaussianFit, ReverseKlTakesOneOfTwoDistantModes) {
  const LineMixture distant{{{-5, 0.5}, {5, 0.5}}};
  const LineGaussian fit = fit_gaussian(distant, Divergence::reverse);
  EXPECT_NEAR(std::abs(fit.mean), 5, 1e-6);
  EXPECT_NEAR(fit.deviation, 0.5, 1e-6);
  EXPECT_NEAR(divergence(distant, fit, Divergence::reverse).value, std::log(2), 1e-9);
}

TEST(GaussianFit, NothingOnAGridIsLower) {
  for (const LineMixture& mixture : {kUneven, kTwo}) {
    for (const Divergence kind : kAll) {
      const LineGaussian fit = fit_gaussian(mixture, kind);
      const DivergenceValue found = divergence(mixture, fit, kind);
      EXPECT_NEAR(found.d_mean, 0, 1e-8);
      EXPECT_NEAR(found.d_log, 0, 1e-8);
      for (double mean = -2; mean <= 2; mean += 0.25) {
        for (double log = -2; log <= 1; log += 0.25) {
          EXPECT_LE(found.value, value(mixture, mean, log, kind) + 1e-12);
        }
      }
    }
  }
}

TEST(GaussianFit, MovesAndStretchesWithTheMixture) {
  LineMixture moved = kUneven;
  for (LineGaussian& part : moved.components) part = {10 + 3 * part.mean, 3 * part.deviation};
  for (const Divergence kind : kAll) {
    const LineGaussian fit = fit_gaussian(kUneven, kind);
    const LineGaussian other = fit_gaussian(moved, kind);
    EXPECT_NEAR(other.mean, 10 + 3 * fit.mean, 1e-6);
    EXPECT_NEAR(other.deviation, 3 * fit.deviation, 1e-6);
    EXPECT_NEAR(divergence(moved, other, kind).value, divergence(kUneven, fit, kind).value, 1e-10);
  }
}

TEST(GaussianFit, NamesWhatIsWrong) {
  const auto problem = [](const LineMixture& mixture, const LineGaussian& gaussian) {
    try {
      static_cast<void>(divergence(mixture, gaussian, Divergence::forward));
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(problem({}, {0, 1}), HasSubstr("mixture: expected at least one"));
  EXPECT_THAT(problem(kTwo, {0, 0}), HasSubstr("gaussian: expected a finite mean and deviation"));
  EXPECT_THAT(problem({{{0, -1}}}, {0, 1}), HasSubstr("got 0 and -1"));
}

}  // namespace
}  // namespace jeffreys::experiment
