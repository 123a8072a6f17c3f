// What a check of a posterior found: lines to read, JSON, and a verdict.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "jeffreys/sbi/posterior_check.h"

namespace jeffreys::cli {

struct Findings {
  std::vector<std::string> lines;
  Json json = Json::object();
  std::vector<std::string> verdicts;  // one for each kind of check
};

// A figure unless its path is empty.
void add_calibration(const PosteriorCheck& check, const std::string& figure, Findings& found);
void add_prediction(const PosteriorPrediction& prediction, Findings& found);
void add_reference(const ReferenceCheck& check, Findings& found);

}  // namespace jeffreys::cli
