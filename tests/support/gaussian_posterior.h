// A simulator with an exact posterior, and posteriors that are wrong in a known way: parameters are
// standard normal, an outcome is its parameter plus standard normal noise, so that a parameter is
// normal around half the outcome with variance 1/2.
#pragma once

#include <cmath>

#include "jeffreys/evaluate/posterior_ranks.h"
#include "kernels/random.h"

namespace jeffreys::testing {

inline Matrix<double> normals(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed,
                              std::uint16_t purpose, std::uint64_t iteration = 0) {
  Matrix<double> filled(rows, columns);
  kernels::fill_normals(kernels::RandomArguments<double>{{seed, purpose, iteration},
                                                         0,
                                                         static_cast<std::size_t>(rows),
                                                         static_cast<std::size_t>(columns),
                                                         filled.data()});
  return filled;
}

struct GaussianCase {
  Eigen::Index parameters = 2;
  Eigen::Index simulations = 300;
  Eigen::Index samples = 60;
  double width = 1;  // deviation of the posterior, in exact ones
  double shift = 0;  // of its first parameter, in exact deviations
  std::uint64_t seed = 1;
};

inline PosteriorRanks gaussian_ranks(const GaussianCase& of) {
  const Matrix<double> truth = normals(of.simulations, of.parameters, of.seed, 0);
  const Matrix<double> outcomes = truth + normals(of.simulations, of.parameters, of.seed, 1);
  const double deviation = of.width * std::sqrt(0.5);
  const auto draw = [&](Eigen::Index i) {
    const Matrix<double> noise =
        normals(of.samples, of.parameters, of.seed, 2, static_cast<std::uint64_t>(i));
    Eigen::RowVectorXd mean = 0.5 * outcomes.row(i);
    mean[0] += of.shift * std::sqrt(0.5);
    const Eigen::RowVectorXd residual = (truth.row(i) - mean) / deviation;
    return PosteriorDraws{.samples = (deviation * noise).rowwise() + mean,
                          .sample_log_prob = -0.5 * noise.rowwise().squaredNorm(),
                          .parameter_log_prob = -0.5 * residual.squaredNorm()};
  };
  return rank_posteriors(truth, draw, of.seed);
}

}  // namespace jeffreys::testing
