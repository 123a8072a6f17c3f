#include "train/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "base/checks.h"
#include "base/stopwatch.h"
#include "train/warm_start.h"

namespace jeffreys {
namespace {

constexpr std::int64_t kHistoryLength = 1000;
constexpr std::int64_t kGoodStateEvery = 200;
// Checkpoints take at most this share of the time.
constexpr double kCheckpointShare = 0.03;

template <typename T>
void require_rows(const char* name, const Matrix<T>& rows, Eigen::Index columns) {
  if (rows.cols() != columns) {
    throw std::invalid_argument(
        fmt::format("{}: expected {} columns, got {}", name, columns, rows.cols()));
  }
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    if (!rows.row(i).allFinite()) {
      throw std::invalid_argument(fmt::format("{}: row {} is not finite", name, i));
    }
  }
}

template <typename T>
void require_weights(const char* name, const Vector<T>& weights, Eigen::Index rows) {
  if (weights.size() == 0) return;
  check_size(name, weights.size(), rows);
  if (weights.allFinite() && weights.minCoeff() >= 0 && weights.maxCoeff() > 0) return;
  throw std::invalid_argument(
      fmt::format("{}: expected finite numbers that are not negative, and not all 0", name));
}

// What is empty need not have the right shape.
template <typename T>
void require_context(const char* name, Matrix<T>& context, Eigen::Index rows,
                     Eigen::Index columns) {
  if (columns == 0 || (rows == 0 && context.size() == 0)) context.resize(rows, columns);
  if (context.rows() != rows) {
    throw std::invalid_argument(
        fmt::format("{}: expected {} rows, got {}", name, rows, context.rows()));
  }
  require_rows(name, context, columns);
}

// Whether the multipliers can learn from a step. Raw zeta may be infinite: they bring it back.
bool measured(const StepRecord& record) {
  const Terms& d = record.divergences;
  return std::isfinite(d.forward) && std::isfinite(d.reverse) && std::isfinite(d.proxy) &&
         std::isfinite(record.log_zeta) &&
         std::none_of(record.constraints.begin(), record.constraints.end(),
                      [](const ConstraintRecord& c) { return std::isnan(c.level); });
}

std::vector<double> levels_of(const StepRecord& record) {
  std::vector<double> levels;
  for (const ConstraintRecord& constraint : record.constraints) levels.push_back(constraint.level);
  return levels;
}

template <typename T>
TrainingData<T> checked(TrainingData<T> data, const Density<T>& main) {
  if (data.x.rows() == 0) throw std::invalid_argument("data.x: expected at least 1 row, got 0");
  require_rows("data.x", data.x, main.features());
  if (data.validation_x.rows() == 0) data.validation_x.resize(0, main.features());
  require_rows("data.validation_x", data.validation_x, main.features());
  const Eigen::Index columns = main.context_features();
  require_context("data.context", data.context, data.x.rows(), columns);
  require_context("data.validation_context", data.validation_context, data.validation_x.rows(),
                  columns);
  require_weights("data.weights", data.weights, data.x.rows());
  check_at_least("data.validation_points", data.validation_points, 1);
  require_weights("data.validation_weights", data.validation_weights,
                  data.validation_x.rows() / data.validation_points);
  if (data.validation_log_weights.size() > 0) {
    check_size("data.validation_log_weights", data.validation_log_weights.size(),
               data.validation_x.rows());
  }
  return data;
}

}  // namespace

template <typename T>
TrainingRun<T>::TrainingRun(Density<T>& main, UnnormalizedDensity<T>* proxy, TrainingData<T> data,
                            const TrainOptions& options)
    : options_((options.validate(), options)),
      data_(checked(std::move(data), main)),
      main_(main),
      proxy_(proxy),
      batches_(data_, options.batch_size, options.seed),
      main_update_(main, options.optimizer, options.averaging),
      likelihood_step_(main, options),
      constraints_(proxy != nullptr ? options.constraints(proxy->normalized())
                                    : std::vector<Constraint>()),
      ascent_(options, constraints_),
      selection_(main, proxy, data_, options) {
  check();
  if (proxy_ != nullptr) {
    proxy_update_.emplace(*proxy_, options.optimizer, options.averaging);
    dual_step_.emplace(main_, *proxy_, options, constraints_);
  }
}

