#include "jeffreys/sbi/posterior_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "base/checks.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/evaluate/held_out.h"

namespace jeffreys {
namespace {

constexpr std::size_t kFewPairs = 100;
constexpr double kSignificance = 0.01;

struct RanksAndDensities {
  PosteriorRanks ranks;
  Vector<double> log_prob;  // of each pair's parameters
};

RanksAndDensities ranks_of(const Posterior& posterior, const Matrix<double>& parameters,
                           const Matrix<double>& outcomes, const PosteriorCheckOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  PosteriorSampling sampling = options.sampling;
  sampling.far = FarObservations::extrapolate;
  Vector<double> of_truth(parameters.rows());
  const auto draw = [&](Eigen::Index i) {
    if (options.on_pair) options.on_pair(i, parameters.rows());
    PosteriorSampling own = sampling;
    own.seed += static_cast<std::uint64_t>(i) << 32;
    const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
    own.seconds = std::max(sampling.seconds - passed, 1e-3);
    const Matrix<double> observed = outcomes.row(i);
    PosteriorDraws draws;
    draws.samples = posterior.sample(observed, options.samples, own).parameters;
    Matrix<double> all(options.samples + 1, draws.samples.cols());
    all << draws.samples, parameters.row(i);
    const Vector<double> log_prob = posterior.log_prob(all, observed, sampling.from, sampling.far);
    draws.sample_log_prob = log_prob.head(options.samples);
    draws.parameter_log_prob = of_truth(i) = log_prob(options.samples);
    return draws;
  };
  PosteriorRanks ranks = rank_posteriors(parameters, draw, sampling.seed);
  return {std::move(ranks), std::move(of_truth)};
}

std::optional<InformationGain> information_of(const Posterior& posterior,
                                              const Matrix<double>& parameters,
                                              const Vector<double>& log_prob) {
  if (!posterior.prior()) return {};
  const Vector<double> of_prior = posterior.prior()->log_prob(parameters);
  std::vector<Eigen::Index> inside;
  for (Eigen::Index i = 0; i < of_prior.size(); ++i) {
    if (std::isfinite(of_prior(i))) inside.push_back(i);
  }
  if (inside.size() < 2) return {};
  const PairedDifference gain = paired_difference(of_prior(inside), log_prob(inside));
  constexpr double kNormalQuantile = 1.96;  // of 97.5 %
  return InformationGain{.mean = gain.mean,
                         .standard_error = gain.standard_error,
                         .lower = gain.mean - kNormalQuantile * gain.standard_error,
                         .upper = gain.mean + kNormalQuantile * gain.standard_error,
                         .pairs = inside.size()};
}

// One verdict for the three tests, with the kinds of error that they found.
void judge(PosteriorCheck& check) {
  const std::vector<double> p_values = holm_correction(
      std::array{check.calibration.p_value, check.highest_density.p_value, check.tarp.p_value});
  check.p_value = *std::min_element(p_values.begin(), p_values.end());
  std::vector<Calibration> kinds{check.highest_density.calibration, check.tarp.calibration};
  for (const auto& parameter : check.calibration.parameters) kinds.push_back(parameter.calibration);
  std::vector<std::string> errors;
  for (const Calibration kind : kinds) {
    if (kind == Calibration::no_sign ||
        std::find(check.errors.begin(), check.errors.end(), kind) != check.errors.end()) {
      continue;
    }
    check.errors.push_back(kind);
    errors.push_back(to_string(kind));
  }
  check.verdict =
      check.miscalibrated()
          ? fmt::format("miscalibrated, {} (p = {:.2g} after correction for three tests)",
                        fmt::join(errors, ", "), check.p_value)
          : fmt::format("no sign of miscalibration (p = {:.2g} after correction for three tests)",
                        check.p_value);
}

// Parameters in the posterior's order as columns in another one.
Matrix<double> reordered(const Posterior& posterior, const Matrix<double>& parameters,
                         const std::vector<std::string>& order) {
  const std::vector<std::string> names = posterior.parameter_names();
  if (!std::is_permutation(names.begin(), names.end(), order.begin(), order.end())) {
    throw std::invalid_argument(fmt::format("parameters: expected the posterior's, {}, got {}",
                                            fmt::join(names, ", "), fmt::join(order, ", ")));
  }
  Matrix<double> result(parameters.rows(), parameters.cols());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto place = std::find(names.begin(), names.end(), order[i]) - names.begin();
    result.col(static_cast<Eigen::Index>(i)) = parameters.col(place);
  }
  return result;
}

}  // namespace

