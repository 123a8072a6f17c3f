#include "experiment/cost.h"

#include <fmt/format.h>

#include <algorithm>
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

// Jobs of a method: its own, or one for each combination of its grid.
bool belongs(const Job& job, const MethodSpec& method) {
  return job.method == method.name ||
         (!method.grid.empty() && job.method.starts_with(method.name + "-"));
}

// Core-hours of a whole run, by its data and method; NaN if these have no time.
double measured_hours(const Job& job, const Results& results, const IterationTimes& times) {
  if (!job.baseline.empty()) return 0;
  double seconds = seconds_per_iteration(results, job.data, job.method);
  if (!std::isfinite(seconds)) seconds = 1e-3 * milliseconds(times.ours, job, job.method);
  return seconds * static_cast<double>(job.options.train.iterations) / kSecondsInHour;
}

// The mean over those of the jobs that have a time, of those that fit; NaN if there are none.
template <typename Fits, typename Hours>
double mean_of(const std::vector<Job>& jobs, const Fits& fits, const Hours& hours_of) {
  double sum = 0;
  int count = 0;
  for (const Job& job : jobs) {
    const double hours = fits(job) ? hours_of(job) : kNotMeasured;
    if (!std::isfinite(hours)) continue;
    sum += hours;
    ++count;
  }
  return count > 0 ? sum / count : kNotMeasured;
}

template <typename Fits>
double mean_hours(const std::vector<Job>& jobs, const Results& results, const IterationTimes& times,
                  const Fits& fits) {
  return mean_of(jobs, fits, [&](const Job& job) { return measured_hours(job, results, times); });
}

// Of a whole run, from milliseconds per iteration.
double whole_hours(double milliseconds, const Job& job) {
  return 1e-3 * milliseconds * static_cast<double>(job.options.train.iterations) / kSecondsInHour;
}

}  // namespace

std::string hours_text(double hours) {
  if (!std::isfinite(hours)) return "–";
  return fmt::format("{:.{}f}", hours, hours < 1 ? 2 : hours < 10 ? 1 : 0);
}

std::vector<CostRow> cost_of(const Plan& plan, const Results& results,
                             const IterationTimes& times) {
  std::vector<CostRow> rows;
  const std::vector<Job> jobs = make_jobs(plan, 1, std::nullopt);
  for (const MethodSpec& method : plan.methods) {
    if (!method.baseline.empty()) continue;
    CostRow row{plan.name, method.label};
    double peer_hours = 0;
    for (const Job& job : jobs) {
      if (!belongs(job, method)) continue;
      ++row.runs;
      if (std::isfinite(measured_hours(job, results, times))) ++row.measured;
      peer_hours += whole_hours(milliseconds(times.peer, job, method.name), job);
    }
    const auto fits = [&](const Job& job) { return belongs(job, method); };
    const auto runs = static_cast<double>(row.runs);
    row.hours = runs * mean_hours(jobs, results, times, fits);
    row.beside_hours = runs * mean_of(jobs, fits, [&](const Job& job) {
                         return whole_hours(milliseconds(times.ours, job, job.method), job);
                       });
    row.peer_hours = peer_hours;
    rows.push_back(std::move(row));
  }
  return rows;
}

NeededRuns needed_runs(const Plan& plan, const Results& results, const IterationTimes& times,
                       const std::vector<std::string>& methods,
                       const std::vector<std::string>& data) {
  NeededRuns needed;
  const std::vector<Job> jobs = make_jobs(plan, 1, std::nullopt);
  const auto listed = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const MethodSpec& method : plan.methods) {
    if (!listed(methods, method.name)) continue;
    // Data and methods that never ran cost what others of the method do, or what others that are
    // trained in the same way do.
    double usual =
        mean_hours(jobs, results, times, [&](const Job& job) { return belongs(job, method); });
    for (const Job& job : jobs) {
      if (!belongs(job, method) || (!data.empty() && !listed(data, job.data))) continue;
      ++needed.all;
      const auto runs = results.runs(job.data, job.method);
      const auto same = [&](const RunResult* run) { return run->seed == job.seed; };
      if (std::any_of(runs.begin(), runs.end(), same)) continue;
      ++needed.lacking;
      if (!std::isfinite(usual)) {
        usual = mean_hours(jobs, results, times, [&](const Job& other) {
          return other.baseline.empty() && other.wgan.has_value() == job.wgan.has_value() &&
                 other.options.train.method == job.options.train.method;
        });
      }
      const double hours = measured_hours(job, results, times);
      needed.hours += std::isfinite(hours) ? hours : usual;
    }
  }
  return needed;
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
  std::vector<std::vector<report::Cell>> cells;
  double all = 0;
  double beside = 0;
  double peer = 0;
  for (const CostRow& row : rows) {
    const bool compared = std::isfinite(row.beside_hours) && std::isfinite(row.peer_hours);
    if (std::isfinite(row.hours)) all += row.hours;
    if (compared) {
      beside += row.beside_hours;
      peer += row.peer_hours;
    }
    cells.push_back({row.experiment, row.method, fmt::format("{}", row.runs),
                     fmt::format("{}", row.measured), hours_text(row.hours),
                     compared ? hours_text(row.beside_hours) : "–", hours_text(row.peer_hours),
                     compared ? fmt::format("{:.1f}", row.peer_hours / row.beside_hours) : "–"});
  }
  cells.push_back({"all", "", "", "", hours_text(all), peer > 0 ? hours_text(beside) : "–",
                   peer > 0 ? hours_text(peer) : "–",
                   peer > 0 ? fmt::format("{:.1f}", peer / beside) : "–"});
  std::string sum =
      fmt::format("All runs at full length cost about {} core-hours", hours_text(all));
  if (peer > 0) {
    sum += fmt::format(
        ". What PyTorch + Zuko can do as well costs it {:.1f} times as many, both measured on one "
        "machine: {} core-hours against {}",
        peer / beside, hours_text(peer), hours_text(beside));
  }
  page.paragraph(sum + ".");
  page.fold("By experiment and method");
  page.paragraph(
      "Core-hours at full length on one thread: processor time per iteration, as measured in the "
      "runs above or in short runs, times iterations, grid and seeds. Runs without a time of their "
      "own are taken to cost the mean of the measured ones. The machines of these runs differ by "
      "a factor of three, so the ratio is one of short runs beside PyTorch + Zuko on one machine: "
      "the time of one iteration of the same size in the fair baseline (docs/benchmarks.md), "
      "without evaluations.");
  page.table({"experiment", "method", "runs", "measured", "core-hours", "short runs, ours",
              "short runs, PyTorch + Zuko", "ratio"},
             cells);
  page.unfold();
}

}  // namespace jeffreys::experiment
