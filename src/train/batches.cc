#include "train/batches.h"

#include <algorithm>
#include <numeric>

#include "base/shuffle.h"
#include "jeffreys/base/random_purpose.h"

namespace jeffreys {

template <typename T>
Batches<T>::Batches(const TrainingData<T>& data, Eigen::Index batch_size, std::uint64_t seed)
    : data_(data),
      full_(batch_size <= 0 || batch_size >= data.x.rows()),
      batch_size_(full_ ? data.x.rows() : batch_size),
      seed_(seed) {
  order_.resize(static_cast<std::size_t>(data.x.rows()));
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (data.weights.size() > 0) all_weights_ = data.weights / data.weights.mean();
}

template <typename T>
void Batches<T>::move_to(std::int64_t iteration) {
  if (full_ && !data_.redraw) return;
  const Eigen::Index rows = data_.x.rows();
  const Eigen::Index batches = (rows + batch_size_ - 1) / batch_size_;
  if (!full_ && iteration / batches != epoch_) begin_epoch(iteration / batches);
  const Eigen::Index first = iteration % batches * batch_size_;
  const Eigen::Index count = std::min(batch_size_, rows - first);
  const std::span<const std::size_t> drawn(order_.data() + first, static_cast<std::size_t>(count));
  x_ = data_.x(drawn, Eigen::all);
  if (!full_) context_ = data_.context(drawn, Eigen::all);
  if (!full_ && all_weights_.size() > 0) weights_ = all_weights_(drawn);
  if (data_.redraw) data_.redraw(iteration, drawn, x_);
}

template <typename T>
void Batches<T>::begin_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  shuffle(order_, {seed_, kShuffle, static_cast<std::uint64_t>(epoch)});
}

template class Batches<float>;
template class Batches<double>;

}  // namespace jeffreys
