// The kinds of panels one by one: what reaches the picture, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

#include "jeffreys/report/figure.h"
#include "support/not_finite.h"
#include "support/scratch_folder.h"

namespace jeffreys::report {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

class PanelTest : public testing::ScratchTest {
 protected:
  void SetUp() override {
    if (std::system("command -v gnuplot > /dev/null") != 0) {
      GTEST_SKIP() << "gnuplot is not installed";
    }
  }

  std::string drawn(const Panel& panel) const {
    draw(path("panel.svg"), {{panel}});
    return testing::bytes_of(path("panel.svg"));
  }

  std::string refusal(const Panel& panel) const {
    try {
      drawn(panel);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    ADD_FAILURE() << "was not refused";
    return {};
  }
};

// What is written in the picture, label by label.
std::vector<std::string> texts(const std::string& picture) {
  static const std::regex kText("<text>([^]*?)</text>");
  static const std::regex kTag("<[^>]*>");
  std::vector<std::string> result;
  for (std::sregex_iterator at(picture.begin(), picture.end(), kText), end; at != end; ++at) {
    const std::string inner = std::regex_replace((*at)[1].str(), kTag, "");
    result.push_back(std::regex_replace(inner, std::regex("^ +"), ""));
  }
  return result;
}

Curves two_lines() {
  return {.lines = {{"first", {0, 1, 2}, {1, 4, 2}}, {"second", {0, 1, 2}, {2, 1, 3}}}};
}

TEST_F(PanelTest, BandsAreTranslucentAndInTheColorOfTheirLine) {
  Curves curves = two_lines();
  EXPECT_THAT(drawn(curves), Not(HasSubstr("fill-opacity")));
  curves.lines[1].lower = {1.5, kNan, 2.5};
  curves.lines[1].upper = {2.5, kInfinity, 3.5};
  EXPECT_THAT(drawn(curves), ContainsRegex("fill = 'rgb\\(213,  94,   0\\)' fill-opacity"));
}

TEST_F(PanelTest, BandsOnALogarithmicAxisMayReachBelowZero) {
  Curves curves = two_lines();
  curves.log_y = true;
  curves.lines[0].lower = {-1, 0, 1};
  curves.lines[0].upper = {2, 5, 3};
  EXPECT_THAT(drawn(curves), HasSubstr("fill-opacity"));
}

TEST_F(PanelTest, ReferencesAreNamedAndInsideTheAxis) {
  Curves curves = two_lines();
  curves.references = {{"entropy", 20}};
  EXPECT_THAT(texts(drawn(curves)), IsSupersetOf({"entropy", "20"}));
  // One line and one reference are two things to tell apart.
  curves.lines.resize(1);
  EXPECT_THAT(texts(drawn(curves)), IsSupersetOf({"first", "entropy"}));
  curves.references.clear();
  EXPECT_THAT(texts(drawn(curves)), Not(Contains("first")));
}

TEST_F(PanelTest, OnlyWhatHasANameIsInTheLegend) {
  Curves curves;
  for (int i = 0; i < 25; ++i) {
    curves.lines.push_back({"", {0, 1}, {0.0, 1.0 + i}, true});
  }
  curves.lines.push_back({.name = "dual problem", .x = {0, 1}, .y = {5, 1}, .emphasis = true});
  const std::vector<std::string> named = texts(drawn(curves));
  EXPECT_THAT(named, Contains("dual problem"));
  curves.lines.back().name = "";
  EXPECT_EQ(texts(drawn(curves)).size() + 1, named.size());
}

TEST_F(PanelTest, EmphasisIsBlackAndDrawnLast) {
  Curves curves = two_lines();
  curves.lines[0].emphasis = true;
  const std::string picture = drawn(curves);
  EXPECT_GT(picture.rfind("stroke='rgb(  0,   0,   0)'"),
            picture.rfind("stroke='rgb(213,  94,   0)'"));
}

TEST_F(PanelTest, ThousandsAreShortened) {
  Curves curves{.lines = {{"x", {0, 200000}, {1, 2}}}};
  EXPECT_THAT(texts(drawn(curves)), IsSupersetOf({"0", "50k", "200k", "1.6"}));
  curves.lines[0].x = {0, 9000};
  EXPECT_THAT(texts(drawn(curves)), IsSupersetOf({"2000", "8000"}));
  curves.lines[0].x = {-2e6, 2.5e6};
  EXPECT_THAT(texts(drawn(curves)), IsSupersetOf({"-1M", "0", "2M"}));
  // Far from 0 a short form would give the same text to different places.
  curves.lines[0].x = {123456, 123457};
  EXPECT_THAT(texts(drawn(curves)), Not(Contains(HasSubstr("k"))));
}

TEST_F(PanelTest, ValuesOfLinesAreExplainedByABar) {
  Curves curves = two_lines();
  curves.value_label = "forward weight";
  EXPECT_THAT(texts(drawn(curves)), Not(Contains("forward weight")));
  curves.lines[0].value = 0.01;
  curves.lines[1].value = 100;
  curves.log_values = true;
  EXPECT_THAT(texts(drawn(curves)), IsSupersetOf({"forward weight", "0.01", "100"}));
  curves.lines[0].value = -1;  // has no logarithm
  EXPECT_NO_THROW(drawn(curves));
}

TEST_F(PanelTest, AreasStandOnZero) {
  Curves curves{.lines = {{"first", {1, 2}, {50, 60}}, {"second", {1, 2}, {60, 70}}}};
  EXPECT_THAT(texts(drawn(curves)), Not(Contains("0")));
  curves.lines[0].filled = true;
  const std::string picture = drawn(curves);
  EXPECT_THAT(texts(picture), Contains("0"));
  EXPECT_THAT(picture, HasSubstr("fill = 'rgb(176, 176, 176)'"));
}

TEST_F(PanelTest, RefusesBandsOfAnotherLength) {
  Curves curves = two_lines();
  curves.lines[1].lower = {1, 2, 3};
  EXPECT_THAT(refusal(curves), HasSubstr("line 'second': expected as many upper as x, 3, got 0"));
  curves.lines[1].upper = {1, 2, 3};
  curves.lines[1].lower.pop_back();
  EXPECT_THAT(refusal(curves), HasSubstr("line 'second': expected as many lower as x, 3, got 2"));
}

Bars bars() {
  return {.y_label = "nats",
          .groups = {"heart", "cancer"},
          .series = {{"MLE", {10.5, 9.25}, {0.5, 0.25}}, {"main", {10.125, kNan}}}};
}

TEST_F(PanelTest, BarsNameGroupsSeriesAndValues) {
  Bars panel = bars();
  const std::vector<std::string> plain = texts(drawn(panel));
  EXPECT_THAT(plain, IsSupersetOf({"heart", "cancer", "MLE", "main", "nats"}));
  panel.value_labels = true;
  const std::vector<std::string> labelled = texts(drawn(panel));
  EXPECT_THAT(labelled, IsSupersetOf({"10.5", "9.25", "10.1"}));
  EXPECT_THAT(plain, Not(Contains("9.25")));
  EXPECT_THAT(labelled, Not(Contains("nan")));
}

TEST_F(PanelTest, BarsBeginAtZeroAndDotsWhereTheirValuesAre) {
  Bars panel = bars();
  EXPECT_THAT(texts(drawn(panel)), Contains("0"));
  panel.from_zero = false;
  EXPECT_THAT(texts(drawn(panel)), AllOf(Not(Contains("0")), Contains("10")));
}

TEST_F(PanelTest, DotsStandBesideReferences) {
  Bars panel = bars();
  panel.from_zero = false;
  panel.references = {{"entropy", -50}};
  EXPECT_THAT(texts(drawn(panel)), IsSupersetOf({"entropy", "-40"})) << "the axis includes it";
}

TEST_F(PanelTest, BarsReachBelowZero) {
  Bars panel{.groups = {"a"}, .series = {{"x", {-3}}, {"y", {2}}}};
  EXPECT_THAT(texts(drawn(panel)), IsSupersetOf({"-2", "0", "2"}));
  panel.series = {{"x", {-3}}};
  EXPECT_THAT(texts(drawn(panel)), AllOf(IsSupersetOf({"-2", "0"}), Not(Contains("1"))));
}

TEST_F(PanelTest, AwkwardBarsCanBeDrawn) {
  EXPECT_NO_THROW(drawn(Bars{}));
  EXPECT_NO_THROW(drawn(Bars{.groups = {"a"}}));
  EXPECT_NO_THROW(drawn(Bars{.groups = {"a", ""}, .series = {{"x", {kNan, kNan}}}}));
  EXPECT_NO_THROW(drawn(Bars{.value_labels = true,
                             .groups = {"it's", "`x`\n", std::string(99, 'w')},
                             .series = {{"{x}_1", {0, kInfinity, 1e300}, {kNan, 1, kInfinity}}}}));
}

TEST_F(PanelTest, LongNamesOfManyGroupsAreSlantedAndCut) {
  Bars panel{.series = {{"x", {}}}};
  for (int i = 0; i < 25; ++i) {
    panel.groups.push_back("configuration number " + std::to_string(i));
    panel.series[0].values.push_back(i);
  }
  const std::string picture = drawn(panel);
  EXPECT_THAT(texts(picture), Contains("configuration numb…"));
  EXPECT_THAT(picture, HasSubstr("rotate(-35"));
}

TEST_F(PanelTest, RefusesBarsThatDoNotFitTogether) {
  Bars panel = bars();
  panel.series[0].values.pop_back();
  EXPECT_THAT(refusal(panel), HasSubstr("series 'MLE': expected as many values as groups, 2"));
  panel = bars();
  panel.series[0].deviation.push_back(1);
  EXPECT_THAT(refusal(panel), HasSubstr("expected as many deviation as groups, 2, got 3"));
  panel.series[0].deviation = {1, -1};
  EXPECT_THAT(refusal(panel), HasSubstr("expected a deviation of 0 or more, got -1"));
}

DensityMap hill() {
  DensityMap map{.x_min = -3, .x_max = 3, .y_min = -3, .y_max = 3, .contours = true};
  const Matrix<double> centers = cell_centers(-3, 3, -3, 3, 64, 64);
  map.density.resize(64, 64);
  for (Eigen::Index i = 0; i < centers.rows(); ++i) {
    map.density(i / 64, i % 64) = std::exp(-0.5 * centers.row(i).squaredNorm());
  }
  return map;
}

// The largest density is almost 1, so there are ten bands.
TEST_F(PanelTest, ContoursHaveRoundDensities) {
  const std::string picture = drawn(hill());
  EXPECT_THAT(texts(picture), IsSupersetOf({"0", "0.2", "0.4", "0.6", "0.8", "1"}));
  DensityMap cells = hill();
  cells.contours = false;
  EXPECT_NE(drawn(cells), picture);
}

TEST_F(PanelTest, AwkwardContoursCanBeDrawn) {
  DensityMap map = hill();
  map.density.setZero();
  EXPECT_NO_THROW(drawn(map));
  map.density.setConstant(kNan);
  EXPECT_NO_THROW(drawn(map));
  map.density.resize(0, 0);
  EXPECT_NO_THROW(drawn(map));
  map.density = Matrix<double>::Constant(1, 1, 1e-30);
  EXPECT_NO_THROW(drawn(map));
  map.density = Matrix<double>::Random(600, 2).cwiseAbs();
  EXPECT_NO_THROW(drawn(map));
}

}  // namespace
}  // namespace jeffreys::report
