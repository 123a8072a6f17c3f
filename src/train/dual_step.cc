#include "train/dual_step.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/stopwatch.h"
#include "jeffreys/base/random_purpose.h"
#include "jeffreys/objective/importance.h"

namespace jeffreys {
namespace {

std::span<const double> as_span(const Vector<double>& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

}  // namespace

template <typename T>
DualStep<T>::DualStep(const Density<T>& main, UnnormalizedDensity<T>& proxy,
                      const TrainOptions& options, const std::vector<Constraint>& constraints)
    : main_(main),
      proxy_(proxy),
      constraints_(constraints),
      settings_(options.dual),
      zeta_(options.zeta),
      seed_(options.seed) {}

template <typename T>
void DualStep<T>::compute(const MatrixView<T>& x, const MatrixView<T>& context,
                          std::int64_t iteration, std::span<const double> multipliers,
                          std::span<T> main_gradient, std::span<T> proxy_gradient,
                          StepRecord& record, const GivenNoise<T>* noise,
                          const Vector<T>& row_weights) {
  Stopwatch watch;
  draw_reverse_samples(x, context, iteration, noise);
  record.times.sampling = watch.lap();
  proxy_.advance_state();
  if (!proxy_.normalized() && zeta_.estimator != ZetaEstimator::shared) {
    draw_zeta_samples(context, iteration, record, noise);
  }
  record.times.zeta = watch.lap();

  const ScoreWeights weights = total_weights(constraints_, multipliers);
  const auto constant = [&, rows = x.rows()](double weight) -> Vector<T> {
    const auto each = static_cast<T>(weight / static_cast<double>(rows));
    if (row_weights.size() > 0) return each * row_weights;
    return Vector<T>::Constant(rows, each);
  };
  const Vector<double> proxy_data =
      proxy_.add_scores(x, context, constant(weights.proxy_data), proxy_gradient)
          .template cast<double>();
  const Vector<double> proxy_samples =
      add_proxy_sample_scores(context, weights, proxy_gradient, record).template cast<double>();
  const Vector<double> main_data =
      main_.add_scores(x, context, constant(weights.main_data), main_gradient)
          .template cast<double>();
  const Vector<double> main_samples = samples_.log_prob.template cast<double>();

  const auto weighted = [&](const Vector<double>& log_densities) -> Vector<double> {
    if (row_weights.size() == 0) return log_densities;
    return log_densities.cwiseProduct(row_weights.template cast<double>());
  };
  const Vector<double> weighted_main = weighted(main_data);
  const Vector<double> weighted_proxy = weighted(proxy_data);
  const BatchValues values{weighted_main, main_samples, weighted_proxy, proxy_samples, log_zeta_};
  record.log_zeta = zeta_level(log_zeta_, settings_);
  record.log_zeta_lowest = log_zeta_.minCoeff();
  record.log_zeta_highest = log_zeta_.maxCoeff();
  record.divergences = divergences(values);
  Vector<double> main_weights = main_sample_weights(values, weights, settings_);
  record_constraints({record.divergences, record.log_zeta}, multipliers, main_weights, record);
  record.balance =
      balance(record.constraint("forward").multiplier, record.constraint("reverse").multiplier);
  main_.add_sample_scores(samples_, main_weights.template cast<T>(), main_gradient);
  record.times.scores = watch.lap();
}

// A statistic is evaluated here, once, for its level and for the weights of its gradient.
template <typename T>
void DualStep<T>::record_constraints(const BatchMeasures& measures,
                                     std::span<const double> multipliers,
                                     Vector<double>& main_weights, StepRecord& record) const {
  for (std::size_t k = 0; k < constraints_.size(); ++k) {
    const Constraint& constraint = constraints_[k];
    ConstraintRecord of{.name = constraint.name, .multiplier = multipliers[k]};
    if (constraint.statistic) {
      Vector<double> values = constraint.statistic(samples_.x.template cast<double>());
      if (values.size() != main_weights.size()) {
        throw std::invalid_argument(
            fmt::format("{}: expected a number for each of {} samples, got {}", constraint.name,
                        main_weights.size(), values.size()));
      }
      of.level = values.mean();
      main_weights += multipliers[k] * statistic_sample_weights(std::move(values));
    } else {
      of.level = constraint.level(measures);
    }
    const Slack slack = constraint.slack == SlackRule::adaptive ? closed_form_slack(of.multiplier)
                                                                : Slack{constraint.bound, 0};
    of.epsilon = slack.epsilon;
    of.delta = slack.delta;
    of.residual = multiplier_gradient(constraint, of.level, of.multiplier);
    record.constraints.push_back(std::move(of));
  }
}

template <typename T>
void DualStep<T>::draw_reverse_samples(const MatrixView<T>& x, const MatrixView<T>& context,
                                       std::int64_t iteration, const GivenNoise<T>* noise) {
  if (noise != nullptr) {
    main_.sample_from_noise(noise->reverse, context, samples_, KeepTape::yes);
    return;
  }
  // Sample m of condition i is row m * conditions + i: the conditions repeat.
  const bool several = conditional_energy() && zeta_.estimator == ZetaEstimator::shared;
  main_.sample((several ? zeta_.samples_per_condition : 1) * x.rows(), context,
               {seed_, kReverseSamples, static_cast<std::uint64_t>(iteration)}, samples_,
               KeepTape::yes);
}

template <typename T>
void DualStep<T>::draw_zeta_samples(const MatrixView<T>& context, std::int64_t iteration,
                                    StepRecord& record, const GivenNoise<T>* noise) {
  const bool separate = zeta_.estimator == ZetaEstimator::separate;
  if (separate && log_zeta_.size() > 0 && (iteration - 1) % zeta_.refresh != 0) return;
  const Eigen::Index rows =
      conditional_energy() ? zeta_.samples_per_condition * context.rows() : zeta_.samples;
  const MatrixView<T> given = conditional_energy() ? context : MatrixView<T>(Matrix<T>());
  if (noise != nullptr) {
    main_.sample_from_noise(noise->zeta, given, zeta_samples_);
  } else {
    main_.sample(rows, given, {seed_, kZetaSamples, static_cast<std::uint64_t>(iteration)},
                 zeta_samples_);
  }
  zeta_log_weights_ = (proxy_.log_unnormalized(zeta_samples_.x, given) - zeta_samples_.log_prob)
                          .template cast<double>();
  if (!separate) return;
  estimate_zeta(zeta_log_weights_, conditional_energy() ? context.rows() : 1, record);
  // As in PyTorch's training mode, where each evaluation takes a step of power iteration.
  proxy_.advance_state();
}

template <typename T>
void DualStep<T>::estimate_zeta(const Vector<double>& log_weights, Eigen::Index conditions,
                                StepRecord& record) {
  const ImportanceEstimate estimate =
      conditions == 1 ? importance_estimate(as_span(log_weights))
                      : importance_within_conditions(as_span(log_weights), conditions);
  log_zeta_ = conditions == 1 ? Vector<double>::Constant(1, estimate.log_zeta)
                              : log_zeta_by_condition(as_span(log_weights), conditions);
  record.effective_sample_size = estimate.effective_sample_size;
  record.pareto_k = estimate.pareto_k;
}

template <typename T>
Vector<T> DualStep<T>::add_proxy_sample_scores(const MatrixView<T>& context,
                                               const ScoreWeights& weights, std::span<T> gradient,
                                               StepRecord& record) {
  const Eigen::Index samples = samples_.x.rows();
  if (proxy_.normalized()) {
    log_zeta_ = Vector<double>::Zero(1);
    const double weight = weights.proxy_samples / static_cast<double>(samples);
    return proxy_.add_scores(samples_.x, context,
                             Vector<T>::Constant(samples, static_cast<T>(weight)).eval(), gradient);
  }
  const auto weight_of = [&](Eigen::Index row, T f) {
    return static_cast<T>(
        proxy_sample_weight(static_cast<double>(samples_.log_prob(row)), static_cast<double>(f),
                            log_zeta_(row % log_zeta_.size()), weights, settings_, samples));
  };
  if (zeta_.estimator == ZetaEstimator::separate) {
    const auto of_tile = [&](Eigen::Index first, std::span<const T> values, std::span<T> out) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = weight_of(first + static_cast<Eigen::Index>(i), values[i]);
      }
    };
    return proxy_.add_scores(samples_.x, context, WeightFunction<T>(of_tile), gradient);
  }
  const auto of_batch = [&](const Vector<T>& values, Vector<T>& out) {
    const Vector<double> own = (values - samples_.log_prob).template cast<double>();
    Vector<double> all(own.size() + zeta_log_weights_.size());
    all << own, zeta_log_weights_;  // none of the latter where samples are shared
    estimate_zeta(all, conditional_energy() ? context.rows() : 1, record);
    for (Eigen::Index row = 0; row < values.size(); ++row) out(row) = weight_of(row, values(row));
  };
  return proxy_.add_scores_of_batch(samples_.x, context, of_batch, gradient);
}

template class DualStep<float>;
template class DualStep<double>;

}  // namespace jeffreys
