// Whether log zeta of an energy proxy stays where its two constraints are to hold it, and whether
// runs end without diverging. Claims of ours: the paper shows zeta of one run.
#pragma once

#include "experiment/section.h"

namespace jeffreys::experiment {

// log zeta in the second half of a run, as estimated from fresh samples at its points.
struct ZetaCourse {
  double lowest = 0;
  double highest = 0;  // infinite if an estimate was not finite
  double change = 0;   // along the line of least squares through the points
  double error = 0;    // standard error of the change, by the points' distances from that line
  double slack = 0;    // of the constraints, 1 <= zeta <= 1 + slack

  // One nat beyond the constraints on either side.
  [[nodiscard]] double least_allowed() const;
  [[nodiscard]] double most_allowed() const;
  [[nodiscard]] bool within() const;
  // A change of more than two standard errors, unless it is small.
  [[nodiscard]] bool has_trend() const;
};
// Nothing for a run that did not measure zeta, or at too few points.
[[nodiscard]] std::optional<ZetaCourse> zeta_course(const RunResult& run);

// A row for each data set and method. samples: what the estimates are made of.
void zeta_table(const Results& results, const std::vector<std::string>& methods,
                const std::string& samples, report::Page& page);

// That every run of these methods stays within and has no trend, and that none diverges. The first
// method has to have enough seeds; of the others every run counts that is there.
void zeta_claims(const Results& results, const std::vector<std::string>& methods, Section& section);

}  // namespace jeffreys::experiment
