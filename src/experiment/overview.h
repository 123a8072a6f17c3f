// What a reader sees first: a line for each figure of the paper, and a verdict for each experiment.
#pragma once

#include "experiment/cost.h"
#include "experiment/section.h"

namespace jeffreys::experiment {

// A verdict on a claim. Where runs are lacking it says how many and what they cost.
struct Judgement {
  std::string words;
  std::string reasons;
  report::Verdict verdict = report::Verdict::none;
};

// What one experiment has and says.
struct Told {
  Plan plan;
  double scale = 1;
  Results results;
  std::vector<Claim> claims = {};

  // Too short to say anything about the paper.
  [[nodiscard]] bool is_short() const { return scale < 1; }
};

[[nodiscard]] Judgement judge(const Told& told, const Claim& claim, const IterationTimes& times);

// "5, 9": the numbers of the figures that a claim names, in the order of the paper's source.
[[nodiscard]] std::string figures_of(const std::string& labels);

// A line for each headline, with links to the experiments; short runs have none.
void overview(report::Page& page, const std::vector<Told>& all, const IterationTimes& times);

// Below the heading of an experiment: its first headline and the verdict on it, or that the run is
// too short for one.
void answer(report::Page& page, const Told& told, const IterationTimes& times);

// Every claim of an experiment with its verdict; the long numbers are folded.
void claims_table(report::Page& page, const Told& told, const IterationTimes& times);

}  // namespace jeffreys::experiment
