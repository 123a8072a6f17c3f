// What a check of a posterior found: lines to read, JSON, and a verdict.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "jeffreys/base/matrix.h"
#include "jeffreys/evaluate/posterior_ranks.h"
#include "jeffreys/evaluate/predictive_check.h"

namespace jeffreys::cli {

struct Findings {
  std::vector<std::string> lines;
  Json json = Json::object();
  std::vector<std::string> verdicts;  // one for each kind of check
};

// Simulation-based calibration, expected coverage and TARP; a figure unless its path is empty.
void add_calibration(const PosteriorRanks& ranks, const std::vector<std::string>& parameters,
                     const std::string& figure, Findings& found);

// missing: draws of the posterior that the simulator gave no outcome for.
void add_prediction(const PredictiveCheck& check, std::int64_t missing, Findings& found);

// C2ST between as many exact and model samples [rows, parameters], by the paper's definition and
// by sbibm's.
void add_two_sample_tests(const Matrix<double>& exact, const Matrix<double>& model,
                          std::uint64_t seed, Findings& found);

}  // namespace jeffreys::cli
