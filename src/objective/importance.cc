#include "jeffreys/objective/importance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace jeffreys {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The largest, or NaN if there is one.
double largest(std::span<const double> values) {
  double top = -kInfinity;
  for (const double value : values) {
    if (std::isnan(value)) return value;
    top = std::max(top, value);
  }
  return top;
}

// Zhang & Stephens' estimate of the shape from exceedances over a threshold, in ascending order.
double generalized_pareto_shape(std::span<const double> exceedances) {
  const auto n = static_cast<double>(exceedances.size());
  const int grid = 30 + static_cast<int>(std::sqrt(n));
  const double quartile = exceedances[(exceedances.size() + 2) / 4 - 1];
  const double top = exceedances.back();
  std::vector<double> theta(static_cast<std::size_t>(grid));
  std::vector<double> likelihood(theta.size());
  const auto shape_at = [&](double t) {
    double sum = 0;
    for (const double x : exceedances) sum += std::log1p(-t * x);
    return sum / n;
  };
  for (std::size_t j = 0; j < theta.size(); ++j) {
    const double share = (static_cast<double>(j) + 0.5) / grid;
    theta[j] = 1 / top + (1 - std::sqrt(1 / share)) / (3 * quartile);
    const double k = shape_at(theta[j]);
    likelihood[j] = n * (std::log(-theta[j] / k) - k - 1);
  }
  const double best = *std::max_element(likelihood.begin(), likelihood.end());
  double sum = 0;
  double mean = 0;
  for (std::size_t j = 0; j < theta.size(); ++j) {
    const double weight = std::exp(likelihood[j] - best);
    sum += weight;
    mean += weight * theta[j];
  }
  const double k = shape_at(mean / sum);
  return (n * k + 10 * 0.5) / (n + 10);
}

}  // namespace

ImportanceEstimate importance_estimate(std::span<const double> log_weights) {
  const double top = largest(log_weights);
  if (!std::isfinite(top)) return {top, std::isnan(top) ? top : 0, kInfinity};
  double sum = 0;
  double squares = 0;
  for (const double value : log_weights) {
    const double weight = std::exp(value - top);
    sum += weight;
    squares += weight * weight;
  }
  const auto count = static_cast<double>(log_weights.size());
  return {.log_zeta = top + std::log(sum / count),
          .effective_sample_size = sum * sum / squares / count,
          .pareto_k = pareto_k(log_weights)};
}

double pareto_k(std::span<const double> log_weights) {
  const std::size_t count = log_weights.size();
  if (count < 25) return kInfinity;
  const auto tail = static_cast<std::size_t>(
      std::min(0.2 * static_cast<double>(count), 3 * std::sqrt(static_cast<double>(count))));
  std::vector<double> values(log_weights.begin(), log_weights.end());
  const auto threshold = values.end() - static_cast<std::ptrdiff_t>(tail) - 1;
  std::nth_element(values.begin(), threshold, values.end());
  std::sort(threshold + 1, values.end());
  const double top = values.back();
  if (!std::isfinite(top)) return kInfinity;
  const double cut = std::exp(*threshold - top);
  std::vector<double> exceedances;
  exceedances.reserve(tail);
  for (auto value = threshold + 1; value != values.end(); ++value) {
    exceedances.push_back(std::exp(*value - top) - cut);
  }
  // Equal weights have no tail.
  if (!(exceedances[(tail + 2) / 4 - 1] > 0))
    return exceedances.back() > 0 ? kInfinity : -kInfinity;
  return generalized_pareto_shape(exceedances);
}

namespace {

// Calls visit(condition, log weights of its samples).
template <typename Visit>
void for_conditions(std::span<const double> log_weights, Eigen::Index conditions, Visit visit) {
  const auto size = static_cast<Eigen::Index>(log_weights.size());
  if (conditions < 1 || size % conditions != 0 || size == 0) {
    throw std::invalid_argument("log_weights: expected as many weights for each condition");
  }
  const Eigen::Map<const Matrix<double>> weights(log_weights.data(), size / conditions, conditions);
  std::vector<double> own(static_cast<std::size_t>(weights.rows()));
  for (Eigen::Index i = 0; i < conditions; ++i) {
    Eigen::Map<Vector<double>>(own.data(), weights.rows()) = weights.col(i);
    visit(i, std::span<const double>(own));
  }
}

double log_mean_exp(std::span<const double> values) {
  const double top = largest(values);
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (const double value : values) sum += std::exp(value - top);
  return top + std::log(sum / static_cast<double>(values.size()));
}

// log of the mean of the other weights, for each of at least two.
std::vector<double> log_mean_of_others(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double log_mean = log_mean_exp(values);
  std::vector<double> result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double share = std::exp(values[i] - log_mean) / n;
    if (share < 0.5) {
      result.push_back(log_mean + std::log1p(-share) - std::log1p(-1 / n));
      continue;
    }
    // The difference would cancel.
    std::vector<double> others(values.begin(), values.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    result.push_back(log_mean_exp(others));
  }
  return result;
}

}  // namespace

Vector<double> log_zeta_by_condition(std::span<const double> log_weights, Eigen::Index conditions) {
  Vector<double> result(conditions);
  for_conditions(log_weights, conditions, [&](Eigen::Index i, std::span<const double> own) {
    result(i) = log_mean_exp(own);
  });
  return result;
}

Vector<double> jackknife_log_zeta(std::span<const double> log_weights, Eigen::Index conditions) {
  Vector<double> result(conditions);
  for_conditions(log_weights, conditions, [&](Eigen::Index i, std::span<const double> own) {
    result(i) = log_mean_exp(own);
    if (own.size() < 2 || !std::isfinite(result(i))) return;
    double others = 0;
    for (const double value : log_mean_of_others(own)) others += value - result(i);
    const auto n = static_cast<double>(own.size());
    result(i) -= (n - 1) * others / n;
  });
  return result;
}

ImportanceEstimate importance_within_conditions(std::span<const double> log_weights,
                                                Eigen::Index conditions) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  ImportanceEstimate result{0, kUnknown, kUnknown};
  double squares = 0;  // mean square of the weights, their mean in the condition being 1
  for_conditions(log_weights, conditions, [&](Eigen::Index, std::span<const double> own) {
    const double log_mean = log_mean_exp(own);
    result.log_zeta += log_mean / static_cast<double>(conditions);
    for (const double value : own) squares += std::exp(2 * (value - log_mean));
  });
  squares /= static_cast<double>(log_weights.size());
  const double each = static_cast<double>(log_weights.size()) / static_cast<double>(conditions);
  if (each > 1) result.effective_sample_size = (each / squares - 1) / (each - 1);
  return result;
}

}  // namespace jeffreys
