#include "jeffreys/objective/dual.h"

#include <algorithm>
#include <cmath>

#include "jeffreys/objective/dual_options.h"

namespace jeffreys {
namespace {

// Keeps a weight so small that the squares of the gradient are finite in single precision and
// clipping can act.
constexpr double kLargestWeight = 1e14;

// How far log zeta is outside of its bounds; negative below them.
double excess(double log_zeta, const DualSettings& s) {
  const double upper = std::log1p(s.zeta_slack);
  return log_zeta > upper ? log_zeta - upper : std::min(log_zeta, 0.0);
}

// Quadratic, from a distance of 1 on linear.
double pull_cost(double log_zeta, const DualSettings& s) {
  const double distance = std::abs(excess(log_zeta, s));
  return s.zeta_pull * (distance < 1 ? distance * distance / 2 : distance - 0.5);
}

double pull_force(double log_zeta, const DualSettings& s) {
  return s.zeta_pull * std::clamp(excess(log_zeta, s), -1.0, 1.0);
}

// Less the mean of the other samples of the same condition; a_i - mean of the others is
// (a_i - mean) n / (n - 1).
void leave_one_out(Vector<double>& values, Eigen::Index conditions) {
  if (values.size() == conditions) conditions = 1;
  const Eigen::Index each = values.size() / conditions;
  if (each < 2) return;
  Eigen::Map<Matrix<double>> by_condition(values.data(), each, conditions);
  const Eigen::RowVectorXd mean = by_condition.colwise().mean();
  by_condition.rowwise() -= mean;
  values *= static_cast<double>(each) / static_cast<double>(each - 1);
}

}  // namespace

void DualSettings::validate() const {
  visit_dual_settings(*this, [](const char* key, const auto& value, const OptionRule& rule,
                                const char*) { check_option(key, value, rule); });
}

Terms divergences(const BatchValues& v) {
  const double log_zeta = v.log_zeta.mean();
  return {.forward = -v.main_data.mean(),
          .reverse = (v.main_samples - v.proxy_samples).mean() + log_zeta,
          .proxy = -v.proxy_data.mean() + log_zeta};
}

Terms constraint_levels(const Terms& d, const DualSettings& s) {
  return {.forward = s.level_scale * (d.forward - s.level_offset),
          .reverse = s.reverse_scale * d.reverse,
          .proxy = s.level_scale * (d.proxy - s.level_offset)};
}

double zeta_level(const VectorView<double>& log_zeta, const DualSettings& s) {
  if (s.zeta_constraint == ZetaConstraint::log) return log_zeta.mean();
  const double top = log_zeta.maxCoeff<Eigen::PropagateNaN>();
  if (!std::isfinite(top)) return top;
  return top + std::log((log_zeta.array() - top).exp().mean());
}

double lagrangian(const Terms& levels, const VectorView<double>& log_zeta, const Slack& slack,
                  const Multipliers& m, const DualSettings& s) {
  const auto term = [](double level, double epsilon, double delta, double multiplier) {
    return epsilon * epsilon - delta + multiplier * (level - epsilon + delta * delta);
  };
  const Multipliers zeta = multiplier_gradient(levels, zeta_level(log_zeta, s), m, s);
  const double pull = log_zeta.unaryExpr([&](double z) { return pull_cost(z, s); }).mean();
  return term(levels.forward, slack.epsilon.forward, slack.delta.forward, m.forward) +
         term(levels.reverse, slack.epsilon.reverse, slack.delta.reverse, m.reverse) +
         term(levels.proxy, slack.epsilon.proxy, slack.delta.proxy, m.proxy) +
         m.zeta_lower * zeta.zeta_lower + m.zeta_upper * zeta.zeta_upper + pull;
}

Multipliers multiplier_gradient(const Terms& levels, double level, const Multipliers& m,
                                const DualSettings& s) {
  const Terms residual = multiplier_residual(levels, m);
  const bool raw = s.zeta_constraint == ZetaConstraint::raw;
  return {
      .forward = residual.forward,
      .reverse = residual.reverse,
      .proxy = residual.proxy,
      .zeta_lower = raw ? 1 - std::exp(level) : -level,
      .zeta_upper = raw ? std::exp(level) - 1 - s.zeta_slack : level - std::log1p(s.zeta_slack)};
}

double main_data_weight(const Multipliers& m, const DualSettings& s, Eigen::Index rows) {
  return -m.forward * s.level_scale / static_cast<double>(rows);
}

double proxy_data_weight(const Multipliers& m, const DualSettings& s, Eigen::Index rows) {
  return -m.proxy * s.level_scale / static_cast<double>(rows);
}

Vector<double> main_sample_weights(const BatchValues& v, const Multipliers& m,
                                   const DualSettings& s) {
  const Eigen::Index samples = v.main_samples.size();
  const Eigen::Index conditions = v.log_zeta.size();
  Vector<double> log_ratio =
      v.main_samples - v.proxy_samples + v.log_zeta.replicate(samples / conditions, 1);
  if (s.reverse_estimator == ReverseEstimator::leave_one_out) leave_one_out(log_ratio, conditions);
  return log_ratio * (m.reverse * s.reverse_scale / static_cast<double>(samples));
}

double proxy_sample_weight(double log_p, double f, double log_zeta, const Multipliers& m,
                           const DualSettings& s, Eigen::Index samples) {
  const double reverse = m.reverse * s.reverse_scale;
  const double log_weight = f - log_p;
  const double difference = m.zeta_upper - m.zeta_lower;
  double force = reverse + m.proxy * s.level_scale + pull_force(log_zeta, s);
  double raw = 0;
  if (s.zeta_constraint == ZetaConstraint::log) {
    force += difference;
  } else if (difference != 0) {
    raw = difference * std::exp(log_weight);
  }
  // In log space: zeta and the weight alone may overflow where their ratio does not.
  const double all = force * std::exp(log_weight - log_zeta) + raw - reverse;
  return std::clamp(all, -kLargestWeight, kLargestWeight) / static_cast<double>(samples);
}

double normalized_proxy_sample_weight(const Multipliers& m, const DualSettings& s,
                                      Eigen::Index samples) {
  return -m.reverse * s.reverse_scale / static_cast<double>(samples);
}

}  // namespace jeffreys
