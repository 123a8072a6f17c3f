#include "experiment/learner.h"

#include "jeffreys/fit/models.h"

namespace jeffreys::experiment {
namespace {

class TrainerLearner final : public Learner {
 public:
  TrainerLearner(const Job& job, const Workload& workload)
      : options_(job.options.train),
        main_(make_main_model(job.options,
                              {workload.rows().x.cols(), workload.rows().context.cols()})) {
    if (needs_proxy(options_.method)) {
      proxy_ = make_proxy_model(job.options, {main_->features(), main_->context_features()});
    }
    // What validation says is read off the curve, which has every model's numbers at every point.
    TrainingData<float> rows = workload.rows();
    rows.validation_x.resize(0, 0);
    rows.validation_context.resize(0, 0);
    trainer_.emplace(*main_, proxy(), std::move(rows), options_);
  }

  void step() override { record_ = trainer_->step(); }
  [[nodiscard]] std::int64_t iteration() const override { return trainer_->iteration(); }
  [[nodiscard]] bool diverged() const override {
    return trainer_->skipped_in_a_row() >= options_.max_skipped;
  }

  [[nodiscard]] Models models() override { return {*main_, proxy(), iteration()}; }
  void with_averaged(const std::function<void(const Models&)>& f) override {
    trainer_->with_averaged([&] {
      Models averaged{*main_, proxy(), iteration(), true};
      f(averaged);
    });
  }

  [[nodiscard]] Numbers numbers() const override {
    Numbers numbers;
    numbers["gradient_norm.main"] = record_.main_gradient_norm;
    numbers["loss.forward"] = record_.divergences.forward;
    if (!proxy_) return numbers;
    numbers["gradient_norm.proxy"] = record_.proxy_gradient_norm;
    numbers["loss.reverse"] = record_.divergences.reverse;
    numbers["loss.proxy"] = record_.divergences.proxy;
    numbers["log_zeta"] = record_.log_zeta;
    numbers["log_zeta_lowest"] = record_.log_zeta_lowest;
    numbers["log_zeta_highest"] = record_.log_zeta_highest;
    numbers["effective_sample_size"] = record_.effective_sample_size;
    for (const ConstraintRecord& of : record_.constraints) {
      numbers["multiplier." + of.name] = of.multiplier;
    }
    numbers["balance"] = record_.balance;
    return numbers;
  }

  void save(const std::filesystem::path& path) const override { trainer_->save(path); }
  void resume(const std::filesystem::path& path) override { trainer_->resume(path); }

 private:
  UnnormalizedDensity<float>* proxy() { return proxy_ ? &**proxy_ : nullptr; }

  TrainOptions options_;
  AnyDensity<float> main_;
  std::optional<AnyModel<float>> proxy_;
  std::optional<Trainer<float>> trainer_;
  StepRecord record_;
};

}  // namespace

std::unique_ptr<Learner> make_learner(const Job& job, const Workload& workload) {
  if (job.wgan) return make_wgan_learner(job, workload);
  return std::make_unique<TrainerLearner>(job, workload);
}

}  // namespace jeffreys::experiment
