// Simulation-based calibration of an exact posterior and of ones that are wrong in a known way.
#include "jeffreys/evaluate/rank_calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/gaussian_posterior.h"

namespace jeffreys {
namespace {

using testing::gaussian_ranks;
using ::testing::HasSubstr;

RankCalibration calibration_of(const testing::GaussianCase& of) {
  std::vector<std::string> names = {"a", "b", "c"};
  names.resize(static_cast<std::size_t>(of.parameters));
  return rank_calibration(gaussian_ranks(of), names);
}

TEST(RankCalibration, TheExactPosteriorPasses) {
  const RankCalibration result = calibration_of({});
  ASSERT_EQ(result.parameters.size(), 2U);
  EXPECT_EQ(result.parameters[1].name, "b");
  for (const auto& parameter : result.parameters) {
    EXPECT_EQ(parameter.calibration, Calibration::no_sign);
    EXPECT_GE(parameter.p_value, parameter.test.p_value);
  }
  EXPECT_THAT(result.verdict, HasSubstr("no sign of miscalibration with 300 simulations"));
}

TEST(RankCalibration, FalseAlarmsAreNoMoreThanPromised) {
  // Of 200 exact posteriors 0.05 may be called wrong at that significance; the standard error of
  // their share is 0.0154.
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto ranks = gaussian_ranks({.simulations = 100, .samples = 30, .seed = seed});
    alarms += rank_calibration(ranks, {"a", "b"}, 0.05).p_value < 0.05 ? 1 : 0;
  }
  EXPECT_LT(alarms / 200.0, 0.05 + 4 * 0.0154);
}

TEST(RankCalibration, NamesTooNarrowAndTooWide) {
  const RankCalibration narrow = calibration_of({.width = 0.6});
  const RankCalibration wide = calibration_of({.width = 1.6});
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_EQ(narrow.parameters[c].calibration, Calibration::over_confident);
    EXPECT_EQ(wide.parameters[c].calibration, Calibration::under_confident);
  }
  EXPECT_THAT(narrow.verdict, HasSubstr("over-confident in a (p = "));
  EXPECT_THAT(wide.verdict, HasSubstr("under-confident in a (p = "));
  EXPECT_THAT(wide.verdict, HasSubstr("Holm"));
}

TEST(RankCalibration, NamesTheOneParameterThatIsShifted) {
  for (const double shift : {0.5, 3.0}) {
    const RankCalibration high = calibration_of({.shift = shift});
    EXPECT_EQ(high.parameters[0].calibration, Calibration::biased) << shift;
    EXPECT_EQ(high.parameters[1].calibration, Calibration::no_sign) << shift;
    EXPECT_THAT(high.verdict, HasSubstr("too high"));
    const RankCalibration low = calibration_of({.shift = -shift});
    EXPECT_EQ(low.parameters[0].calibration, Calibration::biased) << shift;
    EXPECT_THAT(low.verdict, HasSubstr("biased in a"));
    EXPECT_THAT(low.verdict, HasSubstr("too low"));
  }
}

TEST(RankCalibration, NamesWhatHasAnotherShape) {
  // Four heaps with equal gaps: neither to one side nor from the middle.
  PosteriorRanks ranks{.samples = 99, .parameter = Matrix<int>(300, 1)};
  for (Eigen::Index i = 0; i < 300; ++i) {
    ranks.parameter(i, 0) = static_cast<int>(i % 4) * 25 + 12;
  }
  const RankCalibration result = rank_calibration(ranks, {"a"});
  EXPECT_LT(result.p_value, 1e-6);
  EXPECT_EQ(result.parameters[0].calibration, Calibration::uneven);
}

TEST(RankCalibration, RefusesBadArguments) {
  const PosteriorRanks ranks = gaussian_ranks({.simulations = 20, .samples = 5});
  EXPECT_THROW((void)rank_calibration(ranks, {"a"}), std::invalid_argument);
  for (const double significance : {0.0, 1.0, std::nan("")}) {
    EXPECT_THROW((void)rank_calibration(ranks, {"a", "b"}, significance), std::invalid_argument);
  }
  EXPECT_THROW((void)rank_calibration(PosteriorRanks{}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys
