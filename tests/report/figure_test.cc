#include "jeffreys/report/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "jeffreys/report/pair_plot.h"
#include "jeffreys/report/training_plot.h"
#include "support/not_finite.h"
#include "support/scratch_folder.h"

namespace jeffreys::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

bool has_gnuplot() { return std::system("command -v gnuplot > /dev/null") == 0; }

// Another PATH while it lives.
class OtherPath {
 public:
  explicit OtherPath(const std::string& path) : old_(std::getenv("PATH")) {
    ::setenv("PATH", path.c_str(), 1);
  }
  ~OtherPath() { ::setenv("PATH", old_.c_str(), 1); }

 private:
  std::string old_;
};

Curves line(const std::string& name) { return {.lines = {{name, {1, 2, 3}, {1, 4, 9}}}}; }

class FigureTest : public testing::ScratchTest {
 protected:
  void SetUp() override {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  }

  // A program named gnuplot in a folder of its own; gives the folder.
  std::string fake_gnuplot(const std::string& commands) const {
    std::filesystem::create_directory(path("bin"));
    const auto program = file("bin/gnuplot", "#!/bin/sh\n" + commands + "\n");
    ::chmod(program.c_str(), 0755);
    return path("bin").string();
  }
};

std::vector<std::vector<Panel>> every_kind() {
  Matrix<double> density = Matrix<double>::Random(20, 30).cwiseAbs();
  Matrix<double> points = Matrix<double>::Random(50, 2);
  return {{DensityMap{.title = "map", .density = density, .points = points},
           Scatter{.title = "points", .points = points}},
          {line("line"), Histogram{.samples = {1, 2, 2, 3}, .second = {2, 2, 4}}},
          {DensityMap{.density = density, .contours = true},
           Bars{.groups = {"a", "b"}, .series = {{"bars", {1, -2}, {0.5, 1}}}}},
          {Curves{.log_x = true, .log_y = true, .lines = {{"wide", {1, 1e4}, {0, 1e-6}}}}}};
}

TEST_F(FigureTest, DrawsEveryKindAsSvgAndPng) {
  draw(path("all.svg"), every_kind(), "title");
  draw(path("all.png"), every_kind());
  EXPECT_THAT(testing::bytes_of(path("all.svg")), HasSubstr("</svg>"));
  EXPECT_EQ(testing::bytes_of(path("all.png")).substr(0, 4), "\x89PNG");
  EXPECT_EQ(files_in_folder(), 2U);
}

TEST_F(FigureTest, SamePanelsSameBytes) {
  const auto panels = every_kind();
  for (const std::string kind : {".svg", ".png"}) {
    draw(path("a" + kind), panels);
    draw(path("b" + kind), panels);
    EXPECT_EQ(testing::bytes_of(path("a" + kind)), testing::bytes_of(path("b" + kind))) << kind;
  }
}

TEST_F(FigureTest, NamesAreTakenLiterally) {
  const std::string mark = path("mark").string();
  const std::vector<std::string> names = {"it's",
                                          "a'.system('touch " + mark + "').'",
                                          "`touch " + mark + "`",
                                          "$(touch " + mark + ")",
                                          "\"; system \"touch " + mark + "\"",
                                          "x' ; !touch " + mark,
                                          "a\n!touch " + mark + "\n",
                                          std::string("back\\"),
                                          std::string("back\\'"),
                                          std::string("{/Bold x}_1^2 @{ & ~"),
                                          std::string("\xff\xfe\xc3"),
                                          std::string("nul\0x", 5),
                                          std::string("\xef\xbf\xbf"),
                                          std::string("<b>&amp;</text>"),
                                          std::string("%s %d %g"),
                                          std::string("{"),
                                          std::string("}}"),
                                          std::string("# no comment"),
                                          std::string(""),
                                          std::string(5000, 'x'),
                                          std::string("end_of_block"),
                                          std::string("\xf0\x9f\x98\x80 ü")};
  for (const std::string& name : names) {
    const Curves curves{.title = name,
                        .x_label = name,
                        .y_label = name,
                        .lines = {{name, {1, 2}, {1, 2}}, {name, {1, 2}, {2, 1}}},
                        .marks = {{name, 1, 1, 0}}};
    const Histogram histogram{
        .x_label = name, .name = name, .second_name = name, .samples = {1, 2}, .second = {1, 3}};
    ASSERT_NO_THROW(draw(path("names.svg"), {{curves, histogram}}, name)) << name;
    ASSERT_FALSE(std::filesystem::exists(mark)) << name;
  }
}

TEST_F(FigureTest, NamesReachThePicture) {
  draw(path("name.svg"), {{line("x")}}, "a_b {c} it's `d` 1 < 2 & \xc3\xbc");
  EXPECT_THAT(testing::bytes_of(path("name.svg")),
              HasSubstr("a_b {c} it's `d` 1 &lt; 2 &amp; \xc3\xbc"));
}

