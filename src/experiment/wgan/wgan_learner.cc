// The WGAN as a learner: the module that wgan_module.cc loads.
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "experiment/learner.h"
#include "jeffreys/fit/models.h"
#include "jeffreys/torch/wgan.h"

namespace jeffreys::experiment {
namespace {

WganOptions options_of(const Job& job) {
  const TrainOptions& train = job.options.train;
  return {.batch_size = train.batch_size,
          .seed = job.seed,
          .critic_steps = job.wgan->critic_steps,
          .penalty = job.wgan->penalty,
          .learning_rate_generator = train.learning_rate.main,
          .learning_rate_critic = train.learning_rate.proxy,
          .beta1 = train.optimizer.beta1,
          .beta2 = train.optimizer.beta2,
          .weight_decay = train.optimizer.weight_decay,
          .clip_norm = train.optimizer.clip_norm};
}

// The model itself, of the one kind that a WGAN can use.
template <typename Kind, typename Owned>
Kind taken(Owned model, const char* expected) {
  if (auto* kind = dynamic_cast<Kind*>(&*model)) return std::move(*kind);
  throw std::invalid_argument(fmt::format("{} for a WGAN", expected));
}

class WganLearner final : public Learner {
 public:
  WganLearner(const Job& job, const Workload& workload)
      : max_skipped_(job.options.train.max_skipped),
        generator_(taken<SplineFlow<float>>(
            make_main_model(job.options, {workload.rows().x.cols()}), "main: expected flow")),
        critic_(taken<ResidualEnergy<float>>(
            make_proxy_model(job.options, {workload.rows().x.cols()}), "proxy: expected energy")),
        trainer_(generator_, critic_, workload.rows().x, options_of(job)) {}

  void step() override { record_ = trainer_.step(); }
  [[nodiscard]] std::int64_t iteration() const override { return trainer_.iteration(); }
  [[nodiscard]] bool diverged() const override {
    return trainer_.skipped_in_a_row() >= max_skipped_;
  }
  // The critic is no density that could be measured.
  [[nodiscard]] Models models() override { return {generator_, nullptr, iteration()}; }

  [[nodiscard]] Numbers numbers() const override {
    return {{"loss.critic", record_.critic_loss},
            {"loss.generator", record_.generator_loss},
            {"loss.wasserstein", record_.wasserstein},
            {"gradient_norm.main", record_.generator_gradient_norm},
            {"gradient_norm.critic", record_.critic_gradient_norm}};
  }

  void save(const std::filesystem::path& path) const override { trainer_.save(path); }
  void resume(const std::filesystem::path& path) override { trainer_.resume(path); }

 private:
  std::int64_t max_skipped_;
  SplineFlow<float> generator_;
  ResidualEnergy<float> critic_;
  WganTrainer<float> trainer_;
  WganRecord record_;
};

}  // namespace
}  // namespace jeffreys::experiment

extern "C" __attribute__((visibility("default"))) jeffreys::experiment::Learner*
jeffreys_make_wgan_learner(const jeffreys::experiment::Job& job,
                           const jeffreys::experiment::Workload& workload) {
  return new jeffreys::experiment::WganLearner(job, workload);
}
