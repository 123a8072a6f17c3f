#include "jeffreys/torch/wgan.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <string_view>

#include "torch/wgan_run.h"

namespace jeffreys {
namespace {

template <typename Value>
void require(bool holds, std::string_view field, std::string_view expected, Value actual) {
  if (holds) return;
  throw std::invalid_argument(
      fmt::format("WganOptions.{}: expected {}, got {}", field, expected, actual));
}

void not_negative(std::string_view field, double value) {
  require(value >= 0 && std::isfinite(value), field, "a number that is not negative", value);
}

void below_one(std::string_view field, double value) {
  require(value >= 0 && value < 1, field, "a number from 0 to below 1", value);
}

}  // namespace

void WganOptions::validate() const {
  require(batch_size >= 0, "batch_size", "at least 0", batch_size);
  require(critic_steps >= 1, "critic_steps", "at least 1", critic_steps);
  not_negative("penalty", penalty);
  not_negative("learning_rate_generator", learning_rate_generator);
  not_negative("learning_rate_critic", learning_rate_critic);
  below_one("beta1", beta1);
  below_one("beta2", beta2);
  not_negative("weight_decay", weight_decay);
  not_negative("clip_norm", clip_norm);
}

template <typename T>
WganTrainer<T>::WganTrainer(SplineFlow<T>& generator, ResidualEnergy<T>& critic, Matrix<T> data,
                            const WganOptions& options)
    : run_(std::make_unique<WganRun<T>>(generator, critic, std::move(data), options)) {}

template <typename T>
WganTrainer<T>::~WganTrainer() = default;

template <typename T>
WganRecord WganTrainer<T>::step() {
  return run_->step();
}
template <typename T>
std::int64_t WganTrainer<T>::iteration() const {
  return run_->iteration();
}
template <typename T>
std::int64_t WganTrainer<T>::skipped_in_a_row() const {
  return run_->skipped_in_a_row();
}
template <typename T>
void WganTrainer<T>::save(const std::filesystem::path& path) const {
  run_->save(path);
}
template <typename T>
void WganTrainer<T>::resume(const std::filesystem::path& path) {
  run_->resume(path);
}

template class WganTrainer<float>;
template class WganTrainer<double>;

}  // namespace jeffreys
