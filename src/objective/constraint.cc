#include "jeffreys/objective/constraint.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace jeffreys {
namespace {

Constraint forward(const DualSettings& s, double multiplier) {
  return {.name = "forward",
          .multiplier = multiplier,
          .weights = {.main_data = -s.level_scale},
          .level = [s](const BatchMeasures& b) {
            return s.level_scale * (b.divergences.forward - s.level_offset);
          }};
}

Constraint reverse(const DualSettings& s, double multiplier) {
  return {.name = "reverse",
          .multiplier = multiplier,
          .weights = {.main_log_ratio = s.reverse_scale,
                      .proxy_samples = -s.reverse_scale,
                      .proxy_normalized = s.reverse_scale},
          .level = [s](const BatchMeasures& b) { return s.reverse_scale * b.divergences.reverse; }};
}

Constraint proxy(const DualSettings& s, double multiplier) {
  return {.name = "proxy",
          .multiplier = multiplier,
          .weights = {.proxy_data = -s.level_scale, .proxy_normalized = s.level_scale},
          .level = [s](const BatchMeasures& b) {
            return s.level_scale * (b.divergences.proxy - s.level_offset);
          }};
}

// 1 <= zeta <= 1 + slack, of zeta itself or of its logarithm: see ZetaConstraint.
void add_zeta_bounds(const DualSettings& s, const Multipliers& start,
                     std::vector<Constraint>& list) {
  const bool raw = s.zeta_constraint == ZetaConstraint::raw;
  const auto weights = [raw](double sign) {
    return raw ? ScoreWeights{.zeta_raw = sign} : ScoreWeights{.zeta_in_log = sign};
  };
  list.push_back({.name = "zeta_lower",
                  .slack = SlackRule::fixed,
                  .bound = 0,
                  .multiplier = start.zeta_lower,
                  .rate = MultiplierRate::zeta,
                  .weights = weights(-1),
                  .level = [raw](const BatchMeasures& b) {
                    return raw ? 1 - std::exp(b.zeta_level) : -b.zeta_level;
                  }});
  list.push_back({.name = "zeta_upper",
                  .slack = SlackRule::fixed,
                  .bound = raw ? s.zeta_slack : std::log1p(s.zeta_slack),
                  .multiplier = start.zeta_upper,
                  .rate = MultiplierRate::zeta,
                  .weights = weights(1),
                  .level = [raw](const BatchMeasures& b) {
                    return raw ? std::exp(b.zeta_level) - 1 : b.zeta_level;
                  }});
}

}  // namespace

std::vector<Constraint> adaptive_problem(const DualSettings& settings, const Multipliers& start,
                                         bool normalized_proxy) {
  std::vector<Constraint> list{forward(settings, start.forward), reverse(settings, start.reverse),
                               proxy(settings, start.proxy)};
  if (!normalized_proxy) add_zeta_bounds(settings, start, list);
  return list;
}

std::vector<Constraint> fixed_epsilon_problem(const DualSettings& settings,
                                              const Multipliers& start, double epsilon,
                                              bool normalized_proxy) {
  std::vector<Constraint> list{forward(settings, 1), reverse(settings, 1),
                               proxy(settings, start.proxy)};
  list[0].slack = SlackRule::none;
  list[1].slack = SlackRule::none;
  list[2].slack = SlackRule::fixed;
  list[2].bound = settings.level_scale * (epsilon - settings.level_offset);
  if (!normalized_proxy) add_zeta_bounds(settings, start, list);
  return list;
}

Constraint requirement(std::string name, Statistic statistic, double bound, double multiplier) {
  const auto fits = [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; };
  if (name.empty() || !std::all_of(name.begin(), name.end(), fits)) {
    // It becomes part of the names of a history's columns.
    throw std::invalid_argument("name: expected letters, digits and _, got '" + name + "'");
  }
  if (!statistic) throw std::invalid_argument("statistic: expected a function, got none");
  if (!std::isfinite(bound)) throw std::invalid_argument("bound: expected a finite number");
  if (!(multiplier >= 0 && std::isfinite(multiplier))) {
    throw std::invalid_argument("multiplier: expected a number that is not negative");
  }
  return {.name = std::move(name),
          .slack = SlackRule::fixed,
          .bound = bound,
          .multiplier = multiplier,
          .statistic = std::move(statistic)};
}

double multiplier_gradient(const Constraint& constraint, double level, double multiplier) {
  switch (constraint.slack) {
    case SlackRule::adaptive: return level - settled_level(multiplier);
    case SlackRule::fixed: return level - constraint.bound;
    default: return 0;
  }
}

ScoreWeights total_weights(const std::vector<Constraint>& constraints,
                           std::span<const double> multipliers) {
  ScoreWeights total;
  for (std::size_t k = 0; k < constraints.size(); ++k) {
    const ScoreWeights& w = constraints[k].weights;
    const double lambda = multipliers[k];
    total.main_data += lambda * w.main_data;
    total.main_log_ratio += lambda * w.main_log_ratio;
    total.proxy_data += lambda * w.proxy_data;
    total.proxy_samples += lambda * w.proxy_samples;
    total.proxy_normalized += lambda * w.proxy_normalized;
    total.zeta_in_log += lambda * w.zeta_in_log;
    total.zeta_raw += lambda * w.zeta_raw;
  }
  return total;
}

double lagrangian(const std::vector<Constraint>& constraints, std::span<const double> levels,
                  std::span<const double> multipliers, const VectorView<double>& log_zeta,
                  const DualSettings& settings) {
  double sum = zeta_pull_cost(log_zeta, settings);
  for (std::size_t k = 0; k < constraints.size(); ++k) {
    if (constraints[k].slack == SlackRule::adaptive) {
      sum += adaptive_term(levels[k], multipliers[k], closed_form_slack(multipliers[k]));
    } else {
      sum += multipliers[k] * (levels[k] - constraints[k].bound);
    }
  }
  return sum;
}

}  // namespace jeffreys
