// What the paper's experiments cost at full length: processor time per iteration as it was
// measured, times the iterations and runs that are asked for; beside it the same with PyTorch +
// Zuko, where benchmarks/paper_cost has measured that.
#pragma once

#include "experiment/results.h"
#include "jeffreys/report/page.h"

namespace jeffreys::experiment {

struct CostRow {
  std::string experiment = {};
  std::string method = {};
  std::size_t runs = 0;      // at full length, all seeds
  std::size_t measured = 0;  // of them with a time of their own; the others take the mean of these
  double hours = 0;          // NaN: nothing was measured
  double peer_hours = 0;     // NaN: not measured
};

// peer: milliseconds per iteration by "EXPERIMENT/DATA/METHOD" or "EXPERIMENT/METHOD".
[[nodiscard]] std::vector<CostRow> cost_of(const Plan& plan, const Results& results,
                                           const std::map<std::string, double>& peer);

// From a file of benchmarks/paper_cost; empty if there is none.
[[nodiscard]] std::map<std::string, double> read_peer_times(const std::filesystem::path& file);

void cost_table(report::Page& page, const std::vector<CostRow>& rows);

}  // namespace jeffreys::experiment
