// Wasserstein GAN with gradient penalty, the paper's adversarial baseline ("Comparison with WGANs"
// and appendix "GMM40"): a flow as generator against a residual network as critic. One iteration:
//   critic_steps times, for data rows x and samples y of the generator:
//     critic loss = mean critic(y) - mean critic(x) + penalty * mean (|grad critic(mid)| - 1)^2
//     with mid = u x + (1 - u) y, one u ~ U(0, 1) for each row; AdamW step of the critic
//   generator loss = -mean critic(y) for new samples y; AdamW step of the generator
// critic(x) is its log_unnormalized(x). It takes one power iteration before each evaluation: of x
// and y together, of mid, and of the generator's samples.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "jeffreys/base/matrix.h"
#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/spline_flow.h"

namespace jeffreys {

struct WganOptions {
  // Rows of each loss; 0: all rows in every step. Otherwise each critic step draws its rows anew,
  // with replacement.
  Eigen::Index batch_size = 0;
  std::uint64_t seed = 0;
  int critic_steps = 5;
  double penalty = 0.1;
  double learning_rate_generator = 1e-5;
  double learning_rate_critic = 1e-5;
  double beta1 = 0.0;
  double beta2 = 0.9;
  double weight_decay = 1e-4;
  double clip_norm = 5.0;  // largest norm of each model's gradient; 0: no limit

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;
};

// Before the updates; what belongs to the critic is of the iteration's last critic step.
struct WganRecord {
  std::int64_t iteration = 0;  // from 1
  double critic_loss = 0;
  double generator_loss = 0;
  double wasserstein = 0;           // mean critic(data) - mean critic(samples)
  double penalty = 0;               // mean (|grad critic(mid)| - 1)^2
  double critic_gradient_norm = 0;  // before clipping
  double generator_gradient_norm = 0;
  bool skipped = false;  // something was not finite: both models stay as before the iteration
};

template <typename T>
class WganRun;

template <typename T>
class WganTrainer {
 public:
  // The models are trained in place, without context, and outlive the trainer: after each step()
  // they hold the current weights. data: [rows, features]. Throws std::invalid_argument where
  // models, data and options do not fit together, or a row is not finite.
  WganTrainer(SplineFlow<T>& generator, ResidualEnergy<T>& critic, Matrix<T> data,
              const WganOptions& options);
  ~WganTrainer();
  WganTrainer(const WganTrainer&) = delete;
  WganTrainer& operator=(const WganTrainer&) = delete;

  WganRecord step();
  [[nodiscard]] std::int64_t iteration() const;
  // Iterations up to now that were skipped, without a good one between them.
  [[nodiscard]] std::int64_t skipped_in_a_row() const;

  // The whole state in a file, replaced atomically. resume() continues bit for bit where libtorch
  // runs with as many threads; it throws InputError, and changes nothing, for a file of another
  // run: other data, models or options.
  void save(const std::filesystem::path& path) const;
  void resume(const std::filesystem::path& path);

 private:
  std::unique_ptr<WganRun<T>> run_;
};

extern template class WganTrainer<float>;
extern template class WganTrainer<double>;

}  // namespace jeffreys
