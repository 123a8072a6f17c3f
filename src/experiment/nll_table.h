// How runs are shown: colours of models, tables by data set, axes that the first iterations do not
// ruin.
#pragma once

#include <limits>

#include "experiment/section.h"

namespace jeffreys::experiment {

// Colours of lines and dots, the same in every figure.
enum Color {
  ours_color = 0,
  likelihood_color = 1,
  proxy_color = 2,
  third_color = 3,
  wgan_color = third_color,  // they never meet in one figure
  fourth_color = 4,
  fifth_color = 5,
  reference_color = 6,
  sixth_color = 7
};

struct TableRow {
  std::string model;
  std::string taken;                               // when in the run
  std::vector<std::optional<SeedSummary>> values;  // one for each data set
  bool reference = false;                          // is not compared with the others
};

// Rows by data sets; of a column the mean nearest to `ideal` is marked among rows with the same
// `taken`. Rows and columns without any value are left out. Nothing is written if none is left.
void value_table(report::Page& page, const std::vector<std::string>& data,
                 const std::vector<TableRow>& rows, const std::string& caption,
                 double ideal = -std::numeric_limits<double>::infinity());

// Which model validation chooses in runs of these methods, and when.
void chosen_table(const Results& results, const std::vector<std::string>& methods,
                  report::Page& page);

// Of a panel of values over iterations: the y axis covers what happens after this share of them,
// and the lowest values of all; spikes, and lines far above most others, leave the picture.
void hide_start(report::Curves& curves, double start = 0.05);

// Of a panel of dots: the axis covers the first series, so many of them, with as much room again
// above. Dots that are higher leave the picture, and the legend says so.
void hide_high(report::Bars& bars, std::size_t kept);

// Leaves out the first points of a line that a logarithmic axis would give most of its room.
void shorten_start(report::Curves::Line& line);

// Which runs diverged: they have no last value, and claims about the end count them.
void note_diverged(const Results& results, report::Page& page);

}  // namespace jeffreys::experiment