template <typename T>
void TrainingRun<T>::check() const {
  if (needs_proxy(options_.method) != (proxy_ != nullptr)) {
    throw std::invalid_argument(
        proxy_ == nullptr ? "proxy: the dual, fixed-epsilon and weighted methods need one, got none"
                          : "proxy: expected none for a likelihood method, got one");
  }
  if (proxy_ == nullptr && !options_.requirements.empty()) {
    throw std::invalid_argument(
        "requirements: expected none for a likelihood method, which has no constraints");
  }
  if (proxy_ == nullptr) return;
  if (proxy_->features() != main_.features() ||
      proxy_->context_features() != main_.context_features()) {
    throw std::invalid_argument(
        fmt::format("proxy: expected {} features and {} context features as in main, got {} and {}",
                    main_.features(), main_.context_features(), proxy_->features(),
                    proxy_->context_features()));
  }
  if (proxy_->normalized()) return;
  const ZetaOptions& zeta = options_.zeta;
  if (main_.context_features() > 0) {
    if (zeta.estimator == ZetaEstimator::shared && zeta.samples_per_condition < 2) {
      throw std::invalid_argument(fmt::format(
          "zeta.samples_per_condition: expected at least 2 where a condition's zeta comes from the "
          "samples of its reverse KL (zeta.estimator = shared), got {}",
          zeta.samples_per_condition));
    }
    if (zeta.refresh > 1) {
      throw std::invalid_argument(
          fmt::format("zeta.refresh: expected 1 for a conditional model (each condition has its "
                      "own zeta), got {}",
                      zeta.refresh));
    }
  }
  if (zeta.refresh > 1 && zeta.estimator != ZetaEstimator::separate) {
    throw std::invalid_argument(
        fmt::format("zeta.refresh: expected 1 unless zeta has samples of its own "
                    "(zeta.estimator = separate), got {}",
                    zeta.refresh));
  }
}

template <typename T>
void TrainingRun<T>::start() {
  if (started_) return;
  started_ = true;
  if (proxy_ == nullptr || proxy_->normalized() || options_.warm_start == 0) return;
  const Eigen::Index rows = options_.batch_size > 0 ? std::min(options_.batch_size, data_.x.rows())
                                                    : std::min<Eigen::Index>(data_.x.rows(), 1000);
  // Its moments must not freeze the first steps of training.
  ModelUpdate<T> update(*proxy_, options_.optimizer, 0);
  warm_start<T>(main_, *proxy_, update, data_.context, rows, options_);
  proxy_update_.emplace(*proxy_, options_.optimizer, options_.averaging);
}

template <typename T>
double TrainingRun<T>::schedule_factor() const {
  const ScheduleOptions& s = options_.schedule;
  if (iteration_ <= s.warm_up) {
    return static_cast<double>(iteration_) / static_cast<double>(s.warm_up);
  }
  if (s.kind == Schedule::constant) return 1;
  const auto length =
      static_cast<double>(std::max<std::int64_t>(options_.iterations - s.warm_up, 1));
  const double passed = std::min(static_cast<double>(iteration_ - 1 - s.warm_up) / length, 1.0);
  return s.final_share + (1 - s.final_share) * 0.5 * (1 + std::cos(std::numbers::pi * passed));
}

template <typename T>
std::map<std::string, double> TrainingRun<T>::multipliers() const {
  std::map<std::string, double> all;
  for (std::size_t k = 0; k < constraints_.size(); ++k) {
    all[constraints_[k].name] = ascent_.multipliers()[k];
  }
  return all;
}

template <typename T>
StepRecord TrainingRun<T>::step(const GivenNoise<T>* noise) {
  start();
  batches_.move_to(iteration_);
  ++iteration_;
  StepRecord record;
  record.iteration = iteration_;
  if (proxy_ != nullptr) {
    dual_step_->compute(batches_.x(), batches_.context(), iteration_, ascent_.multipliers(),
                        main_update_.clear_gradient(), proxy_update_->clear_gradient(), record,
                        noise, batches_.weights());
  } else {
    likelihood_step_.compute(batches_.x(), batches_.context(), iteration_,
                             main_update_.clear_gradient(), record, batches_.weights());
  }
  update(record);
  return record;
}

template <typename T>
void TrainingRun<T>::update(StepRecord& record) {
  Stopwatch watch;
  record.main_gradient_norm = main_update_.gradient_norm();
  bool finite =
      std::isfinite(record.main_gradient_norm) && std::isfinite(record.divergences.forward);
  bool levels_finite = false;
  if (proxy_ != nullptr) {
    record.proxy_gradient_norm = proxy_update_->gradient_norm();
    levels_finite = measured(record);
    finite = finite && levels_finite && std::isfinite(record.proxy_gradient_norm);
  }
  record.skipped = !finite;
  if (finite) {
    if (iteration_ == 1 || iteration_ % kGoodStateEvery == 0) {
      good_main_ = take_snapshot(main_);
      if (proxy_ != nullptr) good_proxy_ = take_snapshot(*proxy_);
    }
    const double factor = schedule_factor();
    main_update_.apply(options_.learning_rate.main * factor, record.main_gradient_norm);
    if (proxy_ != nullptr) {
      proxy_update_->apply(options_.learning_rate.proxy * factor, record.proxy_gradient_norm);
    }
  }
  // Where only a gradient was too large the multipliers go on: they are what brings it back.
  if (levels_finite) ascent_.update(levels_of(record));
  skipped_in_a_row_ = finite ? 0 : skipped_in_a_row_ + 1;
  result_.skipped += finite ? 0 : 1;
  record.times.update = watch.lap();
}

