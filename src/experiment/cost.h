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
  // By benchmarks/paper_cost, on one machine, which may not be that of the runs: ours and
  // PyTorch + Zuko. NaN: not measured.
  double beside_hours = 0;
  double peer_hours = 0;
};

// Milliseconds per iteration by "EXPERIMENT/DATA/METHOD" or "EXPERIMENT/METHOD".
struct IterationTimes {
  std::map<std::string, double> ours = {};
  std::map<std::string, double> peer = {};
};
// From a file of benchmarks/paper_cost; empty if there is none.
[[nodiscard]] IterationTimes read_iteration_times(const std::filesystem::path& file);

// Times of the file are for data and methods that the results lack.
[[nodiscard]] std::vector<CostRow> cost_of(const Plan& plan, const Results& results,
                                           const IterationTimes& times);

// Runs that decide a claim, at full length and with every seed of the plan.
struct NeededRuns {
  std::size_t all = 0;
  std::size_t lacking = 0;  // of them
  double hours = 0;         // that those cost; NaN: nothing like them was measured
};
// methods: of the plan, with all that their grids stand for. No data: on all data sets.
[[nodiscard]] NeededRuns needed_runs(const Plan& plan, const Results& results,
                                     const IterationTimes& times,
                                     const std::vector<std::string>& methods,
                                     const std::vector<std::string>& data);

// "0.34", "3.4", "120"
[[nodiscard]] std::string hours_text(double hours);

void cost_table(report::Page& page, const std::vector<CostRow>& rows);

}  // namespace jeffreys::experiment
