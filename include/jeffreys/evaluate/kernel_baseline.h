// Kernel density estimate: a Gaussian on every training row, all of one width that validation rows
// choose.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

class KernelBaseline {
 public:
  // training [rows, features], validation [rows, features]. The bandwidth with which validation is
  // likeliest lies between 0.001 and 10, exact to 1 %. Throws std::invalid_argument for no rows, no
  // columns, or values that are not finite.
  KernelBaseline(const MatrixView<double>& training, const MatrixView<double>& validation);

  // The same by leaving out: parts[i] is the part of row i of x, and rows of a part are judged by
  // kernels on the rows of other parts; where there are very many rows the first of them are
  // judged. Kernels are then on all rows. Throws also if there are fewer than two parts. on_step is
  // called every few milliseconds; what it throws ends the fit.
  KernelBaseline(const MatrixView<double>& x, std::span<const std::size_t> parts,
                 const std::function<void()>& on_step = {});

  // NaN for a row that is not finite.
  [[nodiscard]] Vector<double> log_prob(const MatrixView<double>& x) const;

  // The kernel's deviation in every column, as a multiple of the column's own.
  [[nodiscard]] double bandwidth() const { return bandwidth_; }

 private:
  void set(const Matrix<double>& centers, const Eigen::RowVectorXd& mean,
           const Eigen::RowVectorXd& deviation, double bandwidth);

  Matrix<double> centers_;  // training rows divided by the kernel's deviations
  Eigen::RowVectorXd mean_;
  Eigen::RowVectorXd deviation_;  // of the kernel, for each column
  double bandwidth_ = 1;
};

}  // namespace jeffreys
