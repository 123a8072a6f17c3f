#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace jeffreys::report {

// Diagnostics of a posterior over many simulations, as they come from the evaluation.
struct CalibrationPlot {
  // A histogram of the ranks of one parameter's true values among posterior samples, in units of
  // what uniform ranks would have, with their band.
  struct Ranks {
    std::string name = {};
    std::vector<double> count = {};  // in bins of equal width
    std::vector<double> expected = {};
    std::vector<double> lower = {};  // of the counts of uniform ranks
    std::vector<double> upper = {};
  };
  // Coverage against credibility, with the band of a calibrated posterior.
  struct Coverage {
    std::string title = {};
    std::vector<double> credibility = {};  // increasing, 0 to 1
    std::vector<double> coverage = {};
    double band = 0;  // above and below the diagonal
    // What the curve means where it leaves the band, written in the corners: "under-confident"
    // above the diagonal, say, and "over-confident" below.
    std::string above = {};
    std::string below = {};
  };
  std::string title = {};
  std::vector<Ranks> ranks = {};
  std::vector<Coverage> coverage = {};
};

// Coverage curves first, then the histograms, four in a row. Throws as draw() does, and
// std::invalid_argument when there is nothing to draw or parts differ in length.
void draw_calibration(const std::filesystem::path& path, const CalibrationPlot& plot);

}  // namespace jeffreys::report