template <typename T>
TrainResult TrainingRun<T>::run(TrainObserver* observer) {
  TrainObserver silent;
  TrainObserver& watcher = observer != nullptr ? *observer : silent;
  const Stopwatch watch;
  std::optional<StopReason> reason;
  if (iteration_ >= options_.iterations) reason = StopReason::finished;
  while (!reason) {
    const StepRecord record = step();
    result_.seconds = seconds_before_ + watch.read();
    after_step(record, watcher);
    reason = reason_to_stop(watcher);
    if (!reason) save_if_due();
  }
  result_.seconds = seconds_before_ + watch.read();
  if (!options_.checkpoint.path.empty()) {
    save(options_.checkpoint.path);
    ++result_.checkpoints;
  }
  finish(*reason);
  seconds_before_ = result_.seconds;
  return result_;
}

template <typename T>
void TrainingRun<T>::with_averaged(const std::function<void()>& f) {
  if (main_update_.average().empty()) return;
  const AveragedWeights<T> main(main_, main_update_.average());
  std::optional<AveragedWeights<T>> proxy;
  if (proxy_ != nullptr) proxy.emplace(*proxy_, proxy_update_->average());
  f();
}

template <typename T>
void TrainingRun<T>::after_step(const StepRecord& record, TrainObserver& observer) {
  const std::int64_t every = options_.record_every > 0
                                 ? options_.record_every
                                 : std::max<std::int64_t>(options_.iterations / kHistoryLength, 1);
  if (iteration_ == 1 || iteration_ % every == 0 || record.skipped) {
    result_.history.push_back(record);
  }
  observer.on_step(record);
  if (has_validation() && !record.skipped &&
      (iteration_ % options_.validation.every == 0 || iteration_ == options_.iterations)) {
    evaluate(observer);
  }
}

template <typename T>
void TrainingRun<T>::evaluate(TrainObserver& observer) {
  const Evaluation evaluation =
      selection_.evaluate(iteration_, main_update_, proxy_update_ ? &*proxy_update_ : nullptr);
  result_.evaluations.push_back(evaluation);
  observer.on_evaluation(evaluation);
}

template <typename T>
std::optional<StopReason> TrainingRun<T>::reason_to_stop(TrainObserver& observer) const {
  if (skipped_in_a_row_ >= options_.max_skipped) return StopReason::diverged;
  if (iteration_ >= options_.iterations) return StopReason::finished;
  if (has_validation() && options_.validation.patience > 0) {
    const std::int64_t best = selection_.last_improvement();
    if (iteration_ - best >= options_.validation.patience_after(best)) return StopReason::patience;
  }
  if (options_.time_limit > 0 && result_.seconds >= options_.time_limit) {
    return StopReason::time_limit;
  }
  if (observer.should_stop()) return StopReason::interrupted;
  return std::nullopt;
}

template <typename T>
void TrainingRun<T>::save_if_due() {
  if (options_.checkpoint.path.empty()) return;
  const double pause = std::max(options_.checkpoint.seconds, save_cost_ / kCheckpointShare);
  if (result_.seconds - last_save_ < pause) return;
  const Stopwatch watch;
  save(options_.checkpoint.path);
  ++result_.checkpoints;
  save_cost_ = watch.read();
  last_save_ = result_.seconds;
}

template <typename T>
void TrainingRun<T>::finish(StopReason reason) {
  result_.stop_reason = reason;
  result_.iterations = iteration_;
  result_.multipliers = multipliers();
  result_.main = selection_.main();
  result_.proxy = selection_.proxy();
  if (reason == StopReason::interrupted) return;
  if (selection_.main().iteration > 0) {
    selection_.restore_best();
  } else if (reason == StopReason::diverged) {
    if (!good_main_.empty()) restore(good_main_, main_);
    if (proxy_ != nullptr && !good_proxy_.empty()) restore(good_proxy_, *proxy_);
  }
}

template class TrainingRun<float>;
template class TrainingRun<double>;

}  // namespace jeffreys
