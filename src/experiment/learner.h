// What learns step by step and can be measured on the way: the trainer, or a WGAN.
#pragma once

#include <functional>

#include "experiment/workload.h"

namespace jeffreys::experiment {

class Learner {
 public:
  Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  virtual ~Learner() = default;

  virtual void step() = 0;
  [[nodiscard]] virtual std::int64_t iteration() const = 0;
  // Too many steps in a row were not finite.
  [[nodiscard]] virtual bool diverged() const = 0;

  // The models as they are now; valid until the next step.
  [[nodiscard]] virtual Models models() = 0;
  // Calls f with the averaged weights, if there are any.
  virtual void with_averaged(const std::function<void(const Models&)>&) {}
  // About the last step: multipliers, losses, importance weights.
  [[nodiscard]] virtual Numbers numbers() const = 0;

  virtual void save(const std::filesystem::path& path) const = 0;
  // Goes on bit for bit.
  virtual void resume(const std::filesystem::path& path) = 0;
};

[[nodiscard]] std::unique_ptr<Learner> make_learner(const Job& job, const Workload& workload);

// Whether the module that trains WGANs is there.
[[nodiscard]] bool can_train_wgan();
[[nodiscard]] std::unique_ptr<Learner> make_wgan_learner(const Job& job, const Workload& workload);

}  // namespace jeffreys::experiment
