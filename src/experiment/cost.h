// What the paper's experiments cost at full length: processor time per iteration, as measured in
// the runs or by benchmarks/paper_cost, times the iterations and runs that are asked for; beside it
// the same with PyTorch + Zuko.
#pragma once

#include "experiment/results.h"
#include "jeffreys/report/page.h"

namespace jeffreys::experiment {

struct CostRow {
  std::string experiment = {};
  std::string method = {};
  std::size_t runs = 0;      // at full length, all seeds
  std::size_t measured = 0;  // of them whose data and method have a time; the others take the mean
  double hours = 0;          // NaN: nothing was measured
  double peer_hours = 0;     // NaN: not measured
};

// Milliseconds per iteration by "EXPERIMENT/DATA/METHOD" or "EXPERIMENT/METHOD".
struct IterationTimes {
  std::map<std::string, double> ours = {};
  std::map<std::string, double> peer = {};
};
// From a file of benchmarks/paper_cost; empty if there is none.
[[nodiscard]] IterationTimes read_iteration_times(const std::filesystem::path& file);

// Times of the file are for runs that the results lack.
[[nodiscard]] std::vector<CostRow> cost_of(const Plan& plan, const Results& results,
                                           const IterationTimes& times);

void cost_table(report::Page& page, const std::vector<CostRow>& rows);

}  // namespace jeffreys::experiment
