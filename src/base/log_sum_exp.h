#pragma once

#include <limits>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

// log(sum(exp(row))) of each row; a row that is minus infinity throughout stays so.
template <typename T>
[[nodiscard]] Vector<T> log_sum_exp_of_rows(const Matrix<T>& rows) {
  const Vector<T> top = rows.rowwise().maxCoeff().cwiseMax(std::numeric_limits<T>::lowest());
  return top.array() + (rows.colwise() - top).array().exp().rowwise().sum().log();
}

}  // namespace jeffreys
