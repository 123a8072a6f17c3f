// Kernel density estimate: a Gaussian on every training row, all of one width that validation rows
// choose.
#pragma once

#include "jeffreys/base/matrix.h"

namespace jeffreys {

class KernelBaseline {
 public:
  // training [rows, features], validation [rows, features]. The bandwidth with which validation is
  // likeliest lies between 0.001 and 10, exact to 1 %. Throws std::invalid_argument for no rows, no
  // columns, or values that are not finite.
  KernelBaseline(const MatrixView<double>& training, const MatrixView<double>& validation);

  // NaN for a row that is not finite.
  [[nodiscard]] Vector<double> log_prob(const MatrixView<double>& x) const;

  // The kernel's deviation in every column, as a multiple of the column's own.
  [[nodiscard]] double bandwidth() const { return bandwidth_; }

 private:
  Matrix<double> centers_;  // training rows divided by the kernel's deviations
  Eigen::RowVectorXd mean_;
  Eigen::RowVectorXd deviation_;  // of the kernel, for each column
  double bandwidth_ = 1;
};

}  // namespace jeffreys