TEST_F(FigureTest, AwkwardNumbersAreLeftOut) {
  const std::vector<double> awkward = {kNan, kInfinity, -kInfinity, 1e300, -1e300, 0, 1e-320};
  Matrix<double> points(7, 2);
  for (int i = 0; i < 7; ++i) points.row(i) << awkward[static_cast<std::size_t>(i)], i;
  Matrix<double> nothing = Matrix<double>::Constant(3, 3, kNan);
  const Curves curves{.log_y = true, .lines = {{"a", awkward, awkward}, {"none", {}, {}}}};
  const Curves constant{.lines = {{"b", {5, 5}, {1e9, 1e9}}}};
  const Curves tiny{.lines = {{"c", {0, 1e-12}, {0, 1e-15}}}};
  EXPECT_NO_THROW(draw(path("awkward.png"),
                       {{Scatter{.points = points}, curves, constant},
                        {DensityMap{.density = nothing}, DensityMap{}, Scatter{}},
                        {Histogram{.samples = awkward}, Histogram{}, tiny, Curves{}},
                        {Histogram{.samples = {3, 3, 3}}, Curves{.lines = {{"one", {1}, {1}}}}}}));
}

TEST_F(FigureTest, CellsAreWhereTheirCentersAre) {
  const Matrix<double> centers = cell_centers(0, 4, -1, 1, 4, 2);
  ASSERT_EQ(centers.rows(), 8);
  EXPECT_EQ(centers(0, 0), 0.5);
  EXPECT_EQ(centers(0, 1), -0.5);
  EXPECT_EQ(centers(1, 0), 1.5);
  EXPECT_EQ(centers(7, 0), 3.5);
  EXPECT_EQ(centers(7, 1), 0.5);
  EXPECT_THROW(cell_centers(0, 1, 0, 1, 0, 1), std::invalid_argument);
}

TEST_F(FigureTest, RefusesOtherExtensions) {
  for (const char* name : {"figure.pdf", "figure", ".png", "figure.PNG"}) {
    EXPECT_THAT(testing::problem_of(path(name), [](const auto& p) { draw(p, {{line("x")}}); }),
                HasSubstr(".svg or .png"));
  }
  EXPECT_EQ(files_in_folder(), 0U);
}

TEST_F(FigureTest, SaysWhatToInstall) {
  const OtherPath nowhere(path("").string());
  EXPECT_THAT(testing::problem_of(path("a.png"), [](const auto& p) { draw(p, {{line("x")}}); }),
              HasSubstr("apt install gnuplot-nox"));
  EXPECT_EQ(files_in_folder(), 0U);
}

TEST_F(FigureTest, AFailedPictureLeavesTheOldOne) {
  const auto figure = file("a.svg", "old");
  const auto attempt = [](const auto& p) { draw(p, {{line("x")}}); };
  {
    const OtherPath fake(fake_gnuplot("echo 'line 3: no such thing' >&2; exit 2"));
    EXPECT_THAT(testing::problem_of(figure, attempt), HasSubstr("line 3: no such thing"));
  }
  {
    const OtherPath fake(fake_gnuplot("echo '<svg>'"));
    EXPECT_THAT(testing::problem_of(figure, attempt), HasSubstr("no whole picture"));
  }
  {
    const OtherPath fake(fake_gnuplot("kill -9 $$"));
    EXPECT_THAT(testing::problem_of(figure, attempt), HasSubstr("signal 9"));
  }
  EXPECT_EQ(testing::bytes_of(figure), "old");
  EXPECT_EQ(files_in_folder(), 2U);
}

TEST_F(FigureTest, SaysThatTheFolderIsMissing) {
  EXPECT_THAT(
      testing::problem_of(path("none/a.png"), [](const auto& p) { draw(p, {{line("x")}}); }),
      HasSubstr("create the directory first"));
}

TEST_F(FigureTest, RefusesPanelsThatDoNotFitTogether) {
  const auto attempt = [&](const Panel& panel) { draw(path("a.svg"), {{panel}}); };
  EXPECT_THROW(attempt(Scatter{.points = Matrix<double>::Zero(3, 3)}), std::invalid_argument);
  EXPECT_THROW(attempt(Curves{.lines = {{"x", {1, 2}, {1}}}}), std::invalid_argument);
  EXPECT_THROW(attempt(Histogram{.bins = -1}), std::invalid_argument);
  EXPECT_THROW(draw(path("a.svg"), {}), std::invalid_argument);
  EXPECT_THROW(draw(path("a.svg"), {{}}), std::invalid_argument);
}

