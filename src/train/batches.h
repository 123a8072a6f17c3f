// Which rows each iteration sees: all of them, or consecutive parts of an order that is drawn anew
// for every epoch.
#pragma once

#include <cstdint>
#include <vector>

#include "jeffreys/base/matrix.h"

namespace jeffreys {

template <typename T>
class Batches {
 public:
  // The matrices outlive this. batch_size 0 or beyond the rows: full batch.
  Batches(const Matrix<T>& x, const Matrix<T>& context, Eigen::Index batch_size,
          std::uint64_t seed);

  // Makes iteration's rows (counted from 0) the current ones. The last batch of an epoch holds what
  // is left.
  void move_to(std::int64_t iteration);

  [[nodiscard]] const Matrix<T>& x() const { return full_ ? all_x_ : x_; }
  [[nodiscard]] const Matrix<T>& context() const { return full_ ? all_context_ : context_; }

 private:
  void begin_epoch(std::int64_t epoch);

  const Matrix<T>& all_x_;
  const Matrix<T>& all_context_;
  bool full_;
  Eigen::Index batch_size_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;
  std::vector<Eigen::Index> order_;
  Matrix<T> x_;
  Matrix<T> context_;
};

extern template class Batches<float>;
extern template class Batches<double>;

}  // namespace jeffreys
