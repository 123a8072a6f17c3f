// One panel of a figure: how much room it asks for, and its commands.
#pragma once

#include <vector>

#include "jeffreys/report/figure.h"
#include "report/axes.h"
#include "report/gnuplot.h"
#include "report/range.h"

namespace jeffreys::report {

struct Size {
  double width = 0;  // of the axes
  double height = 0;
  double legend = 0;           // between title and axes
  double right = kRightRoom;   // beside the axes
  double below = kBottomRoom;  // under the axes
};

// Throws std::invalid_argument when the panel's parts do not fit together.
void check_panel(const Panel& panel);
Size size_of(const Panel& panel);
// The x axis of a histogram of these numbers.
Interval histogram_range(const std::vector<double>& samples, const std::vector<double>& second);
// The density that gets the last colour; 0 for what is not a map.
double color_max_of(const Panel& panel);

// Draws the panel with its axes in the box.
void draw_panel(Script& script, const Panel& panel, const Box& box, const PanelStyle& style);

// The same for each kind.
void check_kind(const DensityMap& map);
void check_kind(const Scatter& scatter);
void check_kind(const Curves& curves);
void check_kind(const Histogram& histogram);
void check_kind(const Bars& bars);
Size size_of_kind(const DensityMap& map);
Size size_of_kind(const Scatter& scatter);
Size size_of_kind(const Curves& curves);
Size size_of_kind(const Histogram& histogram);
Size size_of_kind(const Bars& bars);
void draw_kind(Script& script, const DensityMap& map, const Box& box, const PanelStyle& style);
void draw_kind(Script& script, const Scatter& scatter, const Box& box, const PanelStyle& style);
void draw_kind(Script& script, const Curves& curves, const Box& box, const PanelStyle& style);
void draw_kind(Script& script, const Histogram& histogram, const Box& box, const PanelStyle& style);
void draw_kind(Script& script, const Bars& bars, const Box& box, const PanelStyle& style);

}  // namespace jeffreys::report
