#include "jeffreys/report/calibration_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "support/scratch_folder.h"

namespace jeffreys::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Whether an area has the colour of bars outside their band, as SVG writes it.
bool shows_outside(const std::string& picture) {
  return picture.find("fill = 'rgb(200,  80,  10)'") != std::string::npos;
}

class CalibrationPlotTest : public testing::ScratchTest {
 protected:
  void SetUp() override {
    if (std::system("command -v gnuplot > /dev/null") != 0) {
      GTEST_SKIP() << "gnuplot is not installed";
    }
  }

  std::string picture(const CalibrationPlot& plot) const {
    draw_calibration(path("calibration.svg"), plot);
    return testing::bytes_of(path("calibration.svg"));
  }
};

CalibrationPlot both() {
  return {.ranks = {{.name = "decay {rate}",
                     .count = {9, 12, 10},
                     .expected = {10, 10, 11},
                     .lower = {4, 4, 5},
                     .upper = {17, 17, 18}}},
          .coverage = {{.title = "regions",
                        .credibility = {0, 0.5, 1},
                        .coverage = {0, 0.4, 1},
                        .band = 0.1,
                        .above = "too wide",
                        .below = "too narrow"}}};
}

TEST_F(CalibrationPlotTest, ShowsWhatItIsGiven) {
  CalibrationPlot plot = both();
  plot.title = "it's calibrated";
  const std::string drawn = picture(plot);
  for (const char* text : {"decay {rate}", "regions", "too wide", "too narrow", "it's calibrated",
                           "credibility", "rank / samples"}) {
    EXPECT_THAT(drawn, HasSubstr(text));
  }
}

TEST_F(CalibrationPlotTest, BarsOutsideTheirBandStandOut) {
  CalibrationPlot plot = both();
  EXPECT_FALSE(shows_outside(picture(plot)));
  plot.ranks[0].count[1] = 18;
  EXPECT_TRUE(shows_outside(picture(plot)));
}

TEST_F(CalibrationPlotTest, EitherKindMayBeMissing) {
  CalibrationPlot plot = both();
  plot.coverage.clear();
  EXPECT_THAT(picture(plot), Not(HasSubstr("credibility")));
  plot = both();
  plot.ranks.assign(9, plot.ranks[0]);
  draw_calibration(path("nine.png"), plot);
  plot.ranks.clear();
  EXPECT_THAT(picture(plot), Not(HasSubstr("rank / samples")));
}

TEST_F(CalibrationPlotTest, RefusesPartsThatDoNotFitTogether) {
  const auto refused = [&](auto change) {
    CalibrationPlot plot = both();
    change(plot);
    EXPECT_THROW(draw_calibration(path("a.svg"), plot), std::invalid_argument);
  };
  refused([](auto& p) { p = {}; });
  refused([](auto& p) { p.ranks[0].count.clear(); });
  refused([](auto& p) { p.ranks[0].expected.pop_back(); });
  refused([](auto& p) { p.ranks[0].lower.pop_back(); });
  refused([](auto& p) { p.ranks[0].upper.pop_back(); });
  refused([](auto& p) { p.coverage[0].coverage.pop_back(); });
  EXPECT_EQ(files_in_folder(), 0U);
}

}  // namespace
}  // namespace jeffreys::report
