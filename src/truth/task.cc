#include "jeffreys/truth/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"
#include "truth/task_kinds.h"

namespace jeffreys {
namespace {

constexpr Eigen::Index kBlock = 256;  // rows of noise drawn at a time
constexpr Eigen::Index kFreeCandidates = 1000000;
constexpr Eigen::Index kCandidatesPerRow = 1000;

std::span<const double> row_of(const MatrixView<double>& x, Eigen::Index row) {
  return {x.row(row).data(), static_cast<std::size_t>(x.cols())};
}

std::span<double> row_of(Matrix<double>& x, Eigen::Index row) {
  return {x.row(row).data(), static_cast<std::size_t>(x.cols())};
}

std::span<const double> row_of(const VectorView<double>& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

void require_rows(Eigen::Index rows) {
  if (rows < 0) throw std::invalid_argument(fmt::format("rows: expected 0 or more, got {}", rows));
}

void require_columns(const char* name, Eigen::Index expected, Eigen::Index got) {
  if (got == expected) return;
  throw std::invalid_argument(fmt::format("{}: expected {} columns, got {}", name, expected, got));
}

std::vector<std::string> numbered(const char* name, Eigen::Index count) {
  std::vector<std::string> names;
  for (Eigen::Index i = 1; i <= count; ++i) names.push_back(fmt::format("{}_{}", name, i));
  return names;
}

// What a log density is where a row is not finite; 0 for finite rows.
double penalty(std::span<const double> row) {
  double sum = 0;
  for (const double value : row) sum -= std::isfinite(value) ? 0 : std::abs(value);
  return sum;
}

}  // namespace

Task::Task(std::string name, Eigen::Index parameters, Eigen::Index outcomes)
    : name_(std::move(name)), parameters_(parameters), outcomes_(outcomes) {}

std::vector<std::string> Task::parameter_names() const {
  return numbered("parameter", parameters_);
}

std::vector<std::string> Task::outcome_names() const { return numbered("outcome", outcomes_); }

template <typename Use>
void Task::for_each_noise(Eigen::Index rows, std::uint64_t seed, std::uint16_t purpose,
                          std::uint64_t iteration, const Use& use) const {
  const Eigen::Index width = std::max(parameters_, outcomes_) + 1;
  Matrix<double> uniform(std::min(rows, kBlock), width);
  Matrix<double> normal(uniform.rows(), width);
  const kernels::RandomKey uniforms{seed, purpose, iteration};
  const kernels::RandomKey normals{seed, static_cast<std::uint16_t>(purpose + 1), iteration};
  for (Eigen::Index first = 0; first < rows; first += kBlock) {
    const Eigen::Index count = std::min(kBlock, rows - first);
    const auto row = static_cast<std::uint64_t>(first);
    const auto height = static_cast<std::size_t>(count);
    kernels::fill_uniforms(kernels::RandomArguments<double>{
        uniforms, row, height, static_cast<std::size_t>(width), uniform.data()});
    kernels::fill_normals(kernels::RandomArguments<double>{
        normals, row, height, static_cast<std::size_t>(width), normal.data()});
    for (Eigen::Index i = 0; i < count; ++i) {
      use(first + i, Noise{row_of(uniform, i), row_of(normal, i)});
    }
  }
}

Matrix<double> Task::sample_prior(Eigen::Index rows, std::uint64_t seed,
                                  std::uint64_t iteration) const {
  require_rows(rows);
  Matrix<double> result(rows, parameters_);
  for_each_noise(rows, seed, kTaskPrior, iteration, [&](Eigen::Index i, const Noise& noise) {
    place_prior(noise, row_of(result, i));
  });
  return result;
}

Matrix<double> Task::simulate(const MatrixView<double>& parameters, std::uint64_t seed,
                              std::uint64_t iteration) const {
  require_columns("parameters", parameters_, parameters.cols());
  Matrix<double> result(parameters.rows(), outcomes_);
  for_each_noise(result.rows(), seed, kTaskOutcome, iteration,
                 [&](Eigen::Index i, const Noise& noise) {
                   place_outcome(row_of(parameters, i), noise, row_of(result, i));
                 });
  return result;
}

Vector<double> Task::prior_log_prob(const MatrixView<double>& parameters) const {
  require_columns("parameters", parameters_, parameters.cols());
  Vector<double> result(parameters.rows());
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    const Row parameter = row_of(parameters, i);
    result[i] = penalty(parameter);
    if (result[i] == 0) result[i] = prior(parameter);
  }
  return result;
}

Vector<double> Task::log_likelihood(const MatrixView<double>& parameters,
                                    const MatrixView<double>& outcomes) const {
  require_columns("parameters", parameters_, parameters.cols());
  require_columns("outcomes", outcomes_, outcomes.cols());
  if (outcomes.rows() != parameters.rows()) {
    throw std::invalid_argument(
        fmt::format("outcomes: expected {} rows, as many as parameters, got {}", parameters.rows(),
                    outcomes.rows()));
  }
  Vector<double> result(parameters.rows());
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    const Row parameter = row_of(parameters, i);
    const Row outcome = row_of(outcomes, i);
    result[i] = penalty(parameter) + penalty(outcome);
    if (result[i] == 0) result[i] = likelihood(parameter, outcome);
  }
  return result;
}

