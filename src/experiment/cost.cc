#include "experiment/cost.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "jeffreys/base/input_error.h"

namespace jeffreys::experiment {
namespace {

constexpr double kSecondsInHour = 3600;

// Processor seconds per iteration, the mean over seeds; NaN if no run has times.
double seconds_per_iteration(const Results& results, const std::string& data,
                             const std::string& method) {
  double sum = 0;
  int count = 0;
  for (const RunResult* run : results.runs(data, method)) {
    if (run->seconds.empty() || run->curve.iteration.back() <= 0) continue;
    sum += run->seconds.back() / static_cast<double>(run->curve.iteration.back());
    ++count;
  }
  return count > 0 ? sum / count : kNotMeasured;
}

// NaN if there is none.
double milliseconds(const std::map<std::string, double>& times, const Job& job,
                    const std::string& method) {
  for (const std::string& key :
       {job.experiment + "/" + job.data + "/" + method,
        job.experiment + "/" + job.source + "/" + method, job.experiment + "/" + method}) {
    const auto found = times.find(key);
    if (found != times.end()) return found->second;
  }
  return kNotMeasured;
}

std::string hours(double value) {
  if (!std::isfinite(value)) return "–";
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : 0);
}

}  // namespace

std::vector<CostRow> cost_of(const Plan& plan, const Results& results,
                             const IterationTimes& times) {
  std::vector<CostRow> rows;
  for (const MethodSpec& method : plan.methods) {
    if (!method.baseline.empty()) continue;
    CostRow row{plan.name, method.label};
    double measured_hours = 0;
    double peer_hours = 0;
    for (const Job& job : make_jobs(plan, 1, std::nullopt)) {
      if (job.method != method.name && !job.method.starts_with(method.name + "-")) continue;
      if (method.grid.empty() && job.method != method.name) continue;
      ++row.runs;
      const auto iterations = static_cast<double>(job.options.train.iterations);
      double own = seconds_per_iteration(results, job.data, job.method);
      if (!std::isfinite(own)) own = 1e-3 * milliseconds(times.ours, job, job.method);
      if (std::isfinite(own)) {
        ++row.measured;
        measured_hours += own * iterations / kSecondsInHour;
      }
      peer_hours += 1e-3 * milliseconds(times.peer, job, method.name) * iterations / kSecondsInHour;
    }
    row.hours = row.measured == 0 ? kNotMeasured
                                  : measured_hours * static_cast<double>(row.runs) /
                                        static_cast<double>(row.measured);
    row.peer_hours = peer_hours;
    rows.push_back(std::move(row));
  }
  return rows;
}

IterationTimes read_iteration_times(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) return {};
  try {
    const auto json = nlohmann::json::parse(stream);
    return {json.at("ours").get<std::map<std::string, double>>(),
            json.at("peer").get<std::map<std::string, double>>()};
  } catch (const nlohmann::json::exception& error) {
    throw InputError(file.string(),
                     fmt::format("is not a file of benchmarks/paper_cost: {}", error.what()));
  }
}

void cost_table(report::Page& page, const std::vector<CostRow>& rows) {
  page.heading("Cost of the whole paper", 2, "cost");
  page.paragraph(
      "Core-hours at full length on one thread: processor time per iteration, as measured in the "
      "runs above or in short runs, times iterations, grid and seeds. Runs without a time of their "
      "own are taken to cost the mean of the measured ones. PyTorch + Zuko: the time of one "
      "iteration of the same size in the fair baseline (docs/benchmarks.md), without evaluations.");
  std::vector<std::vector<report::Cell>> cells;
  double all = 0;
  double all_compared = 0;
  double peer = 0;
  for (const CostRow& row : rows) {
    const bool compared = std::isfinite(row.hours) && std::isfinite(row.peer_hours);
    if (std::isfinite(row.hours)) all += row.hours;
    if (compared) {
      all_compared += row.hours;
      peer += row.peer_hours;
    }
    cells.push_back({row.experiment, row.method, fmt::format("{}", row.runs),
                     fmt::format("{}", row.measured), hours(row.hours), hours(row.peer_hours),
                     compared ? fmt::format("{:.1f}", row.peer_hours / row.hours) : "–"});
  }
  cells.push_back({"all", "", "", "", hours(all), peer > 0 ? hours(peer) : "–",
                   peer > 0 ? fmt::format("{:.1f}", peer / all_compared) : "–"});
  page.table({"experiment", "method", "runs", "measured", "core-hours", "PyTorch + Zuko", "ratio"},
             cells);
}

}  // namespace jeffreys::experiment
