// Two-dimensional sources whose densities are known: what a fit can be measured against.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// A part of the plane that holds nearly all of a source's mass: for pictures and for integrals.
struct PlaneRange {
  double x_min = 0;
  double x_max = 0;
  double y_min = 0;
  double y_max = 0;
};

// A node of a quadrature along a line.
struct GridNode {
  double place = 0;
  double weight = 0;
};

// The Gaussians of a mixture with equal weights.
struct Modes {
  Matrix<double> centers = {};  // [modes, 2]; empty for a source that is no mixture
  double deviation = 0;         // of each
};

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  virtual std::string name() const = 0;
  Eigen::Index features() const { return 2; }

  // [rows, 2]: independent draws, the same for the same seed and iteration on every machine up to
  // rounding. The first rows of a larger sample are a smaller one.
  Matrix<double> sample(Eigen::Index rows, std::uint64_t seed, std::uint64_t iteration = 0) const;

  // Log density of each row of x [rows, 2]: minus infinity outside the support (only "rings" has an
  // outside), not a number where x is.
  Vector<double> log_prob(const MatrixView<double>& x) const;

  // Minus the expected log density, in nats, by quadrature on a grid. The error is below 1e-6, for
  // "rings" below 1e-4. The spiral takes seconds; every call computes it anew.
  double entropy() const;

  // The range that holds all of the mass but 1e-9.
  virtual PlaneRange range() const = 0;

  virtual Modes modes() const { return {}; }

 private:
  // Moves rows of uniform [rows, 2] and normal [rows, 2] numbers to the source.
  virtual void place(const Matrix<double>& uniform, const Matrix<double>& normal,
                     Matrix<double>& x) const = 0;
  virtual double log_density(double x, double y) const = 0;
  // Places and weights along one axis with which the integral of the entropy has converged.
  virtual std::vector<GridNode> grid_line(double from, double to) const = 0;
};

// The names of all sources, in the order of the paper's figure, then the others.
//   ring           8 Gaussians on a circle of radius sqrt(2), deviation 0.05
//   grid           5 x 5 Gaussians from -sqrt(2) to sqrt(2), deviation 0.05
//   moons          two half circles with normal noise 0.05
//   spiral         (t cos t, t sin t) / 4, t uniform in (0, 10), with normal noise 0.02 / 4
//   rings          circles of radius 0.2 and 0.6 with noise uniform in (0, 0.1)^2
//   gmm40          40 Gaussians with centres uniform in the unit square, deviation 0.05
//   two_gaussians  at (-1, 0) and (1, 0), deviation 0.25
std::vector<std::string> source_names();

// Paper: appendices "Density estimation" and "Comparison on 40-component Gaussian mixture".
// `layout_seed` places the centres of "gmm40"; the others have none to place and ignore it. Throws
// std::invalid_argument for an unknown name, listing the known ones.
std::unique_ptr<Source> make_source(const std::string& name, std::uint64_t layout_seed = 0);

}  // namespace jeffreys
