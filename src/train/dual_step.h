// One iteration of alg:dual_optimization, up to the gradients of both models: sample, estimate
// zeta (ZetaEstimator says from what), and add up the weighted scores. All gradients are at the old
// point.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jeffreys/model/density.h"
#include "jeffreys/objective/constraint.h"
#include "jeffreys/train/options.h"
#include "jeffreys/train/record.h"

namespace jeffreys {

// Standard normal numbers to use in place of the run's own: for tests against other programs.
template <typename T>
struct GivenNoise {
  Matrix<T> reverse;  // [rows, features], or [K * rows, features]
  Matrix<T> zeta;     // [M, features], or [M * rows, features] with conditions
};

template <typename T>
class DualStep {
 public:
  // The constraints outlive it.
  DualStep(const Density<T>& main, UnnormalizedDensity<T>& proxy, const TrainOptions& options,
           const std::vector<Constraint>& constraints);

  // multipliers: one for each constraint. row_weights: of mean 1 over all rows of the data; none:
  // all count the same. Adds the gradients of the Lagrangian and fills the record
  // but for gradient norms and update time. Where a value is not finite the gradients may be
  // incomplete.
  void compute(const MatrixView<T>& x, const MatrixView<T>& context, std::int64_t iteration,
               std::span<const double> multipliers, std::span<T> main_gradient,
               std::span<T> proxy_gradient, StepRecord& record,
               const GivenNoise<T>* noise = nullptr, const Vector<T>& row_weights = Vector<T>());

  // For checkpoints: the estimate of zeta that is kept between refreshes.
  [[nodiscard]] const Vector<double>& log_zeta() const { return log_zeta_; }
  void set_log_zeta(Vector<double> log_zeta) { log_zeta_ = std::move(log_zeta); }

 private:
  [[nodiscard]] bool conditional_energy() const {
    return !proxy_.normalized() && proxy_.context_features() > 0;
  }
  void draw_reverse_samples(const MatrixView<T>& x, const MatrixView<T>& context,
                            std::int64_t iteration, const GivenNoise<T>* noise);
  void draw_zeta_samples(const MatrixView<T>& context, std::int64_t iteration, StepRecord& record,
                         const GivenNoise<T>* noise);
  void estimate_zeta(const Vector<double>& log_weights, Eigen::Index conditions,
                     StepRecord& record);
  Vector<T> add_proxy_sample_scores(const MatrixView<T>& context, const ScoreWeights& weights,
                                    std::span<T> gradient, StepRecord& record);
  void record_constraints(const BatchMeasures& measures, std::span<const double> multipliers,
                          Vector<double>& main_weights, StepRecord& record) const;

  const Density<T>& main_;
  UnnormalizedDensity<T>& proxy_;
  const std::vector<Constraint>& constraints_;
  DualSettings settings_;
  ZetaOptions zeta_;
  std::uint64_t seed_;
  Samples<T> samples_;               // y
  Samples<T> zeta_samples_;          // y'
  Vector<double> zeta_log_weights_;  // f(y') - log p(y')
  Vector<double> log_zeta_;          // one for each condition, or one for all
};

extern template class DualStep<float>;
extern template class DualStep<double>;

}  // namespace jeffreys
