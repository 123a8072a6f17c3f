// A strong density for small tables that anyone can fit: a mixture of Gaussians with full
// covariances by expectation maximisation; validation rows say how many and when to stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

struct MixtureComponent {
  double weight = 1;
  Vector<double> mean;
  Matrix<double> factor;  // lower Cholesky factor of the covariance
};

struct MixtureOptions {
  std::size_t least_components = 1;  // the search for their number begins here
  std::size_t most_components = 64;
  std::size_t starts = 3;  // for each number of components
  std::uint64_t seed = 0;
  // Called between the steps of the fit; what it throws ends it. May be empty.
  std::function<void()> on_step = {};

  void validate() const;
};

class MixtureBaseline {
 public:
  // Fits 1, 2, 3, 4, 6, 8, 12, 16, ... components to training [rows, features] and keeps those
  // under which validation [rows, features] is likeliest; stops at most_components, at a component
  // for every two rows, or when two numbers in a row have not helped. Every covariance gets 1e-6 of
  // the column's variance on the diagonal. The same arguments give the same mixture. Throws
  // std::invalid_argument for no rows, no columns, or values that are not finite. weights: how much
  // each row counts, in any unit; none: all the same.
  MixtureBaseline(const MatrixView<double>& training, const MatrixView<double>& validation,
                  const MixtureOptions& options = {},
                  const VectorView<double>& weights = Vector<double>(),
                  const VectorView<double>& validation_weights = Vector<double>());

  // The same by cross-validation: parts[i] is the part of row i of x, and rows of a part are judged
  // by mixtures of the others. The number of components, the number of steps and what is added to
  // the variances (from 1e-6 to 0.1 of the column's) are those that judge best, and the mixture is
  // then fitted to all rows. Throws also if there are fewer than two parts.
  MixtureBaseline(const MatrixView<double>& x, std::span<const std::size_t> parts,
                  const MixtureOptions& options);

  // NaN for a row that is not finite.
  [[nodiscard]] Vector<double> log_prob(const MatrixView<double>& x) const;

  // [rows, features]; the first rows of a larger sample are a smaller one.
  [[nodiscard]] Matrix<double> sample(Eigen::Index rows, std::uint64_t seed) const;

  [[nodiscard]] const std::vector<MixtureComponent>& components() const { return components_; }

 private:
  // From standardised rows to the caller's units.
  void set_components(std::vector<MixtureComponent> components, const Eigen::RowVectorXd& mean,
                      const Eigen::RowVectorXd& deviation);

  std::vector<MixtureComponent> components_;
};

}  // namespace jeffreys
