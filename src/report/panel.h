// One panel of a figure: how much room it asks for, and its commands.
#pragma once

#include "jeffreys/report/figure.h"
#include "report/axes.h"
#include "report/gnuplot.h"
#include "report/range.h"

namespace jeffreys::report {

struct Size {
  double width = 0;
  double height = 0;
  double legend = 0;  // between title and axes
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

}  // namespace jeffreys::report
