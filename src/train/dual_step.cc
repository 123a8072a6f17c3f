#include "train/dual_step.h"

#include <cmath>

#include "jeffreys/objective/importance.h"
#include "train/random_purpose.h"
#include "train/stopwatch.h"

namespace jeffreys {

template <typename T>
DualStep<T>::DualStep(const Density<T>& main, UnnormalizedDensity<T>& proxy,
                      const TrainOptions& options)
    : main_(main),
      proxy_(proxy),
      settings_(options.dual),
      zeta_(options.zeta),
      seed_(options.seed) {}

template <typename T>
void DualStep<T>::compute(const MatrixView<T>& x, const MatrixView<T>& context,
                          std::int64_t iteration, const Multipliers& multipliers,
                          std::span<T> main_gradient, std::span<T> proxy_gradient,
                          StepRecord& record, const GivenNoise<T>* noise) {
  Stopwatch watch;
  draw_reverse_samples(x, context, iteration, noise);
  record.times.sampling = watch.lap();
  estimate_zeta(context, iteration, record, noise);
  record.times.zeta = watch.lap();

  const Eigen::Index rows = x.rows();
  const auto constant = [rows](double weight) {
    return Vector<T>::Constant(rows, static_cast<T>(weight)).eval();
  };
  const Vector<double> proxy_data =
      proxy_
          .add_scores(x, context, constant(proxy_data_weight(multipliers, settings_, rows)),
                      proxy_gradient)
          .template cast<double>();
  const Vector<double> proxy_samples =
      add_proxy_sample_scores(context, multipliers, proxy_gradient).template cast<double>();
  const Vector<double> main_data =
      main_
          .add_scores(x, context, constant(main_data_weight(multipliers, settings_, rows)),
                      main_gradient)
          .template cast<double>();
  const Vector<double> main_samples = samples_.log_prob.template cast<double>();

  const BatchValues values{main_data, main_samples, proxy_data, proxy_samples, log_zeta_};
  main_.add_sample_scores(samples_,
                          main_sample_weights(values, multipliers, settings_).template cast<T>(),
                          main_gradient);
  record.divergences = divergences(values);
  record.levels = constraint_levels(record.divergences, settings_);
  record.multipliers = multipliers;
  record.slack = closed_form_slack(multipliers);
  record.residual = multiplier_residual(record.levels, multipliers);
  record.balance = balance(multipliers);
  record.times.scores = watch.lap();
}

template <typename T>
void DualStep<T>::draw_reverse_samples(const MatrixView<T>& x, const MatrixView<T>& context,
                                       std::int64_t iteration, const GivenNoise<T>* noise) {
  if (noise != nullptr) {
    main_.sample_from_noise(noise->reverse, context, samples_, KeepTape::yes);
  } else {
    main_.sample(x.rows(), context, {seed_, kReverseSamples, static_cast<std::uint64_t>(iteration)},
                 samples_, KeepTape::yes);
  }
}

template <typename T>
void DualStep<T>::estimate_zeta(const MatrixView<T>& context, std::int64_t iteration,
                                StepRecord& record, const GivenNoise<T>* noise) {
  if (proxy_.normalized()) {
    log_zeta_ = Vector<double>::Zero(1);
    proxy_.advance_state();
    return;
  }
  const bool refresh = log_zeta_.size() == 0 || (iteration - 1) % zeta_.refresh == 0;
  if (refresh) {
    proxy_.advance_state();
    Vector<double> log_weights = draw_log_weights(context, iteration, noise);
    const std::span<const double> weights(log_weights.data(),
                                          static_cast<std::size_t>(log_weights.size()));
    if (proxy_.context_features() > 0) {
      log_zeta_ = log_zeta_by_condition(weights, context.rows());
      // How uneven the weights are, apart from the differences between the conditions.
      log_weights -= log_zeta_.replicate(log_weights.size() / log_zeta_.size(), 1);
    }
    const ImportanceEstimate estimate = importance_estimate(weights);
    if (proxy_.context_features() == 0) log_zeta_ = Vector<double>::Constant(1, estimate.log_zeta);
    record.effective_sample_size = estimate.effective_sample_size;
    record.pareto_k = estimate.pareto_k;
  }
  record.log_zeta = log_mean_zeta(log_zeta_);
  // With shared samples the scores are of the very values that zeta came from.
  if (!zeta_.share_samples || !refresh) proxy_.advance_state();
}

template <typename T>
Vector<double> DualStep<T>::draw_log_weights(const MatrixView<T>& context, std::int64_t iteration,
                                             const GivenNoise<T>* noise) {
  const auto log_weights = [&](const Samples<T>& samples, const MatrixView<T>& c) {
    const Vector<double> f = proxy_.log_unnormalized(samples.x, c).template cast<double>();
    return (f - samples.log_prob.template cast<double>()).eval();
  };
  if (zeta_.share_samples) return log_weights(samples_, context);

  const bool conditional = proxy_.context_features() > 0;
  const Eigen::Index rows =
      conditional ? zeta_.samples_per_condition * context.rows() : zeta_.samples;
  // Sample m of condition i is row m * conditions + i: the conditions repeat.
  const MatrixView<T> given = conditional ? context : MatrixView<T>(Matrix<T>());
  if (noise != nullptr) {
    main_.sample_from_noise(noise->zeta, given, zeta_samples_);
  } else {
    main_.sample(rows, given, {seed_, kZetaSamples, static_cast<std::uint64_t>(iteration)},
                 zeta_samples_);
  }
  return log_weights(zeta_samples_, given);
}

template <typename T>
Vector<T> DualStep<T>::add_proxy_sample_scores(const MatrixView<T>& context,
                                               const Multipliers& multipliers,
                                               std::span<T> gradient) {
  const Eigen::Index rows = samples_.x.rows();
  if (proxy_.normalized()) {
    const double weight = normalized_proxy_sample_weight(multipliers, settings_, rows);
    return proxy_.add_scores(samples_.x, context,
                             Vector<T>::Constant(rows, static_cast<T>(weight)).eval(), gradient);
  }
  const double log_mean_weight = zeta_.normalize_weights ? measure_log_mean_weight(context) : 0;
  const auto weights = [&](Eigen::Index first, std::span<const T> values, std::span<T> out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Eigen::Index row = first + static_cast<Eigen::Index>(i);
      const double log_zeta = log_zeta_(log_zeta_.size() == 1 ? 0 : row) + log_mean_weight;
      out[i] = static_cast<T>(proxy_sample_weight(static_cast<double>(samples_.log_prob(row)),
                                                  static_cast<double>(values[i]), log_zeta,
                                                  multipliers, settings_, rows));
    }
  };
  return proxy_.add_scores(samples_.x, context, WeightFunction<T>(weights), gradient);
}

// The samples' weights exp(f - log p) / zeta have the mean 1 if zeta is exact. From few samples of
// their own 1 / zeta is too large on average, and by as much the gradient lowers f everywhere.
template <typename T>
double DualStep<T>::measure_log_mean_weight(const MatrixView<T>& context) const {
  const Vector<double> f = proxy_.log_unnormalized(samples_.x, context).template cast<double>();
  const Vector<double> log_weights = f - samples_.log_prob.template cast<double>() -
                                     log_zeta_.replicate(f.size() / log_zeta_.size(), 1);
  return importance_estimate({log_weights.data(), static_cast<std::size_t>(log_weights.size())})
      .log_zeta;
}

template class DualStep<float>;
template class DualStep<double>;

}  // namespace jeffreys
