#include "jeffreys/train/trainer.h"

#include "train/training_run.h"

namespace jeffreys {

template <typename T>
Trainer<T>::Trainer(Density<T>& main, UnnormalizedDensity<T>* proxy, TrainingData<T> data,
                    const TrainOptions& options)
    : run_(std::make_unique<TrainingRun<T>>(main, proxy, std::move(data), options)) {}

template <typename T>
Trainer<T>::~Trainer() = default;

template <typename T>
StepRecord Trainer<T>::step() {
  return run_->step();
}
template <typename T>
std::int64_t Trainer<T>::iteration() const {
  return run_->iteration();
}
template <typename T>
std::int64_t Trainer<T>::skipped_in_a_row() const {
  return run_->skipped_in_a_row();
}
template <typename T>
std::map<std::string, double> Trainer<T>::multipliers() const {
  return run_->multipliers();
}
template <typename T>
void Trainer<T>::with_averaged(const std::function<void()>& f) {
  run_->with_averaged(f);
}
template <typename T>
TrainResult Trainer<T>::run(TrainObserver* observer) {
  return run_->run(observer);
}
template <typename T>
void Trainer<T>::save(const std::filesystem::path& path) const {
  run_->save(path);
}
template <typename T>
void Trainer<T>::resume(const std::filesystem::path& path) {
  run_->resume(path);
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace jeffreys
