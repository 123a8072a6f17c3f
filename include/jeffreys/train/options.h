// Settings of a training run. Defaults are the paper's settings for density estimation (appendix
// "Density estimation"), full batch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "jeffreys/objective/constraint.h"

namespace jeffreys {

enum class Method {
  dual,           // the paper's: main and proxy model under constraints, adaptive multipliers
  fixed_epsilon,  // P:proxy: both KLs are minimised while the proxy's NLL is at most epsilon
  weighted,       // P-W: the same terms with fixed weights
  mle,            // maximum likelihood
  mle_noise,      // on data with normal noise added anew in each step
  mle_entropy,    // with a term that favours entropy
};

// Whether the method trains a proxy model beside the main model.
[[nodiscard]] constexpr bool needs_proxy(Method method) {
  return method == Method::dual || method == Method::fixed_epsilon || method == Method::weighted;
}

enum class MultiplierOptimizer {
  adamw,  // "optimizer step": the reading of the paper's Algorithm 3
  sgd,    // plain ascent: its Algorithm 1
  exact,  // the KL multipliers jump to where their constraints are at rest; zeta's follow AdamW
};

struct LearningRate {
  double main = 1e-3;
  double proxy = 1e-4;
  double multipliers = 1e-4;
  double zeta = 1e-3;  // of the two multipliers of the normalisation constraints
};

// A factor on the learning rates of both models.
enum class Schedule { constant, cosine };
struct ScheduleOptions {
  Schedule kind = Schedule::constant;
  std::int64_t warm_up = 0;  // iterations in which the rate grows linearly from 0
  double final_share = 0.0;  // cosine: where the factor ends
};

struct OptimizerOptions {
  double beta1 = 0.0;
  double beta2 = 0.9;
  double weight_decay = 1e-2;
  double clip_norm = 0;  // largest norm of a model's gradient; 0: no limit
};

// Which samples of the main model zeta comes from. The gradient of log zeta is carried by the
// samples of the reverse KL in all of them.
enum class ZetaEstimator {
  // The samples of the reverse KL themselves: the importance weights then have the mean 1, and the
  // proxy is evaluated once.
  shared,
  // Those of the reverse KL and M more: the expected mean of the weights is 1.
  pooled,
  // M separate samples, as the paper writes it. In the mean 1 / zeta is then too large, the more so
  // the smaller M is, and the gradient lowers f everywhere by as much.
  separate
};

struct ZetaOptions {
  ZetaEstimator estimator = ZetaEstimator::shared;
  Eigen::Index samples = 1000;  // M; a shared estimate has as many as the batch has rows
  // M of each condition. Shared: the samples of the reverse KL for each row of the batch.
  Eigen::Index samples_per_condition = 5;
  std::int64_t refresh = 1;  // iterations for which log zeta is kept; with separate samples only
};

struct ValidationOptions {
  std::int64_t every = 25;    // iterations
  std::int64_t patience = 0;  // stop after so many iterations without improvement; 0: never
  // Stop earlier: when the iterations without improvement are this many times those that the best
  // state took, and at least 1,000; 0: no.
  double relative_patience = 0;
  // Samples of the main model for the NLL of an energy proxy: in all, or for each condition.
  Eigen::Index zeta_samples = 2000;
  Eigen::Index zeta_samples_per_condition = 64;

  // Iterations without improvement that end training if the best state is that of iteration `best`.
  [[nodiscard]] std::int64_t patience_after(std::int64_t best) const;
};

struct CheckpointOptions {
  std::filesystem::path path = {};  // empty: none
  double seconds = 5;               // between two checkpoints; longer if writing one is slow
};

struct TrainOptions {
  Method method = Method::dual;
  std::int64_t iterations = 25000;
  Eigen::Index batch_size = 0;  // 0: all rows in every iteration
  std::uint64_t seed = 0;
  LearningRate learning_rate = {};
  ScheduleOptions schedule = {};
  OptimizerOptions optimizer = {};
  double averaging = 0;  // decay of exponential weight averaging of both models; 0: none

  // Of the methods with a proxy. With Method::weighted the multipliers are the weights and stay as
  // they are.
  Multipliers multipliers = {};
  std::optional<double> epsilon = {};         // fixed_epsilon: what the proxy's NLL may be at most
  std::vector<Constraint> requirements = {};  // h of the paper: see requirement()
  MultiplierOptimizer multiplier_optimizer = MultiplierOptimizer::adamw;
  DualSettings dual = {};
  ZetaOptions zeta = {};
  std::int64_t warm_start = 0;  // steps that bring f close to log p before training begins

  double noise = 0.1;           // mle_noise: standard deviation
  double entropy_weight = 0.1;  // mle_entropy

  ValidationOptions validation = {};
  CheckpointOptions checkpoint = {};
  double time_limit = 0;          // seconds; 0: none
  std::int64_t max_skipped = 25;  // non-finite steps in a row after which training has diverged
  std::int64_t record_every = 0;  // iterations between two entries of the history; 0: about 1000

  // The list of the constraints. Throws std::invalid_argument for a fixed epsilon that was not
  // given.
  [[nodiscard]] std::vector<Constraint> constraints(bool normalized_proxy) const;

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;
};

}  // namespace jeffreys
