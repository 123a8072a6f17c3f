#include "cli/sbi.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "jeffreys/base/assignment.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys::cli {
namespace {

std::string outcomes_of(const Posterior& posterior) {
  return fmt::format("{}", fmt::join(posterior.outcome_names(), ", "));
}

// The table of one row that --observed stands for; its names are checked against the posterior's.
Table given_table(const std::vector<std::string>& items, const Posterior& posterior) {
  Table table{"--observed", {}, {}};
  const auto& known = posterior.density().schema().columns();
  for (const auto& [name, value] : read_assignments("--observed", items)) {
    const auto found = std::find_if(known.begin(), known.end(), [&name = name](const auto& info) {
      return info.name == name && info.role != ColumnRole::left_out;
    });
    if (found == known.end() || found->role == ColumnRole::feature) {
      throw UsageError(fmt::format("--observed: '{}' is {} of this posterior; the outcomes are {}",
                                   name, found == known.end() ? "no outcome" : "a parameter",
                                   outcomes_of(posterior)));
    }
    table.columns.push_back({.name = name, .numbers = {value}});
  }
  for (const std::string& name : posterior.outcome_names()) {
    if (table.find(name) != nullptr) continue;
    throw UsageError(fmt::format("--observed: outcome '{}' has no value; the outcomes are {}", name,
                                 outcomes_of(posterior)));
  }
  return table;
}

// Where the observation is in its file.
void refuse_beyond(const std::vector<ObservationDistance>& distances, const Table& table) {
  const auto found = std::find_if(distances.begin(), distances.end(),
                                  [](const ObservationDistance& d) { return d.beyond(); });
  if (found == distances.end()) return;
  const auto row = static_cast<std::size_t>(found - distances.begin());
  const Column* column = found->outcome.empty() ? nullptr : table.find(found->outcome);
  const std::string which =
      distances.size() == 1 ? "the observation" : fmt::format("observation {}", row + 1);
  throw InputError(
      table.source,
      fmt::format("{} is beyond the pairs that the posterior was fitted to: {}. An answer may be "
                  "very sure and quite wrong there: fit to pairs that reach so far, or ask for it "
                  "all the same with --extrapolate",
                  which, found->describe()),
      table.line(row), column == nullptr ? 0 : column->place);
}

void warn_about_distances(const std::vector<ObservationDistance>& distances,
                          const Globals& globals) {
  const auto excess = [](const ObservationDistance& d) {
    return d.beyond_range + std::max(d.distance - d.largest_training, 0.0);
  };
  const auto far = std::count_if(distances.begin(), distances.end(),
                                 [](const ObservationDistance& d) { return d.far(); });
  if (far == 0) return;
  const ObservationDistance& d =
      *std::max_element(distances.begin(), distances.end(),
                        [&](const auto& a, const auto& b) { return excess(a) < excess(b); });
  const std::string which = distances.size() == 1
                                ? std::string("the observation lies")
                                : fmt::format("{} of {} observations {}", far, distances.size(),
                                              far == 1 ? "lies" : "lie");
  say(globals, fmt::format("warning: {} outside the pairs that the posterior was fitted to ({}{}): "
                           "it extrapolates, do not trust it there",
                           which, distances.size() == 1 ? "" : "the farthest: ", d.describe()));
}

// Outcomes that did not vary among the training pairs are not in the model, so that it cannot see
// where they do.
void warn_about_constants(const Table& table, const Posterior& posterior, const Globals& globals) {
  for (const ColumnInfo& info : posterior.density().schema().columns()) {
    const Column* column = table.find(info.name);
    if (info.role != ColumnRole::constant || column == nullptr || column->is_text()) continue;
    const auto other =
        std::find_if(column->numbers.begin(), column->numbers.end(),
                     [&](double value) { return std::isfinite(value) && value != info.constant; });
    if (other == column->numbers.end()) continue;
    say(globals, fmt::format("warning: outcome {} is {} here, but {} in all pairs that the "
                             "posterior was fitted to: it knows nothing about other values",
                             info.name, *other, info.constant));
  }
}

}  // namespace

std::map<std::string, double> read_assignments(const std::string& option,
                                               const std::vector<std::string>& items) {
  constexpr const char* kForm = "NAME=NUMBER,..., for example x=0.5,y=-1";
  std::map<std::string, double> given;
  for (const std::string& item : items) {
    const auto [name, text] = split_assignment(item, option, kForm, Equals::last);
    const std::optional<double> value = read_number(text);
    if (!value || !std::isfinite(*value)) {
      throw UsageError(fmt::format("{}: expected {}, got '{}'", option, kForm, item));
    }
    if (given.emplace(name, *value).second) continue;
    throw UsageError(fmt::format("{}: '{}' is given twice", option, name));
  }
  return given;
}

