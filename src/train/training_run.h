// What a Trainer is made of. training_run.cc iterates it, checkpoint.cc writes and reads it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "jeffreys/train/model_update.h"
#include "jeffreys/train/trainer.h"
#include "train/batches.h"
#include "train/dual_step.h"
#include "train/likelihood_step.h"
#include "train/multiplier_ascent.h"
#include "train/selection.h"

namespace jeffreys {

template <typename T>
class TrainingRun {
 public:
  TrainingRun(Density<T>& main, UnnormalizedDensity<T>* proxy, TrainingData<T> data,
              const TrainOptions& options);

  StepRecord step(const GivenNoise<T>* noise = nullptr);
  TrainResult run(TrainObserver* observer);
  void with_averaged(const std::function<void()>& f);

  void save(const std::filesystem::path& path) const;
  void resume(const std::filesystem::path& path);

  [[nodiscard]] std::int64_t iteration() const { return iteration_; }
  [[nodiscard]] std::int64_t skipped_in_a_row() const { return skipped_in_a_row_; }
  [[nodiscard]] std::map<std::string, double> multipliers() const;
  [[nodiscard]] std::span<const T> main_gradient() const { return main_update_.gradient(); }
  [[nodiscard]] std::span<const T> proxy_gradient() const { return proxy_update_->gradient(); }

 private:
  void check() const;
  void start();
  [[nodiscard]] double schedule_factor() const;
  void update(StepRecord& record);
  void after_step(const StepRecord& record, TrainObserver& observer);
  void evaluate(TrainObserver& observer);
  [[nodiscard]] std::optional<StopReason> reason_to_stop(TrainObserver& observer) const;
  void save_if_due();
  void finish(StopReason reason);
  [[nodiscard]] bool has_validation() const { return data_.validation_x.rows() > 0; }
  [[nodiscard]] std::map<std::string, std::string> fingerprint() const;

  TrainOptions options_;
  TrainingData<T> data_;
  Density<T>& main_;
  UnnormalizedDensity<T>* proxy_;
  Batches<T> batches_;
  ModelUpdate<T> main_update_;
  std::optional<ModelUpdate<T>> proxy_update_;
  std::optional<DualStep<T>> dual_step_;
  LikelihoodStep<T> likelihood_step_;
  std::vector<Constraint> constraints_;  // none without a proxy
  MultiplierAscent ascent_;
  Selection<T> selection_;

  bool started_ = false;
  std::int64_t iteration_ = 0;
  std::int64_t skipped_in_a_row_ = 0;
  TrainResult result_;     // grows while training runs
  Snapshot<T> good_main_;  // of the last time that all was well
  Snapshot<T> good_proxy_;
  double seconds_before_ = 0;  // of the runs before a resume
  double last_save_ = 0;
  double save_cost_ = 0;
};

extern template class TrainingRun<float>;
extern template class TrainingRun<double>;

}  // namespace jeffreys
