// What panels have in common: where their axes lie, what is written around them, colours.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "report/gnuplot.h"
#include "report/range.h"

namespace jeffreys::report {

// Room around axes, in pixels.
inline constexpr double kLeftRoom = 62;
inline constexpr double kRightRoom = 20;
inline constexpr double kBottomRoom = 44;
inline constexpr double kTitleRoom = 24;
inline constexpr double kLegendRow = 15;
inline constexpr double kColorBarRoom = 60;

// Slanted names are cut to so many letters: longer ones would leave the picture.
inline constexpr std::size_t kSlantedLetters = 18;

inline constexpr const char* kDataColor = "#c8500a";
inline constexpr const char* kModelColor = "#2b6ca3";

// A colour for each number from 0 on; they repeat.
const char* line_color(int color);

// The area between axes, in pixels from the upper left corner of the picture.
struct Box {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
};

// Beside an axis, longer texts of marks are cut.
inline constexpr std::size_t kMostMarkLetters = 12;

// A mark on an axis, with its text.
struct Mark {
  double at = 0;
  std::string text = {};
};

struct PanelStyle {
  double color_max = 1;      // the density that has the last colour
  bool color_bar = false;    // beside a map
  bool x_tics = true;        // numbers along the axis
  bool y_tics = true;        // numbers along the axis; histograms lose their marks too
  bool legend = true;        // names, where there are several
  double font = 8;           // of the numbers
  double point_size = 0.28;  // of scatters
  Eigen::Index most_points = 4000;
  const char* color = kDataColor;  // of scatters
  std::vector<Mark> x_marks = {};  // instead of numbers
  std::vector<Mark> y_marks = {};
  double slant = 0;   // room that the texts of x_marks need; 0: they lie flat
  double y_room = 0;  // that the texts of y_marks need beyond that of numbers
};

struct Axes {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  Interval x = {};
  Interval y = {};
  bool log_x = false;
  bool log_y = false;
  bool y_tics = true;
  bool boxed = false;                     // a frame on all sides
  double legend = 0;                      // room between title and axes
  std::vector<std::string> x_names = {};  // at 0, 1, ... in place of numbers
  double slanted = 0;                     // room that slanted names need; 0: they lie flat
  double y_room = 0;                      // between axis and label, beyond that of numbers
};

void set_axes(Script& script, const Axes& axes, const Box& box, const PanelStyle& style);

// A legend above the axes: names in columns, as many as fit by the usual width of letters.
struct Legend {
  int columns = 1;
  double height = 0;
};
Legend legend_of(const std::vector<std::string>& names, double width);
void set_legend(Script& script, const Box& box, const Legend& legend);

// Comes first: a title above all panels, if not empty.
void begin_picture(Script& script, const std::string& title);

// The colours of maps, from 0 to `max`; with bands, that many plain ones.
void set_map_colors(Script& script, double max, int bands = 0);
// The colours of lines by their values: far from white and black.
void set_value_colors(Script& script, const Interval& range, bool logarithmic);
// Explains the colours of the next plot.
void set_color_bar(Script& script, const Box& panel, const std::string& label = "");

// A round distance of tic marks, so that there are about `count`.
double tic_step(const Interval& range, double count);

// A label of the next plot, centred at a place of the picture.
struct Text {
  std::string text;
  double x = 0;
  double y = 0;
  double font = 9;
  double room = 0;  // in pixels; what is longer is cut
  bool upward = false;
};
void set_text(Script& script, const Text& text);

// What was set before, and these parts of a plot command.
void plot(Script& script, const std::vector<std::string>& parts);

}  // namespace jeffreys::report