void add_observed_options(CLI::App& command, ObservedArguments& a) {
  command
      .add_option("--observed", a.observed,
                  "OUTCOME=NUMBER,...: the observation, for example x=0.5,y=-1")
      ->delimiter(',');
  command.add_option("--observed-file", a.file, "Table with one observation in each row");
  command.add_flag("--extrapolate", a.extrapolate,
                   "Answer for observations beyond the training pairs too, which are refused "
                   "otherwise");
  add_reading_options(command, a.reading);
}

Matrix<double> read_observed(const ObservedArguments& a, const Posterior& posterior,
                             const Globals& globals) {
  if (a.observed.empty() == a.file.empty()) {
    throw UsageError(fmt::format("{}; the outcomes are {}",
                                 a.file.empty()
                                     ? "give the observation by --observed or --observed-file"
                                     : "--observed and --observed-file exclude each other",
                                 outcomes_of(posterior)));
  }
  const Table table = a.file.empty()
                          ? given_table(a.observed, posterior)
                          : read_table_for(a.file, posterior.density().schema(), a.reading);
  Matrix<double> observed = matrix_from_table(table, posterior.outcome_names());
  const std::vector<ObservationDistance> distances = posterior.distances(observed);
  if (!a.extrapolate) refuse_beyond(distances, table);
  warn_about_distances(distances, globals);
  warn_about_constants(table, posterior, globals);
  return observed;
}

Matrix<double> read_one_observed(const ObservedArguments& a, const Posterior& posterior,
                                 const Globals& globals) {
  Matrix<double> observed = read_observed(a, posterior, globals);
  if (observed.rows() == 1) return observed;
  throw UsageError(fmt::format("{} has {} observations; this command takes one at a time", a.file,
                               observed.rows()));
}

Posterior load_posterior(const std::string& path) {
  Posterior posterior = Posterior::load(path);
  const unsigned cores = std::thread::hardware_concurrency();
  if (cores > 1) posterior.use_threads(std::make_shared<ThreadPool>(cores));
  return posterior;
}

void add_sampling_options(CLI::App& command, SamplingArguments& a) {
  add_from(command, a.from);
  command
      .add_option("--sampler", a.sampler,
                  "Of an energy proxy: metropolis (default) or langevin, as in the paper")
      ->check(CLI::IsMember({"metropolis", "langevin"}));
  command.add_option("--steps", a.steps, "Of Langevin (default 2000)")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--step-size", a.step_size, "Of Langevin (default 1e-4)")->check(positive());
  command
      .add_option("--time-limit", a.time_limit,
                  "Seconds in all after which Langevin chains that get lost are no longer drawn "
                  "anew (default 60)")
      ->check(positive());
  add_seed(command, a.seed, "The same seed gives the same samples (default 0)");
}

PosteriorSampling sampling_options(const SamplingArguments& a, const ObservedArguments& observed,
                                   const Posterior& posterior) {
  return {.from = chosen_from(a.from, posterior.density()),
          .energy_sampler =
              a.sampler == "langevin" ? EnergySampler::langevin : EnergySampler::metropolis,
          .langevin_steps = a.steps,
          .langevin_step_size = a.step_size,
          .seconds = a.time_limit,
          .far = observed.far(),
          .seed = a.seed};
}

void add_sbi(CLI::App& app, Globals& globals) {
  CLI::App* sbi = app.add_subcommand(
      "sbi",
      "Posteriors from a simulator: simulate, fit, sample, check (simulation-based inference)");
  sbi->require_subcommand(1);
  sbi->footer(
      "Examples:\n"
      "  jeffreys sbi fit pairs.csv --parameters a,b --outcomes x,y --prior prior.toml -o p.model\n"
      "  jeffreys sbi fit --simulator ./simulate.sh --prior prior.toml -n 10000 -o p.model\n"
      "  jeffreys sbi sample p.model --observed x=0,y=0 -n 1000 -o samples.csv\n"
      "  jeffreys sbi check p.model new_pairs.csv --figure check.png\n"
      "  jeffreys sbi plot p.model --observed x=0,y=0 -o posterior.png\n"
      "A prior file has one table for each parameter:\n"
      "  [a]\n"
      "  distribution = \"uniform\"   # or \"normal\", \"log_normal\": mean, deviation\n"
      "  lower = -1\n"
      "  upper = 1");
  add_sbi_simulate(*sbi, globals);
  add_sbi_fit(*sbi, globals);
  add_sbi_sample(*sbi, globals);
  add_sbi_log_prob(*sbi, globals);
  add_sbi_check(*sbi, globals);
  add_sbi_plot(*sbi, globals);
}

}  // namespace jeffreys::cli
