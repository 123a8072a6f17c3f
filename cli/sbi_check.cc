#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/load.h"
#include "cli/progress.h"
#include "cli/sbi.h"
#include "cli/sbi_findings.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys::cli {
namespace {

constexpr std::int64_t kDefaultPairs = 500;
// Seeds of a check's simulations, far from those of the training pairs.
constexpr std::uint64_t kPairSeed = 0x5b1c4ec4;
constexpr std::uint64_t kPredictiveSeed = 0x9c3a71d8;

constexpr const char* kStopped = "stopped: nothing was checked";

struct CheckArguments {
  std::string posterior;
  std::string pairs;
  SimulatorArguments simulator;
  SamplingArguments sampling;
  ObservedArguments observed;
  std::int64_t samples = 200;
  std::string reference;
  std::string figure;
};

void require_sense(const CheckArguments& a) {
  const bool calibration = !a.pairs.empty() || a.simulator.given();
  if (!calibration && a.reference.empty()) {
    throw UsageError(
        "sbi check: against what? Give a table of pairs that the posterior has not seen, a "
        "simulator, or --reference samples with --observed");
  }
  if (!a.pairs.empty() && a.simulator.given() && !a.observed.given()) {
    throw UsageError(
        "sbi check: give pairs or a simulator; with pairs a simulator only predicts the --observed "
        "outcomes");
  }
  if (!a.reference.empty() && !a.observed.given()) {
    throw UsageError("--reference: for which observation? Give --observed");
  }
  if (a.observed.given() && !a.simulator.given() && a.reference.empty()) {
    throw UsageError("--observed: give a simulator, to predict it, or --reference samples for it");
  }
  if (!a.simulator.given() && a.simulator.rows > 0) {
    throw UsageError("sbi check: -n is for a simulator; all rows of a table are used");
  }
  if (a.simulator.rows > 0 && a.simulator.rows < kLeastCheckRows) {
    throw UsageError(fmt::format("-n: a check needs at least {} simulations, got {}",
                                 kLeastCheckRows, a.simulator.rows));
  }
  if (!a.figure.empty() && !calibration) {
    throw UsageError("--figure shows the calibration: give pairs or a simulator");
  }
  if (a.figure.empty()) return;
  require_figure(a.figure);
  require_other_file(a.figure, {a.posterior, a.pairs, a.reference, a.observed.file});
}

// The order of a simulator's parameters; says where it is not the prior of the fit.
Prior simulator_prior(const CheckArguments& a, const Posterior& posterior, const Globals& globals) {
  Prior prior = needed_prior(a.simulator);
  const std::vector<std::string> names = posterior.parameter_names();
  const std::vector<std::string> given = prior.names();
  if (!std::is_permutation(names.begin(), names.end(), given.begin(), given.end())) {
    throw UsageError(fmt::format("the simulator's prior has the parameters {}, the posterior {}",
                                 fmt::join(given, ", "), fmt::join(names, ", ")));
  }
  if (posterior.prior() && posterior.prior()->distributions() != prior.distributions()) {
    say(globals,
        "warning: this is another prior than that of the fit, under which alone the posterior can "
        "be calibrated");
  }
  return prior;
}

// Every column that a simulator's outcomes have become in a fit.
std::vector<std::string> simulated_outcomes(const Posterior& posterior) {
  std::vector<std::string> names;
  for (const ColumnInfo& info : posterior.density().schema().columns()) {
    const bool outcome = info.role == ColumnRole::condition || info.role == ColumnRole::constant ||
                         info.role == ColumnRole::copy;
    if (outcome) names.push_back(info.name);
  }
  return names;
}

Table finished(Simulations simulations) {
  if (simulations.report.stopped) throw std::runtime_error(kStopped);
  return std::move(simulations.table);
}

Table check_pairs(const CheckArguments& a, const Posterior& posterior, const Globals& globals) {
  if (a.pairs.empty()) {
    SimulatorArguments simulator = a.simulator;
    if (simulator.rows == 0) simulator.rows = kDefaultPairs;
    simulator.seed = a.sampling.seed + kPairSeed;
    return finished(simulate_pairs(simulator, {}, globals));
  }
  const Json record = Json::parse(posterior.density().record, nullptr, false);
  if (record.is_object() && record.value("table", "") == a.pairs) {
    say(globals,
        fmt::format("warning: {} is what the posterior was fitted to: only pairs that it has not "
                    "seen tell whether it is calibrated",
                    a.pairs));
  }
  return read_table_for(a.pairs, posterior.density().schema(), a.observed.reading);
}

PosteriorCheck calibration(const CheckArguments& a, const Posterior& posterior,
                           const PosteriorSampling& sampling, const Globals& globals) {
  const Table pairs = check_pairs(a, posterior, globals);
  const StopOnSignal signals;
  ProgressLine progress(globals);
  const auto on_pair = [&](Eigen::Index done, Eigen::Index all) {
    if (StopOnSignal::requested()) throw std::runtime_error(kStopped);
    progress.draw_if_due(fmt::format("check: {} of {} pairs", done, all));
  };
  return check_posterior(posterior, pairs,
                         {.samples = a.samples, .sampling = sampling, .on_pair = on_pair});
}

PosteriorPrediction prediction(const CheckArguments& a, const Posterior& posterior,
                               const Prior& prior, const Matrix<double>& observed,
                               const PosteriorSampling& sampling, const Globals& globals) {
  SimulatorArguments simulator = a.simulator;
  if (simulator.rows == 0) simulator.rows = default_predictions(observed.cols());
  simulator.seed = a.sampling.seed + kPredictiveSeed;
  const auto simulate = [&](const Matrix<double>& parameters) {
    const auto draw = [&](std::uint64_t first, std::int64_t count) -> Matrix<double> {
      return parameters.middleRows(static_cast<Eigen::Index>(first), count);
    };
    return finished(run_simulator(simulator, prior, draw, {}, globals));
  };
  return check_prediction(posterior, observed, simulator.rows, prior.names(), simulate, sampling);
}

// How far the observation is from the training pairs: the warning's numbers.
Json distance_json(const ObservationDistance& distance) {
  return {{"far", distance.far()},
          {"beyond", distance.beyond()},
          {"beyond_range", number(distance.beyond_range)},
          {"outcome", distance.outcome},
          {"distance", number(distance.distance)},
          {"largest_training", number(distance.largest_training)}};
}

void run_check(CheckArguments& a, Globals& globals) {
  require_sense(a);
  const Posterior posterior = load_posterior(a.posterior);
  const PosteriorSampling sampling = sampling_options(a.sampling, a.observed, posterior);
  const Matrix<double> observed =
      a.observed.given() ? read_one_observed(a.observed, posterior, globals) : Matrix<double>();
  std::optional<Prior> prior;
  if (a.simulator.given()) prior = simulator_prior(a, posterior, globals);
  if (a.simulator.outcomes.empty()) a.simulator.outcomes = simulated_outcomes(posterior);
  Findings found;
  found.json["posterior"] = a.posterior;
  if (!a.pairs.empty() || prior) {
    add_calibration(calibration(a, posterior, sampling, globals), a.figure, found);
  }
  if (a.observed.given()) {
    found.json["observation"] = distance_json(posterior.distances(observed).front());
    if (prior) {
      add_prediction(prediction(a, posterior, *prior, observed, sampling, globals), found);
    }
    if (!a.reference.empty()) {
      const Table exact =
          read_table_for(a.reference, posterior.density().schema(), a.observed.reading);
      add_reference(check_against_reference(posterior, observed, exact, sampling), found);
    }
  }
  found.json["verdict"] = fmt::format("{}", fmt::join(found.verdicts, "; "));
  found.lines.push_back("verdict: " + found.json["verdict"].get<std::string>());
  if (globals.json) {
    print_json(found.json);
  } else {
    for (const std::string& line : found.lines) print_line(line);
  }
}

}  // namespace