void Task::require_observation(const VectorView<double>& observation) const {
  if (observation.size() != outcomes_) {
    throw std::invalid_argument(
        fmt::format("observation: expected {} numbers, got {}", outcomes_, observation.size()));
  }
  if (!observation.allFinite()) {
    throw std::invalid_argument(fmt::format("observation: expected finite numbers, got ({})",
                                            fmt::join(row_of(observation), ", ")));
  }
}

double Task::log_evidence(const VectorView<double>& observation) const {
  require_observation(observation);
  return evidence(row_of(observation));
}

double Task::require_evidence(const VectorView<double>& observation) const {
  const double result = log_evidence(observation);
  if (std::isfinite(result)) return result;
  throw std::invalid_argument(
      fmt::format("observation: expected an outcome that {} can have, got ({})", name_,
                  fmt::join(row_of(observation), ", ")));
}

Vector<double> Task::posterior_log_prob(const MatrixView<double>& parameters,
                                        const VectorView<double>& observation) const {
  const double log_evidence = require_evidence(observation);
  const Matrix<double> outcomes = observation.transpose().replicate(parameters.rows(), 1);
  return prior_log_prob(parameters) + log_likelihood(parameters, outcomes) -
         Vector<double>::Constant(parameters.rows(), log_evidence);
}

Matrix<double> Task::sample_posterior(Eigen::Index rows, const VectorView<double>& observation,
                                      std::uint64_t seed) const {
  require_rows(rows);
  require_evidence(observation);
  const Eigen::Index limit = kFreeCandidates + kCandidatesPerRow * rows;
  Matrix<double> result(rows, parameters_);
  Eigen::Index accepted = 0;
  // Whole blocks, each with its own iteration: rows of the generator repeat after 2^32.
  for (Eigen::Index block = 0; accepted < rows; ++block) {
    if (block * kBlock >= limit) {
      throw std::runtime_error(
          fmt::format("sample_posterior: got {} of {} rows from {} candidates (acceptance rate "
                      "{:.2g}); {} hardly ever has the outcome ({})",
                      accepted, rows, block * kBlock,
                      static_cast<double>(accepted) / static_cast<double>(block * kBlock), name_,
                      fmt::join(row_of(observation), ", ")));
    }
    for_each_noise(kBlock, seed, kTaskPosterior, static_cast<std::uint64_t>(block),
                   [&](Eigen::Index, const Noise& noise) {
                     if (accepted == rows) return;
                     accepted +=
                         place_posterior(row_of(observation), noise, row_of(result, accepted));
                   });
  }
  return result;
}

ParameterRange Task::posterior_range(const VectorView<double>& observation) const {
  require_observation(observation);
  return range_given(row_of(observation));
}

std::vector<std::string> task_names() {
  return {"two_moons", "gaussian_mixture", "gaussian_mixture_sbibm", "linear_gaussian"};
}

std::unique_ptr<Task> make_task(const std::string& name, Eigen::Index dimension) {
  if (name == "two_moons") return make_two_moons(name);
  if (name == "gaussian_mixture") return make_gaussian_mixture(name, 0.5, 1);
  if (name == "gaussian_mixture_sbibm") return make_gaussian_mixture(name, -10, 10);
  if (name == "linear_gaussian") return make_linear_gaussian(name, dimension);
  throw std::invalid_argument(
      fmt::format("task: expected one of {}, got '{}'", fmt::join(task_names(), ", "), name));
}

}  // namespace jeffreys
