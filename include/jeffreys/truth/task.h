// Simulators whose posteriors are known: what simulation-based inference can be measured against.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// A part of the parameters' space, one lower and one upper end for each parameter.
struct ParameterRange {
  Vector<double> lower;
  Vector<double> upper;
};

// A prior over parameters and a simulator that turns parameters into outcomes. Densities of rows
// that are not numbers are not numbers; infinite rows have the log density minus infinity.
class Task {
 public:
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;

  const std::string& name() const { return name_; }
  Eigen::Index parameters() const { return parameters_; }
  Eigen::Index outcomes() const { return outcomes_; }
  // "parameter_1", "parameter_2", ... and "outcome_1", "outcome_2", ...
  std::vector<std::string> parameter_names() const;
  std::vector<std::string> outcome_names() const;

  // [rows, parameters]: independent draws, the same for the same seed and iteration on every
  // machine up to rounding. The first rows of a larger sample are a smaller one.
  Matrix<double> sample_prior(Eigen::Index rows, std::uint64_t seed,
                              std::uint64_t iteration = 0) const;

  // One outcome [rows, outcomes] for each row of parameters [rows, parameters], with noise that is
  // independent of a prior sample with the same seed and iteration.
  Matrix<double> simulate(const MatrixView<double>& parameters, std::uint64_t seed,
                          std::uint64_t iteration = 0) const;

  // Log density of each row of parameters [rows, parameters]; minus infinity outside the support.
  Vector<double> prior_log_prob(const MatrixView<double>& parameters) const;

  // Log density of each row of outcomes [rows, outcomes] given the same row of parameters
  // [rows, parameters].
  Vector<double> log_likelihood(const MatrixView<double>& parameters,
                                const MatrixView<double>& outcomes) const;

  // The outcome [outcomes] on which the paper conditions its comparison.
  virtual Vector<double> observation() const = 0;

  // Log density of an outcome [outcomes] under prior and simulator: closed form, for "two_moons" by
  // quadrature, with an error below 1e-6 unless the prior cuts off all but 1e-4 of the crescents.
  // Minus infinity where the density is 0 in double precision.
  double log_evidence(const VectorView<double>& observation) const;

  // Normalised log density of each row of parameters [rows, parameters] given the observation
  // [outcomes]: prior + likelihood - evidence. Throws std::invalid_argument for an observation
  // without evidence.
  Vector<double> posterior_log_prob(const MatrixView<double>& parameters,
                                    const VectorView<double>& observation) const;

  // [rows, parameters]: independent exact draws given the observation [outcomes]. The first rows of
  // a larger sample are a smaller one. Throws std::invalid_argument for an observation without
  // evidence. Draws of "two_moons" outside the prior's support are rejected; throws
  // std::runtime_error with the acceptance rate if 1,000,000 + 1000 x rows candidates do not
  // suffice.
  Matrix<double> sample_posterior(Eigen::Index rows, const VectorView<double>& observation,
                                  std::uint64_t seed) const;

  // All mass but 1e-9 lies inside.
  virtual ParameterRange prior_range() const = 0;
  ParameterRange posterior_range(const VectorView<double>& observation) const;

 protected:
  using Row = std::span<const double>;

  // Independent numbers for one draw, max(parameters, outcomes) + 1 of each kind.
  struct Noise {
    Row uniform;  // in (0, 1)
    Row normal;
  };

  Task(std::string name, Eigen::Index parameters, Eigen::Index outcomes);

 private:
  virtual void place_prior(const Noise& noise, std::span<double> parameter) const = 0;
  virtual void place_outcome(Row parameter, const Noise& noise,
                             std::span<double> outcome) const = 0;
  // False if the candidate is to be rejected.
  virtual bool place_posterior(Row observation, const Noise& noise,
                               std::span<double> parameter) const = 0;
  // Logarithms, for finite rows.
  virtual double prior(Row parameter) const = 0;
  virtual double likelihood(Row parameter, Row outcome) const = 0;
  virtual double evidence(Row observation) const = 0;
  virtual ParameterRange range_given(Row observation) const = 0;

  void require_observation(const VectorView<double>& observation) const;
  // The logarithm, if it is finite.
  double require_evidence(const VectorView<double>& observation) const;
  // Draws noise and calls use(row, noise) for rows 0, 1, ...
  template <typename Use>
  void for_each_noise(Eigen::Index rows, std::uint64_t seed, std::uint16_t purpose,
                      std::uint64_t iteration, const Use& use) const;

  std::string name_;
  Eigen::Index parameters_;
  Eigen::Index outcomes_;
};

// The names of all tasks, those of the paper first.
//   two_moons               prior uniform in [-1, 1]^2; the posterior is two crescents
//   gaussian_mixture        prior uniform in [0.5, 1]^2; normal noise, with even chances of
//                           deviation 1 or 0.1
//   gaussian_mixture_sbibm  the same simulator; prior uniform in [-10, 10]^2, as in the sbibm
//                           benchmark, whose two_moons is the paper's
//   linear_gaussian         prior normal with variance 0.1, normal noise of variance 0.1, as in
//                           sbibm's gaussian_linear
std::vector<std::string> task_names();

// Paper: appendix "Simulation-based inference". `dimension` is the number of parameters and of
// outcomes of "linear_gaussian"; the others have two and ignore it. Throws std::invalid_argument
// for an unknown name, listing the known ones.
std::unique_ptr<Task> make_task(const std::string& name, Eigen::Index dimension = 10);

}  // namespace jeffreys
