// Which rows each iteration sees: all of them, or consecutive parts of an order that is drawn anew
// for every epoch.
#pragma once

#include <cstdint>
#include <vector>

#include "jeffreys/train/trainer.h"

namespace jeffreys {

template <typename T>
class Batches {
 public:
  // The data outlive this. batch_size 0 or beyond the rows: full batch.
  Batches(const TrainingData<T>& data, Eigen::Index batch_size, std::uint64_t seed);

  // Makes iteration's rows (counted from 0) the current ones. The last batch of an epoch holds what
  // is left.
  void move_to(std::int64_t iteration);

  [[nodiscard]] const Matrix<T>& x() const { return full_ && !data_.redraw ? data_.x : x_; }
  [[nodiscard]] const Matrix<T>& context() const { return full_ ? data_.context : context_; }
  // Of mean 1 over all rows; none where all rows count the same.
  [[nodiscard]] const Vector<T>& weights() const { return full_ ? all_weights_ : weights_; }

 private:
  void begin_epoch(std::int64_t epoch);

  const TrainingData<T>& data_;
  bool full_;
  Eigen::Index batch_size_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;
  std::vector<std::size_t> order_;
  Matrix<T> x_;
  Matrix<T> context_;
  Vector<T> all_weights_;
  Vector<T> weights_;
};

extern template class Batches<float>;
extern template class Batches<double>;

}  // namespace jeffreys
