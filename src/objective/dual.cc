#include "jeffreys/objective/dual.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace jeffreys {
namespace {

void require_positive(const char* name, double value) {
  if (!(value > 0) || !std::isfinite(value)) {
    throw std::invalid_argument(fmt::format("{}: expected a positive number, got {}", name, value));
  }
}

double mean_log_zeta(const BatchValues& values) { return values.log_zeta.mean(); }

}  // namespace

void DualSettings::validate() const {
  require_positive("level_scale", level_scale);
  require_positive("reverse_scale", reverse_scale);
  if (!std::isfinite(level_offset)) {
    throw std::invalid_argument(
        fmt::format("level_offset: expected a finite number, got {}", level_offset));
  }
  if (!(zeta_slack >= 0)) {
    throw std::invalid_argument(
        fmt::format("zeta_slack: expected a number that is not negative, got {}", zeta_slack));
  }
}

Terms divergences(const BatchValues& v) {
  const double log_zeta = mean_log_zeta(v);
  return {.forward = -v.main_data.mean(),
          .reverse = (v.main_samples - v.proxy_samples).mean() + log_zeta,
          .proxy = -v.proxy_data.mean() + log_zeta};
}

Terms constraint_levels(const Terms& d, const DualSettings& s) {
  return {.forward = s.level_scale * (d.forward - s.level_offset),
          .reverse = s.reverse_scale * d.reverse,
          .proxy = s.level_scale * (d.proxy - s.level_offset)};
}

double log_mean_zeta(const VectorView<double>& log_zeta) {
  const double top = log_zeta.maxCoeff<Eigen::PropagateNaN>();
  if (!std::isfinite(top)) return top;
  return top + std::log((log_zeta.array() - top).exp().mean());
}

double lagrangian(const Terms& levels, double zeta, const Slack& slack, const Multipliers& m,
                  const DualSettings& s) {
  const auto term = [](double level, double epsilon, double delta, double multiplier) {
    return epsilon * epsilon - delta + multiplier * (level - epsilon + delta * delta);
  };
  return term(levels.forward, slack.epsilon.forward, slack.delta.forward, m.forward) +
         term(levels.reverse, slack.epsilon.reverse, slack.delta.reverse, m.reverse) +
         term(levels.proxy, slack.epsilon.proxy, slack.delta.proxy, m.proxy) +
         m.zeta_lower * (1 - zeta) + m.zeta_upper * (zeta - 1 - s.zeta_slack);
}

Multipliers multiplier_gradient(const Terms& levels, double zeta, const Multipliers& m,
                                const DualSettings& s) {
  const Terms residual = multiplier_residual(levels, m);
  return {.forward = residual.forward,
          .reverse = residual.reverse,
          .proxy = residual.proxy,
          .zeta_lower = 1 - zeta,
          .zeta_upper = zeta - 1 - s.zeta_slack};
}

double main_data_weight(const Multipliers& m, const DualSettings& s, Eigen::Index rows) {
  return -m.forward * s.level_scale / static_cast<double>(rows);
}

double proxy_data_weight(const Multipliers& m, const DualSettings& s, Eigen::Index rows) {
  return -m.proxy * s.level_scale / static_cast<double>(rows);
}

Vector<double> main_sample_weights(const BatchValues& v, const Multipliers& m,
                                   const DualSettings& s) {
  const auto rows = static_cast<double>(v.main_samples.size());
  Vector<double> log_ratio = v.main_samples - v.proxy_samples;
  if (v.log_zeta.size() == 1) {
    log_ratio.array() += v.log_zeta(0);
  } else {
    log_ratio += v.log_zeta;
  }
  if (s.reverse_estimator == ReverseEstimator::leave_one_out && rows > 1) {
    // a_i - mean of the others = (a_i - mean) rows / (rows - 1)
    log_ratio = (log_ratio.array() - log_ratio.mean()) * (rows / (rows - 1));
  }
  return log_ratio * (m.reverse * s.reverse_scale / rows);
}

double proxy_sample_weight(double log_p, double f, double log_zeta, const Multipliers& m,
                           const DualSettings& s, Eigen::Index rows) {
  const double reverse = m.reverse * s.reverse_scale;
  const double log_weight = f - log_p;
  // In log space: zeta and the weight alone may overflow where their ratio does not.
  const double normalized = (reverse + m.proxy * s.level_scale) * std::exp(log_weight - log_zeta);
  const double difference = m.zeta_upper - m.zeta_lower;
  const double raw = difference == 0 ? 0 : difference * std::exp(log_weight);
  return (normalized + raw - reverse) / static_cast<double>(rows);
}

double normalized_proxy_sample_weight(const Multipliers& m, const DualSettings& s,
                                      Eigen::Index rows) {
  return -m.reverse * s.reverse_scale / static_cast<double>(rows);
}

}  // namespace jeffreys
