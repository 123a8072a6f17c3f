#include "train/batches.h"

#include <algorithm>
#include <numeric>

#include "base/shuffle.h"
#include "jeffreys/base/random_purpose.h"

namespace jeffreys {

template <typename T>
Batches<T>::Batches(const Matrix<T>& x, const Matrix<T>& context, Eigen::Index batch_size,
                    std::uint64_t seed)
    : all_x_(x),
      all_context_(context),
      full_(batch_size <= 0 || batch_size >= x.rows()),
      batch_size_(batch_size),
      seed_(seed) {}

template <typename T>
void Batches<T>::move_to(std::int64_t iteration) {
  if (full_) return;
  const Eigen::Index rows = all_x_.rows();
  const Eigen::Index batches = (rows + batch_size_ - 1) / batch_size_;
  if (iteration / batches != epoch_) begin_epoch(iteration / batches);
  const Eigen::Index first = iteration % batches * batch_size_;
  const Eigen::Index count = std::min(batch_size_, rows - first);
  x_.resize(count, all_x_.cols());
  context_.resize(count, all_context_.cols());
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::Index row = order_[static_cast<std::size_t>(first + i)];
    x_.row(i) = all_x_.row(row);
    if (context_.cols() > 0) context_.row(i) = all_context_.row(row);
  }
}

template <typename T>
void Batches<T>::begin_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  order_.resize(static_cast<std::size_t>(all_x_.rows()));
  std::iota(order_.begin(), order_.end(), Eigen::Index{0});
  shuffle(order_, {seed_, kShuffle, static_cast<std::uint64_t>(epoch)});
}

template class Batches<float>;
template class Batches<double>;

}  // namespace jeffreys