TEST_F(FigureTest, PairPlotsHaveOneToEightColumns) {
  const Matrix<double> table = Matrix<double>::Random(30, 8);
  const std::vector<PairColumn> names(8, {"name"});
  draw_pair_plot(path("eight.png"), names, table, table, "title");
  draw_pair_plot(path("no_data.svg"), {{"a"}, {"b"}}, Matrix<double>(), table.leftCols(2));
  draw_pair_plot(path("one.svg"), {{"a"}}, table.leftCols(1), table.leftCols(1));
  EXPECT_EQ(files_in_folder(), 3U);
  EXPECT_THROW(draw_pair_plot(path("a.svg"), std::vector<PairColumn>{}, table, table),
               std::invalid_argument);
  EXPECT_THROW(draw_pair_plot(path("a.svg"), {{"a"}}, table, table), std::invalid_argument);
  EXPECT_THROW(draw_pair_plot(path("a.svg"), std::vector<PairColumn>(9, {"x"}),
                              Matrix<double>::Zero(2, 9), Matrix<double>::Zero(2, 9)),
               std::invalid_argument);
}

TEST_F(FigureTest, PairPlotsHaveALegendAndTheNamesOfLabels) {
  Matrix<double> table = Matrix<double>::Random(30, 3);
  for (Eigen::Index r = 0; r < table.rows(); ++r) table(r, 1) = static_cast<double>(r % 2);
  const auto date = [](double value) { return value < 0 ? "1999-12-31" : "2001-01-01"; };
  draw_pair_plot(path("a.svg"), {{"x"}, {"city", {"Lima", "Ouagadougou"}}, {"day", {}, date}},
                 table, table);
  const std::string picture = testing::bytes_of(path("a.svg"));
  for (const char* text :
       {"data (below the diagonal)", "samples of the model", "Lima", "Ouagadougou", "1999-12-31"}) {
    EXPECT_THAT(picture, HasSubstr(text));
  }
}

// Text for which no font has letters would cover a picture with black.
TEST_F(FigureTest, LettersWithoutAFontBecomeBoxes) {
  const Matrix<double> table = Matrix<double>::Random(30, 2);
  draw_pair_plot(path("a.png"), {{"a"}, {"b"}}, table, table);
  // Of a private area, which no font may have.
  draw_pair_plot(path("b.png"), {{"\U000F1234\U000F1235"}, {"b"}}, table, table);
  EXPECT_LT(testing::bytes_of(path("b.png")).size(), 2 * testing::bytes_of(path("a.png")).size());
}

// One number on an axis does not tell its scale.
TEST_F(FigureTest, EveryAxisHasTwoNumbers) {
  Matrix<double> table(2, 2);
  table << 55, 175, 95, 195;
  draw_pair_plot(path("a.svg"), {{"a"}, {"b"}}, table, table);
  const std::string picture = testing::bytes_of(path("a.svg"));
  for (const char* number : {">60<", ">80<", ">180<", ">190<"}) {
    EXPECT_NE(picture.find(number), std::string::npos) << number;
  }
}

// Where two lines lie on each other both are seen.
TEST_F(FigureTest, LinesThatAreTheSameAreDashed) {
  TrainingCurves run;
  run.multipliers = {{"forward", {{0, 1, 2}, {1, 2, 3}}}, {"proxy", {{0, 1, 2}, {1, 2, 4}}}};
  draw_training(path("apart.svg"), run);
  run.multipliers[1].second.value = {1, 2, 3};
  draw_training(path("same.svg"), run);
  EXPECT_THAT(testing::bytes_of(path("apart.svg")), Not(HasSubstr("dasharray")));
  EXPECT_THAT(testing::bytes_of(path("same.svg")), HasSubstr("dasharray"));
}

TEST_F(FigureTest, TrainingPlotsShowWhatWasRecorded) {
  TrainingCurves run;
  EXPECT_THROW(draw_training(path("a.svg"), run), std::invalid_argument);
  run.main_validation = {{0, 10, 20}, {5, 3, 4}};
  run.best_main_step = 10;
  draw_training(path("a.svg"), run);
  const std::string picture = testing::bytes_of(path("a.svg"));
  EXPECT_THAT(picture, HasSubstr("best main (step 10)"));
  EXPECT_THAT(picture, Not(HasSubstr("multipliers")));
  run.balance = {{0}, {0.5}};
  run.log_zeta = {{0, 1}, {kNan, kNan}};
  draw_training(path("a.svg"), run);
  EXPECT_THAT(testing::bytes_of(path("a.svg")), HasSubstr("log zeta"));
  run.balance.value.clear();
  EXPECT_THROW(draw_training(path("a.svg"), run), std::invalid_argument);
}

}  // namespace
}  // namespace jeffreys::report
