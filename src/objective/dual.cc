#include "jeffreys/objective/dual.h"

#include <algorithm>
#include <cmath>

#include "jeffreys/objective/constraint.h"
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

double zeta_level(const VectorView<double>& log_zeta, const DualSettings& s) {
  if (s.zeta_constraint == ZetaConstraint::log) return log_zeta.mean();
  const double top = log_zeta.maxCoeff<Eigen::PropagateNaN>();
  if (!std::isfinite(top)) return top;
  return top + std::log((log_zeta.array() - top).exp().mean());
}

double zeta_pull_cost(const VectorView<double>& log_zeta, const DualSettings& s) {
  return log_zeta.unaryExpr([&](double z) { return pull_cost(z, s); }).mean();
}

Vector<double> main_sample_weights(const BatchValues& v, const ScoreWeights& weights,
                                   const DualSettings& s) {
  const Eigen::Index samples = v.main_samples.size();
  const Eigen::Index conditions = v.log_zeta.size();
  Vector<double> log_ratio =
      v.main_samples - v.proxy_samples + v.log_zeta.replicate(samples / conditions, 1);
  if (s.reverse_estimator == ReverseEstimator::leave_one_out) leave_one_out(log_ratio, conditions);
  return log_ratio * (weights.main_log_ratio / static_cast<double>(samples));
}

Vector<double> statistic_sample_weights(Vector<double> values) {
  leave_one_out(values, 1);
  return values / static_cast<double>(values.size());
}

double proxy_sample_weight(double log_p, double f, double log_zeta, const ScoreWeights& weights,
                           const DualSettings& s, Eigen::Index samples) {
  const double log_weight = f - log_p;
  double force = weights.proxy_normalized + pull_force(log_zeta, s);
  force += weights.zeta_in_log;
  const double raw = weights.zeta_raw != 0 ? weights.zeta_raw * std::exp(log_weight) : 0;
  // In log space: zeta and the weight alone may overflow where their ratio does not.
  const double all = force * std::exp(log_weight - log_zeta) + raw + weights.proxy_samples;
  return std::clamp(all, -kLargestWeight, kLargestWeight) / static_cast<double>(samples);
}

}  // namespace jeffreys
