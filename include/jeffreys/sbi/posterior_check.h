// Whether a posterior can be trusted: calibration over many pairs, prediction of one observation,
// and comparison with exact samples of its posterior. Each check is one call and has a verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "jeffreys/evaluate/expected_coverage.h"
#include "jeffreys/evaluate/neural_two_sample_test.h"
#include "jeffreys/evaluate/predictive_check.h"
#include "jeffreys/evaluate/two_sample_test.h"
#include "jeffreys/sbi/posterior.h"

namespace jeffreys {

// Fewer pairs, predicted outcomes or reference samples are refused.
inline constexpr Eigen::Index kLeastCheckRows = 20;

struct PosteriorCheckOptions {
  Eigen::Index samples = 200;  // of the posterior for each pair
  // Its seconds are for all pairs together, each pair has random numbers of its own, and none is
  // refused.
  PosteriorSampling sampling = {};
  // Told before each pair how many are done; may be empty. It may throw to stop.
  std::function<void(Eigen::Index done, Eigen::Index pairs)> on_pair = {};

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;
};

// How much more the posterior knows about the true parameters than the prior: the mean over pairs
// of log q(parameters | outcomes) - log prior(parameters), in nats. 0 for a posterior that is the
// prior; for the exact one it is the mutual information of parameters and outcomes.
struct InformationGain {
  double mean = 0;
  double standard_error = 0;  // from the spread over pairs
  double lower = 0;           // mean -+ 1.96 standard errors: an interval of 95 %
  double upper = 0;
  std::size_t pairs = 0;  // those with parameters inside the prior's support
};

struct PosteriorCheck {
  PosteriorRanks ranks = {};
  RankCalibration calibration = {};       // of each parameter alone
  ExpectedCoverage highest_density = {};  // of all together
  ExpectedCoverage tarp = {};
  std::optional<InformationGain> information = {};  // nothing without a prior to compare with
  // Pairs whose outcomes are beyond the training pairs: they count like all others.
  std::size_t beyond_training = 0;
  double p_value = 1;                    // the smallest of the three, after Holm's correction
  std::vector<Calibration> errors = {};  // kinds that the tests found, each once
  bool few_pairs = false;                // so few that only gross errors show
  std::string verdict = {};              // part of a sentence

  // Whether p_value is below 0.01.
  [[nodiscard]] bool miscalibrated() const;
};

// pairs: a table with the posterior's parameters and outcomes, drawn from the prior, which the
// posterior has not seen. Throws InputError for a column that is missing or not of finite numbers,
// and for fewer than kLeastCheckRows pairs.
[[nodiscard]] PosteriorCheck check_posterior(const Posterior& posterior, const Table& pairs,
                                             const PosteriorCheckOptions& options = {});

struct PosteriorPrediction {
  PredictiveCheck check = {};
  std::int64_t missing = 0;  // posterior samples that the simulator gave no outcomes for
  std::string verdict = {};  // part of a sentence
};

// How many simulations find an outcome that is not explained, among so many: 500 to 5,000.
[[nodiscard]] std::int64_t default_predictions(Eigen::Index outcomes);

// Simulates the outcomes of as many posterior samples as `rows` and compares them with observed
// [1, outcomes]. `simulate` gets parameters [rows, parameters] whose columns are in the order of
// `parameters`, and gives a table with the posterior's outcomes; rows that failed may lack in it.
// Throws InputError where it has fewer than kLeastCheckRows.
[[nodiscard]] PosteriorPrediction check_prediction(
    const Posterior& posterior, const MatrixView<double>& observed, std::int64_t rows,
    const std::vector<std::string>& parameters,
    const std::function<Table(const Matrix<double>& parameters)>& simulate,
    const PosteriorSampling& sampling = {});

// C2ST between exact samples of the posterior of an observation and as many of this one.
struct ReferenceCheck {
  TwoSampleResult trees = {};          // by the paper's definition
  NeuralTwoSampleResult network = {};  // by sbibm's
  std::string verdict = {};            // part of a sentence
};

// exact: a table with the posterior's parameters, at least kLeastCheckRows. Throws as
// check_posterior does.
[[nodiscard]] ReferenceCheck check_against_reference(const Posterior& posterior,
                                                     const MatrixView<double>& observed,
                                                     const Table& exact,
                                                     const PosteriorSampling& sampling = {});

}  // namespace jeffreys
