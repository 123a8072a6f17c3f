// The density of a posterior with two parameters on cells.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "jeffreys/sbi/posterior.h"
#include "support/quadrature.h"

namespace jeffreys::testing {

class PosteriorGrid {
 public:
  // `where` tells what the cells cover; see quadrature_cells.
  PosteriorGrid(const Posterior& posterior, const Matrix<double>& observed, const Prior& where,
                std::size_t count, double ratio, std::optional<From> from = {})
      : a_(quadrature_cells(where.parameters()[0].distribution, count, ratio)),
        b_(quadrature_cells(where.parameters()[1].distribution, count, ratio)),
        masses_(size(a_), size(b_)) {
    Matrix<double> parameters(masses_.size(), 2);
    Vector<double> areas(masses_.size());
    for (Eigen::Index i = 0; i < masses_.size(); ++i) {
      const auto j = static_cast<std::size_t>(i / size(b_));
      const auto k = static_cast<std::size_t>(i % size(b_));
      parameters.row(i) << a_.middle[j], b_.middle[k];
      areas[i] = a_.width[j] * b_.width[k];
    }
    masses_.reshaped<Eigen::RowMajor>() =
        posterior.log_prob(parameters, observed, from).array().exp() * areas.array();
  }

  double mass() const { return masses_.sum(); }

  // The largest distance between the distribution function of a parameter's samples and that of
  // the grid, whose mass is taken as 1.
  double largest_distance(const Matrix<double>& samples, Eigen::Index parameter) const {
    std::vector<double> sorted(static_cast<std::size_t>(samples.rows()));
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      sorted[i] = samples(static_cast<Eigen::Index>(i), parameter);
    }
    std::sort(sorted.begin(), sorted.end());
    const Cells& cells = parameter == 0 ? a_ : b_;
    double largest = 0;
    double below = 0;
    for (std::size_t i = 0; i < cells.middle.size(); ++i) {
      const auto place = static_cast<Eigen::Index>(i);
      below += (parameter == 0 ? masses_.row(place).sum() : masses_.col(place).sum()) / mass();
      const double edge = cells.middle[i] + cells.width[i] / 2;
      const auto count = std::upper_bound(sorted.begin(), sorted.end(), edge) - sorted.begin();
      largest = std::max(
          largest,
          std::abs(static_cast<double>(count) / static_cast<double>(sorted.size()) - below));
    }
    return largest;
  }

 private:
  static Eigen::Index size(const Cells& cells) {
    return static_cast<Eigen::Index>(cells.middle.size());
  }

  Cells a_;
  Cells b_;
  Matrix<double> masses_;
};

}  // namespace jeffreys::testing
