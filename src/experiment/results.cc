#include "experiment/results.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "jeffreys/base/input_error.h"

namespace jeffreys::experiment {
namespace {

// Where a column is lowest; nothing if no value is finite.
std::optional<std::size_t> lowest(const std::vector<double>& values) {
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && (!place || values[i] < values[*place])) place = i;
  }
  return place;
}

// The validation NLL of a model if it can be trusted. That of an energy proxy follows from zeta,
// whose estimate is far too low where the samples miss mass, and then the tail of the weights looks
// good in one point and bad in the next: a choice among points would find the good ones.
std::vector<double> trusted_validation(const RunResult& run, const std::string& model) {
  const std::vector<double> tails = run.curve.column(model + ".pareto_k");
  const auto middle = tails.begin() + static_cast<std::ptrdiff_t>(tails.size() / 2);
  if (std::any_of(middle, tails.end(), [](double tail) { return tail > kTrustedTail; })) return {};
  return run.curve.column(model + ".validation_nll");
}

std::string model_of(const std::string& column) { return column.substr(0, column.find('.')); }

}  // namespace

bool has_diverged(const RunResult& run) { return run.stop == "diverged" || run.stop == "lost"; }

RunResult run_until(const RunResult& run, std::int64_t iteration) {
  RunResult part = run;
  part.curve.cut(iteration);
  if (part.curve.iteration.size() == run.curve.iteration.size()) return part;
  part.seconds.resize(std::min(part.seconds.size(), part.curve.iteration.size()));
  part.last.clear();
  part.stop = "finished";  // what diverged later had not diverged by then
  return part;
}

double value_at(const RunResult& run, const std::string& column, Moment moment) {
  const std::vector<double> values = run.curve.column(column);
  if (values.empty()) {
    const auto found = run.last.find(column);
    return found == run.last.end() ? kNotMeasured : found->second;
  }
  if (moment == Moment::last) return has_diverged(run) ? kDiverged : values.back();
  const auto place =
      lowest(moment == Moment::best ? values : trusted_validation(run, model_of(column)));
  return place ? values[*place] : kNotMeasured;
}

std::optional<Chosen> chosen_by_validation(const RunResult& run) {
  std::optional<Chosen> chosen;
  double best = std::numeric_limits<double>::infinity();
  for (const char* model : {"main", "main_averaged", "proxy", "proxy_averaged"}) {
    const std::vector<double> validation = trusted_validation(run, model);
    const auto place = lowest(validation);
    if (!place || validation[*place] >= best) continue;
    best = validation[*place];
    chosen = Chosen{model, run.curve.iteration[*place],
                    run.curve.column(std::string(model) + ".test_nll")[*place],
                    *place < run.seconds.size() ? run.seconds[*place] : kNotMeasured};
  }
  return chosen;
}

Results::Results(const Plan& plan, double scale, const std::filesystem::path& folder) {
  for (const Job& job : make_jobs(plan, scale, 1)) {
    if (std::find(data_.begin(), data_.end(), job.data) == data_.end()) data_.push_back(job.data);
    if (std::find(methods_.begin(), methods_.end(), job.method) == methods_.end()) {
      methods_.push_back(job.method);
    }
    labels_[job.method] = job.label;
    const std::filesystem::path runs = folder / job.data / job.method;
    if (!std::filesystem::is_directory(runs)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(runs)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with("seed-") || name.find('.') != name.size() - 5 ||
          entry.path().extension() != ".json") {
        continue;
      }
      try {
        RunResult run = read_run(entry.path());
        runs_[{job.data, job.method}].insert_or_assign(run.seed, std::move(run));
      } catch (const InputError& error) {
        problems_.emplace_back(error.what());
      }
    }
  }
}

const std::string& Results::label(const std::string& method) const { return labels_.at(method); }

std::vector<const RunResult*> Results::runs(const std::string& data,
                                            const std::string& method) const {
  std::vector<const RunResult*> list;
  const auto found = runs_.find({data, method});
  if (found == runs_.end()) return list;
  for (const auto& [seed, run] : found->second) list.push_back(&run);
  return list;
}

std::size_t Results::size() const {
  std::size_t count = 0;
  for (const auto& [where, seeds] : runs_) count += seeds.size();
  return count;
}

std::vector<double> Results::values(const std::string& data, const std::string& method,
                                    const std::string& column, Moment moment) const {
  std::vector<double> list;
  for (const RunResult* run : runs(data, method)) {
    const double value = value_at(*run, column, moment);
    if (std::isfinite(value)) list.push_back(value);
  }
  return list;
}

std::optional<SeedSummary> Results::summary(const std::string& data, const std::string& method,
                                            const std::string& column, Moment moment) const {
  const std::vector<double> list = values(data, method, column, moment);
  if (list.empty()) return std::nullopt;
  return seed_summary(list);
}

}  // namespace jeffreys::experiment