void PosteriorCheckOptions::validate() const {
  check_at_least("PosteriorCheckOptions.samples", samples, 10);
  sampling.validate();
}

bool PosteriorCheck::miscalibrated() const { return p_value < kSignificance; }

PosteriorCheck check_posterior(const Posterior& posterior, const Table& pairs,
                               const PosteriorCheckOptions& options) {
  options.validate();
  const Matrix<double> parameters = matrix_from_table(pairs, posterior.parameter_names());
  const Matrix<double> outcomes = matrix_from_table(pairs, posterior.outcome_names());
  if (parameters.rows() < kLeastCheckRows) {
    throw InputError(pairs.source,
                     fmt::format("there are {} pairs; at least {} are needed for a check",
                                 parameters.rows(), kLeastCheckRows));
  }
  PosteriorCheck check;
  RanksAndDensities found = ranks_of(posterior, parameters, outcomes, options);
  check.ranks = std::move(found.ranks);
  check.information = information_of(posterior, parameters, found.log_prob);
  const std::vector<ObservationDistance> distances = posterior.distances(outcomes);
  check.beyond_training = static_cast<std::size_t>(std::count_if(
      distances.begin(), distances.end(), [](const auto& pair) { return pair.beyond(); }));
  check.calibration = rank_calibration(check.ranks, posterior.parameter_names(), kSignificance);
  check.highest_density = highest_density_coverage(check.ranks, kSignificance);
  check.tarp = reference_point_coverage(check.ranks, kSignificance);
  check.few_pairs = pairs.rows() < kFewPairs;
  judge(check);
  return check;
}

std::int64_t default_predictions(Eigen::Index outcomes) {
  constexpr std::int64_t kForEach = 250;
  constexpr std::int64_t kLeast = 500;
  constexpr std::int64_t kMost = 5000;
  return std::clamp(kForEach * outcomes, kLeast, kMost);
}

PosteriorPrediction check_prediction(
    const Posterior& posterior, const MatrixView<double>& observed, std::int64_t rows,
    const std::vector<std::string>& parameters,
    const std::function<Table(const Matrix<double>& parameters)>& simulate,
    const PosteriorSampling& sampling) {
  const Matrix<double> drawn =
      reordered(posterior, posterior.sample(observed, rows, sampling).parameters, parameters);
  const Matrix<double> simulated = matrix_from_table(simulate(drawn), posterior.outcome_names());
  if (simulated.rows() < kLeastCheckRows) {
    throw InputError("", fmt::format("only {} of {} simulations from posterior samples have "
                                     "outcomes; at least {} are needed: give a larger -n",
                                     simulated.rows(), rows, kLeastCheckRows));
  }
  PosteriorPrediction result{.check = predictive_check(observed.row(0).transpose(), simulated,
                                                       posterior.outcome_names(), kSignificance),
                             .missing = rows - simulated.rows(),
                             .verdict = "does not explain the observation"};
  if (!result.check.consistent) return result;
  // So few that no outcome's p-value can be small.
  const bool few = 2 * static_cast<double>(result.check.outcomes.size()) >
                   kSignificance * static_cast<double>(result.check.draws + 1);
  result.verdict =
      fmt::format("explains the observation{}", few ? ", as far as so few simulations show" : "");
  return result;
}

ReferenceCheck check_against_reference(const Posterior& posterior,
                                       const MatrixView<double>& observed, const Table& exact,
                                       const PosteriorSampling& sampling) {
  const Matrix<double> reference = matrix_from_table(exact, posterior.parameter_names());
  if (reference.rows() < kLeastCheckRows) {
    throw InputError(exact.source,
                     fmt::format("there are {} reference samples; at least {} are needed",
                                 reference.rows(), kLeastCheckRows));
  }
  const Matrix<double> model = posterior.sample(observed, reference.rows(), sampling).parameters;
  ReferenceCheck result{
      .trees = classifier_two_sample_test(reference, model, {.seed = sampling.seed}),
      .network = neural_two_sample_test(reference, model, {.seed = sampling.seed})};
  const auto told = [](const auto& test) { return test.accuracy > 0.5 + 3 * test.standard_error; };
  result.verdict = fmt::format("classifiers {} its samples from the reference",
                               told(result.trees) || told(result.network) ? "tell" : "do not tell");
  return result;
}

}  // namespace jeffreys
