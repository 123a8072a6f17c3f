#include "jeffreys/report/posterior_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

#include "support/not_finite.h"
#include "support/scratch_folder.h"

namespace jeffreys::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PosteriorPlotTest : public testing::ScratchTest {
 protected:
  void SetUp() override {
    if (std::system("command -v gnuplot > /dev/null") != 0) {
      GTEST_SKIP() << "gnuplot is not installed";
    }
  }

  std::string picture(const PosteriorPlot& plot) const {
    draw_posterior(path("posterior.svg"), plot);
    return testing::bytes_of(path("posterior.svg"));
  }
};

PosteriorPlot three() {
  return {.names = {"a", "it's {b}", "c"}, .samples = Matrix<double>::Random(200, 3)};
}

TEST_F(PosteriorPlotTest, ShowsNamesRegionsAndTitle) {
  PosteriorPlot plot = three();
  plot.title = "what was seen";
  const std::string drawn = picture(plot);
  for (const char* text : {"it's {b}", "what was seen", "50 % region", "90 % region"}) {
    EXPECT_THAT(drawn, HasSubstr(text));
  }
  EXPECT_THAT(drawn, Not(HasSubstr("true parameter")));
}

TEST_F(PosteriorPlotTest, MarksTheTruthEvenOutsideTheSamples) {
  PosteriorPlot plot = three();
  plot.truth = Vector<double>::Constant(3, 50);
  const std::string drawn = picture(plot);
  EXPECT_THAT(drawn, HasSubstr("true parameter"));
  EXPECT_THAT(drawn, HasSubstr(">40<"));  // a number on an axis that reaches the truth
}

TEST_F(PosteriorPlotTest, SaysMedianAndInterval) {
  Matrix<double> samples(101, 1);
  for (int i = 0; i <= 100; ++i) samples(i, 0) = 0.01 * i - 0.5;
  EXPECT_THAT(picture({.names = {"a"}, .samples = samples}), HasSubstr("0.00  [-0.45, 0.45]"));
}

TEST_F(PosteriorPlotTest, AxesEndAtThePriorThatSamplesFill) {
  PosteriorPlot plot{.names = {"a"}, .samples = Matrix<double>::Random(500, 1)};
  plot.lower = Vector<double>::Constant(1, -1.6);
  plot.upper = Vector<double>::Constant(1, 1.6);
  EXPECT_THAT(picture(plot), HasSubstr(">1<"));
  // A prior that is much wider than the samples does not squeeze them.
  plot.lower[0] = -1000;
  plot.upper[0] = kInfinity;
  EXPECT_THAT(picture(plot), Not(HasSubstr(">-500<")));
}

TEST_F(PosteriorPlotTest, DrawsOneToEightParametersAndAwkwardOnes) {
  Matrix<double> samples = Matrix<double>::Random(60, 8);
  samples.col(1).setConstant(3);
  samples.col(2) *= 1e12;
  samples.col(3) *= 1e-12;
  samples.col(4).array() += 1e6;
  samples.col(5) = samples.col(0);
  samples(0, 6) = std::numeric_limits<double>::quiet_NaN();
  samples(1, 6) = kInfinity;
  const std::vector<std::string> names(8, "name");
  draw_posterior(path("eight.png"), {.names = names, .samples = samples});
  draw_posterior(path("one.png"), {.names = {"a"}, .samples = samples.middleCols(1, 1)});
  EXPECT_EQ(files_in_folder(), 2U);
}

TEST_F(PosteriorPlotTest, RefusesPartsThatDoNotFitTogether) {
  const auto refused = [&](auto change) {
    PosteriorPlot plot = three();
    change(plot);
    EXPECT_THROW(draw_posterior(path("a.svg"), plot), std::invalid_argument);
  };
  refused([](auto& p) { p.names.pop_back(); });
  refused([](auto& p) { p.names.clear(); });
  refused([](auto& p) { p.truth = Vector<double>::Zero(2); });
  refused([](auto& p) { p.lower = Vector<double>::Zero(2); });
  refused([](auto& p) { p.upper = Vector<double>::Zero(4); });
  refused([](auto& p) { p.samples.setConstant(kInfinity); });
  refused([](auto& p) { p.samples.conservativeResize(19, 3); });
  refused([](auto& p) {
    p.names.assign(9, "x");
    p.samples = Matrix<double>::Random(100, 9);
  });
  EXPECT_EQ(files_in_folder(), 0U);
}

}  // namespace
}  // namespace jeffreys::report
