#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "cli/load.h"
#include "cli/progress.h"
#include "cli/sbi.h"
#include "cli/sbi_findings.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys::cli {
namespace {

constexpr Eigen::Index kLeastPairs = 20;
constexpr std::int64_t kDefaultPairs = 500;
// Of each outcome: what a test of all of them needs to find one that is not explained.
constexpr std::int64_t kDrawsPerOutcome = 250;
constexpr std::int64_t kMostDefaultDraws = 5000;
// Seeds of a check's simulations, far from those of the training pairs.
constexpr std::uint64_t kPairSeed = 0x5b1c4ec4;
constexpr std::uint64_t kPredictiveSeed = 0x9c3a71d8;

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

struct Pairs {
  Matrix<double> parameters;
  Matrix<double> outcomes;
};

// Before an hour of simulations.
void require_figure(const std::filesystem::path& path) {
  if (path.extension() != ".svg" && path.extension() != ".png") {
    throw InputError(path.string(),
                     "cannot draw: expected a file name that ends with .svg or .png");
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (std::filesystem::is_directory(folder)) return;
  throw InputError(path.string(),
                   fmt::format("there is no directory {}: create it first", folder.string()));
}

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
  if (a.simulator.rows > 0 && a.simulator.rows < kLeastPairs) {
    throw UsageError(fmt::format("-n: a check needs at least {} simulations, got {}", kLeastPairs,
                                 a.simulator.rows));
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

Simulations finished(Simulations simulations) {
  if (simulations.report.stopped) throw std::runtime_error("stopped: nothing was checked");
  return simulations;
}

Pairs check_pairs(const CheckArguments& a, const Posterior& posterior, const Globals& globals) {
  Table table;
  if (!a.pairs.empty()) {
    const Json record = Json::parse(posterior.density().record, nullptr, false);
    if (record.is_object() && record.value("table", "") == a.pairs) {
      say(globals,
          fmt::format("warning: {} is what the posterior was fitted to: only pairs that it has not "
                      "seen tell whether it is calibrated",
                      a.pairs));
    }
    table = read_table_for(a.pairs, posterior.density().schema());
  } else {
    SimulatorArguments simulator = a.simulator;
    if (simulator.rows == 0) simulator.rows = kDefaultPairs;
    simulator.seed = a.sampling.seed + kPairSeed;
    table = finished(simulate_pairs(simulator, {}, globals)).table;
  }
  Pairs pairs{numbers_of(table, posterior.parameter_names()),
              numbers_of(table, posterior.outcome_names())};
  if (pairs.parameters.rows() >= kLeastPairs) return pairs;
  throw InputError(table.source,
                   fmt::format("there are {} pairs; at least {} are needed for a check",
                               pairs.parameters.rows(), kLeastPairs));
}

PosteriorRanks ranks_of(const Posterior& posterior, const Pairs& pairs, Eigen::Index samples,
                        const PosteriorSampling& sampling, const Globals& globals) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const StopOnSignal signals;
  ProgressLine progress(globals);
  const auto draw = [&](Eigen::Index i) {
    if (StopOnSignal::requested()) throw std::runtime_error("stopped: nothing was checked");
    progress.draw_if_due(fmt::format("check: {} of {} pairs", i, pairs.parameters.rows()));
    PosteriorSampling own = sampling;
    own.seed += static_cast<std::uint64_t>(i) << 32;
    const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
    own.seconds = std::max(sampling.seconds - passed, 1e-3);
    const Matrix<double> observed = pairs.outcomes.row(i);
    PosteriorDraws draws;
    draws.samples = posterior.sample(observed, samples, own).parameters;
    Matrix<double> all(samples + 1, draws.samples.cols());
    all << draws.samples, pairs.parameters.row(i);
    const Vector<double> log_prob = posterior.log_prob(all, observed, sampling.from);
    draws.sample_log_prob = log_prob.head(samples);
    draws.parameter_log_prob = log_prob(samples);
    return draws;
  };
  return rank_posteriors(pairs.parameters, draw, sampling.seed);
}

// Parameters of a posterior as columns in the order of a simulator.
Matrix<double> in_order_of(const Prior& prior, const Posterior& posterior,
                           const Matrix<double>& parameters) {
  const std::vector<std::string> names = posterior.parameter_names();
  const std::vector<std::string> order = prior.names();
  Matrix<double> result(parameters.rows(), parameters.cols());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto place = std::find(names.begin(), names.end(), order[i]) - names.begin();
    result.col(static_cast<Eigen::Index>(i)) = parameters.col(place);
  }
  return result;
}

// Simulates the outcomes of posterior samples.
void check_prediction(const CheckArguments& a, const Posterior& posterior, const Prior& prior,
                      const Matrix<double>& observed, const PosteriorSampling& sampling,
                      const Globals& globals, Findings& found) {
  SimulatorArguments simulator = a.simulator;
  if (simulator.rows == 0) {
    simulator.rows =
        std::clamp(kDrawsPerOutcome * observed.cols(), kDefaultPairs, kMostDefaultDraws);
  }
  simulator.seed = a.sampling.seed + kPredictiveSeed;
  const Matrix<double> parameters = in_order_of(
      prior, posterior, posterior.sample(observed, simulator.rows, sampling).parameters);
  const auto draw = [&](std::uint64_t first, std::int64_t count) -> Matrix<double> {
    return parameters.middleRows(static_cast<Eigen::Index>(first), count);
  };
  const Matrix<double> simulated =
      numbers_of(finished(run_simulator(simulator, prior, draw, {}, globals)).table,
                 posterior.outcome_names());
  if (simulated.rows() < kLeastPairs) {
    throw InputError("", fmt::format("only {} of {} simulations from posterior samples have "
                                     "outcomes; at least {} are needed: give a larger -n",
                                     simulated.rows(), simulator.rows, kLeastPairs));
  }
  add_prediction(
      predictive_check(observed.row(0).transpose(), simulated, posterior.outcome_names()),
      simulator.rows - simulated.rows(), found);
}

// How far the observation is from the training pairs: the warning's numbers.
Json distance_json(const ObservationDistance& distance) {
  return {{"far", distance.far()},
          {"beyond_range", number(distance.beyond_range)},
          {"outcome", distance.outcome},
          {"distance", number(distance.distance)},
          {"largest_training", number(distance.largest_training)}};
}

void check_reference(const CheckArguments& a, const Posterior& posterior,
                     const Matrix<double>& observed, const PosteriorSampling& sampling,
                     Findings& found) {
  const Table table = read_table_for(a.reference, posterior.density().schema());
  const Matrix<double> exact = numbers_of(table, posterior.parameter_names());
  if (exact.rows() < kLeastPairs) {
    throw InputError(table.source, fmt::format("there are {} reference samples; at least {} are "
                                               "needed",
                                               exact.rows(), kLeastPairs));
  }
  add_two_sample_tests(exact, posterior.sample(observed, exact.rows(), sampling).parameters,
                       a.sampling.seed, found);
}

void run_check(CheckArguments& a, Globals& globals) {
  require_sense(a);
  const Posterior posterior = load_posterior(a.posterior);
  const PosteriorSampling sampling = sampling_options(a.sampling, posterior);
  const Matrix<double> observed =
      a.observed.given() ? read_one_observed(a.observed, posterior, globals) : Matrix<double>();
  std::optional<Prior> prior;
  if (a.simulator.given()) prior = simulator_prior(a, posterior, globals);
  if (a.simulator.outcomes.empty()) a.simulator.outcomes = simulated_outcomes(posterior);
  Findings found;
  found.json["posterior"] = a.posterior;
  if (!a.pairs.empty() || prior) {
    const Pairs pairs = check_pairs(a, posterior, globals);
    add_calibration(ranks_of(posterior, pairs, a.samples, sampling, globals),
                    posterior.parameter_names(), a.figure, found);
  }
  if (a.observed.given()) {
    found.json["observation"] = distance_json(posterior.distances(observed).front());
    if (prior) check_prediction(a, posterior, *prior, observed, sampling, globals, found);
    if (!a.reference.empty()) check_reference(a, posterior, observed, sampling, found);
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
      "check", "Whether a posterior can be trusted: calibration, coverage, prediction, C2ST");
  command->add_option("posterior", a->posterior, "Posterior file")->required();
  command->add_option("pairs", a->pairs,
                      "Table of pairs that the posterior has not seen, drawn from the prior");
  add_simulator_options(*command, a->simulator);
  command->get_option("-n")->description(
      "How many rows to simulate for each check (default: 500 and more)");
  command
      ->add_option("--outcomes", a->simulator.outcomes,
                   "Names of all of the simulator's outcomes (default: those of the fit)")
      ->delimiter(',')
      ->allow_extra_args(false);
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
      "TARP.\n"
      "With a simulator and --observed also a posterior predictive check. Examples:\n"
      "  jeffreys sbi check p.model new_pairs.csv --figure check.png\n"
      "  jeffreys sbi check p.model --simulator ./simulate.py --prior prior.toml -n 500\n"
      "  jeffreys sbi check moons.model --task two_moons --observed outcome_1=0,outcome_2=0\n"
      "  jeffreys sbi check p.model --reference exact.csv --observed x=0,y=0\n"
      "It ends with exit code 0 whatever the verdict: read that, or with --json the p_value.");
  command->callback([a, &globals] { run_check(*a, globals); });
}

}  // namespace jeffreys::cli
