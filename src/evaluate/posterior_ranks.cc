#include "jeffreys/evaluate/posterior_ranks.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/checks.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"

namespace jeffreys {
namespace {

constexpr Eigen::Index kFewestSimulations = 10;

Matrix<double> uniforms(std::uint64_t seed, std::uint16_t purpose, Eigen::Index rows,
                        Eigen::Index columns) {
  Matrix<double> filled(rows, columns);
  kernels::fill_uniforms(kernels::RandomArguments<double>{{seed, purpose, 0},
                                                          0,
                                                          static_cast<std::size_t>(rows),
                                                          static_cast<std::size_t>(columns),
                                                          filled.data()});
  return filled;
}

// How many values are smaller; among equal ones any place is as likely.
template <typename Values>
int rank_of(double value, const Values& values, double uniform) {
  const auto smaller = (values.array() < value).count();
  const auto equal = static_cast<double>((values.array() == value).count());
  return static_cast<int>(smaller) + static_cast<int>(uniform * (equal + 1));
}

void check_parameters(const MatrixView<double>& parameters) {
  check_at_least("rows of parameters", parameters.rows(), kFewestSimulations);
  check_at_least("columns of parameters", parameters.cols(), 1);
  if (!parameters.allFinite()) {
    throw std::invalid_argument("parameters: expected finite values, got NaN or infinity");
  }
  for (Eigen::Index c = 0; c < parameters.cols(); ++c) {
    if (parameters.col(c).minCoeff() == parameters.col(c).maxCoeff()) {
      throw std::invalid_argument(
          fmt::format("parameters: expected draws of a prior, got the same value in all rows of "
                      "column {}",
                      c));
    }
  }
}

[[noreturn]] void refuse(Eigen::Index simulation, const std::string& problem) {
  throw std::invalid_argument(fmt::format("draws of simulation {}: {}", simulation, problem));
}

void check_draws(const PosteriorDraws& draws, Eigen::Index simulation, Eigen::Index samples,
                 Eigen::Index parameters) {
  if (draws.samples.rows() != samples || draws.samples.cols() != parameters) {
    refuse(simulation, fmt::format("expected samples of shape {} x {}, got {} x {}", samples,
                                   parameters, draws.samples.rows(), draws.samples.cols()));
  }
  if (draws.sample_log_prob.size() != samples) {
    refuse(simulation, fmt::format("expected {} log densities of samples, got {}", samples,
                                   draws.sample_log_prob.size()));
  }
  if (draws.samples.hasNaN()) refuse(simulation, "expected samples that are numbers, got NaN");
  if (draws.sample_log_prob.hasNaN() || std::isnan(draws.parameter_log_prob)) {
    refuse(simulation, "expected log densities that are numbers, got NaN");
  }
}

// Distances from random points, in units of the true parameters' deviations.
class ReferencePoints {
 public:
  ReferencePoints(const MatrixView<double>& parameters, std::uint64_t seed)
      : points_(uniforms(seed, kReferencePoint, parameters.rows(), parameters.cols())) {
    const Eigen::RowVectorXd lowest = parameters.colwise().minCoeff();
    const Eigen::RowVectorXd widths = parameters.colwise().maxCoeff() - lowest;
    points_ = (points_.array().rowwise() * widths.array()).rowwise() + lowest.array();
    const Eigen::RowVectorXd mean = parameters.colwise().mean();
    scale_ = (parameters.rowwise() - mean).colwise().norm().cwiseInverse() *
             std::sqrt(static_cast<double>(parameters.rows()));
  }

  // Squared distances of rows of x from the point of a simulation.
  Vector<double> distances(Eigen::Index simulation, const MatrixView<double>& x) const {
    return ((x.rowwise() - points_.row(simulation)).array().rowwise() * scale_.array())
        .square()
        .rowwise()
        .sum();
  }

 private:
  Matrix<double> points_;
  Eigen::RowVectorXd scale_;
};

}  // namespace

PosteriorRanks rank_posteriors(const MatrixView<double>& parameters,
                               const std::function<PosteriorDraws(Eigen::Index simulation)>& draw,
                               std::uint64_t seed) {
  check_parameters(parameters);
  const Eigen::Index simulations = parameters.rows();
  const Eigen::Index columns = parameters.cols();
  const ReferencePoints references(parameters, seed);
  const Matrix<double> ties = uniforms(seed, kTies, simulations, columns + 2);
  PosteriorRanks ranks{.parameter = Matrix<int>(simulations, columns), .seed = seed};
  for (Eigen::Index i = 0; i < simulations; ++i) {
    const PosteriorDraws draws = draw(i);
    if (i == 0) {
      check_between("samples of each posterior", draws.samples.rows(), 1,
                    std::numeric_limits<int>::max() - 1);
      ranks.samples = static_cast<int>(draws.samples.rows());
    }
    check_draws(draws, i, ranks.samples, columns);
    for (Eigen::Index c = 0; c < columns; ++c) {
      ranks.parameter(i, c) = rank_of(parameters(i, c), draws.samples.col(c), ties(i, c));
    }
    ranks.density.push_back(
        rank_of(-draws.parameter_log_prob, -draws.sample_log_prob, ties(i, columns)));
    const double distance = references.distances(i, parameters.row(i))[0];
    ranks.distance.push_back(
        rank_of(distance, references.distances(i, draws.samples), ties(i, columns + 1)));
  }
  return ranks;
}

}  // namespace jeffreys