void add_sbi_check(CLI::App& sbi, Globals& globals) {
  auto a = std::make_shared<CheckArguments>();
  CLI::App* command = sbi.add_subcommand(
      "check",
      "Whether a posterior can be trusted: calibration, coverage, information, prediction, C2ST");
  command->add_option("posterior", a->posterior, "Posterior file")->required();
  command->add_option("pairs", a->pairs,
                      "Table of pairs that the posterior has not seen, drawn from the prior");
  add_simulator_options(*command, a->simulator);
  command->get_option("-n")->description(
      "How many rows to simulate for each check (default: 500 and more)");
  command
      ->add_option("--outcomes", a->simulator.outcomes,
                   "Names of all of the simulator's outcomes (default: those of the fit)")
      ->option_text("NAME ...")
      ->delimiter(',');
  command->add_option("--samples", a->samples, "Of the posterior for each pair (default 200)")
      ->check(CLI::Range(10, 100'000));
  add_observed_options(*command, a->observed);
  command->add_option("--reference", a->reference,
                      "Table of exact posterior samples for --observed: C2ST by two definitions");
  command->add_option("--figure", a->figure,
                      "SVG or PNG file: coverage curves and rank histograms");
  add_sampling_options(*command, a->sampling);
  command->footer(
      "Calibration over many pairs: simulation-based calibration (ranks), expected coverage, "
      "TARP;\n"
      "and the information gained over the prior, since a calibrated posterior may still be wide.\n"
      "With a simulator and --observed also a posterior predictive check. Examples:\n"
      "  jeffreys sbi check p.model new_pairs.csv --figure check.png\n"
      "  jeffreys sbi check p.model --simulator ./simulate.py --prior prior.toml -n 500\n"
      "  jeffreys sbi check moons.model --task two_moons --observed outcome_1=0,outcome_2=0\n"
      "  jeffreys sbi check p.model --reference exact.csv --observed x=0,y=0\n"
      "It ends with exit code 0 whatever the verdict: read that, or with --json the p_value.");
  command->callback([a, &globals] { run_check(*a, globals); });
}

}  // namespace jeffreys::cli
