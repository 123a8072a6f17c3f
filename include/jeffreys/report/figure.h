// Figures, drawn by gnuplot (Debian package gnuplot-nox).
#pragma once

#include <Eigen/Core>
#include <filesystem>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys::report {

// Where a range asks to be fitted to what is drawn.
inline constexpr double kFit = std::numeric_limits<double>::quiet_NaN();

// A density as colours. Maps in one row of a figure share their colours, from 0 to the largest
// value that is not among the top 0.1 % of its map, so that a spike does not hide the rest.
struct DensityMap {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  double x_min = 0;
  double x_max = 1;
  double y_min = 0;
  double y_max = 1;
  Matrix<double> density = {};   // [ny, nx], values at cell_centers(): row 0 lies at y_min
  Matrix<double> points = {};    // [n, 2], may be empty: drawn over the map
  bool contours = false;         // filled contours at round densities in place of cells
  std::string value_label = {};  // beside the bar of colours
};

// Points in the plane, alone.
struct Scatter {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  double x_min = kFit;
  double x_max = kFit;
  double y_min = kFit;
  double y_max = kFit;
  Matrix<double> points = {};  // [n, 2]
};

// Lines over a common x axis. On a logarithmic axis values that are not above 0 are left out.
// Nothing without a name is in the legend.
struct Curves {
  struct Line {
    std::string name = {};
    std::vector<double> x = {};
    std::vector<double> y = {};  // as long as x
    bool dashed = false;
    int color = -1;  // lines with the same number look alike; -1: their position in `lines`
    // A translucent band behind the lines, such as mean -+ deviation; empty, or as long as x.
    std::vector<double> lower = {};
    std::vector<double> upper = {};
    bool emphasis = false;  // thick and solid, over all others; black where color is -1
    bool filled = false;    // the area down to 0, behind all others; light grey where color is -1
    double value = kFit;    // a number that gives the line its colour, explained by a bar
  };
  struct Mark {
    std::string name = {};
    double x = 0;
    double y = 0;
    int color = 0;  // that of a line
  };
  // A horizontal line, such as the entropy of the data. A fitted axis includes it.
  struct Reference {
    std::string name = {};
    double y = 0;
  };
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  bool log_x = false;
  bool log_y = false;
  double y_min = kFit;
  double y_max = kFit;
  std::vector<Line> lines = {};
  std::vector<Mark> marks = {};  // small circles, named in the legend
  std::vector<Reference> references = {};
  std::string value_label = {};  // of the bar that explains the lines' values
  bool log_values = false;
};

// Numbers in groups, with their deviations as whiskers: bars from 0, or dots where 0 means nothing
// (a negative log likelihood) and the length of a bar would mean nothing either.
struct Bars {
  struct Series {
    std::string name = {};
    std::vector<double> values = {};     // one for each group; NaN: missing
    std::vector<double> deviation = {};  // empty, or one for each group
    int color = -1;                      // as in Curves; -1: its position in `series`
  };
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  bool from_zero = true;      // false: dots, and an axis that is fitted to them
  bool value_labels = false;  // the numbers themselves, with three digits
  double y_min = kFit;
  double y_max = kFit;
  std::vector<std::string> groups = {};
  std::vector<Series> series = {};
  std::vector<Curves::Reference> references = {};
};

// Densities of one set of numbers, or of two, one over the other. An outlier does not stretch the
// axis: a fitted axis covers all of the first set, but only the middle 99 % of the second.
struct Histogram {
  std::string title = {};
  std::string x_label = {};
  std::string name = "data";
  std::string second_name = "model";
  double x_min = kFit;
  double x_max = kFit;
  int bins = 0;  // 0: by the number of samples
  std::vector<double> samples = {};
  std::vector<double> second = {};  // may be empty
};

using Panel = std::variant<DensityMap, Scatter, Curves, Histogram, Bars>;

// The centres of nx times ny equal cells: [ny * nx, 2], x fastest, from (x_min, y_min) on. A
// density at these points, reshaped to [ny, nx], is a DensityMap's.
Matrix<double> cell_centers(double x_min, double x_max, double y_min, double y_max, Eigen::Index nx,
                            Eigen::Index ny);

// Draws rows of panels (they may differ in length) to a .svg or .png file, which appears at once
// and whole or not at all. Texts are taken literally, whatever they contain, and cut when long.
// Numbers that are not finite are left out; of more than 4000 points every k-th is drawn. Throws
// InputError for another extension, when gnuplot is missing or fails, or when the file cannot be
// written, and std::invalid_argument for a panel whose parts do not fit together.
void draw(const std::filesystem::path& path, const std::vector<std::vector<Panel>>& grid,
          const std::string& title = "");

}  // namespace jeffreys::report
