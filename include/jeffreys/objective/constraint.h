// The dual problem as a list of constraints. Each knows its name, what it measures, which slack it
// has, and with which weights the scores of a batch count in the gradient of its level. The list of
// the paper's problem is made in src/objective/constraint.cc and reads like the paper there; a new
// constraint is one more entry, and what is computed, recorded, drawn and saved follows the list.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "jeffreys/objective/dual.h"

namespace jeffreys {

// What a constraint compares its level with.
enum class SlackRule {
  adaptive,  // epsilon - delta^2 of P-DYN: both follow from the multiplier in closed form
  fixed,     // a bound that stays: epsilon of P:proxy, the bounds on zeta, a requirement h
  none       // with nothing: the term belongs to the objective, and its multiplier stays as it is
};

// Which learning rate a multiplier follows.
enum class MultiplierRate { kl, zeta };

// The gradient of a level is the sum of these weights times the scores of the rows x_i and of the
// samples y_i, each divided by their number. w = exp(f(y) - log p(y)) is a sample's importance.
struct ScoreWeights {
  double main_data = 0;         // of log p(x)
  double main_log_ratio = 0;    // of log p(y), times log p(y) - f(y) + log zeta
  double proxy_data = 0;        // of f(x)
  double proxy_samples = 0;     // of f(y)
  double proxy_normalized = 0;  // of f(y), times w / zeta: what log zeta adds to a KL
  double zeta_in_log = 0;       // the same, of a bound on log zeta
  double zeta_raw = 0;          // of f(y), times w: of a bound on zeta
};

// What the levels are made of.
struct BatchMeasures {
  Terms divergences;
  double zeta_level = 0;  // see zeta_level()
};

// A number for each row of samples y [samples, features].
using Statistic = std::function<Vector<double>(const MatrixView<double>& y)>;

struct Constraint {
  std::string name;
  SlackRule slack = SlackRule::adaptive;
  double bound = 0;       // of a fixed slack: level <= bound
  double multiplier = 0;  // where it starts
  MultiplierRate rate = MultiplierRate::kl;
  ScoreWeights weights = {};
  std::function<double(const BatchMeasures&)> level = {};
  // h of the paper: where it is set, the level is its mean over the samples of the main model. Its
  // gradient is carried by the scores of these samples.
  Statistic statistic = {};
};

// A requirement of one's own on the main model: the expectation of `statistic` over its samples is
// at most `bound`. The rows are as the model sees them. A probability is the expectation of 0 or 1.
[[nodiscard]] Constraint requirement(std::string name, Statistic statistic, double bound,
                                     double multiplier = 0);

// P-DYN (P:empirical): the three Kullback-Leibler constraints with adaptive slack; for a proxy that
// is not normalised also the two bounds on zeta.
[[nodiscard]] std::vector<Constraint> adaptive_problem(const DualSettings& settings,
                                                       const Multipliers& start,
                                                       bool normalized_proxy);

// P:proxy: minimise KL(data || main) + KL(main || proxy) where the proxy's NLL is at most epsilon
// (the entropy of the data, which the paper's KL has beside it, is unknown and does not depend on
// the models). start.forward and start.reverse are not used: both terms count 1.
[[nodiscard]] std::vector<Constraint> fixed_epsilon_problem(const DualSettings& settings,
                                                            const Multipliers& start,
                                                            double epsilon, bool normalized_proxy);

// How far a constraint is from rest: the gradient of the Lagrangian with respect to its multiplier,
// at the closed-form slack (eq:gradlagrange). 0 for a term of the objective.
[[nodiscard]] double multiplier_gradient(const Constraint& constraint, double level,
                                         double multiplier);

// The sum over the list: multiplier times weights.
[[nodiscard]] ScoreWeights total_weights(const std::vector<Constraint>& constraints,
                                         std::span<const double> multipliers);

// The Lagrangian at the closed-form slack (eq:kl_lagrangian). log_zeta: by condition.
[[nodiscard]] double lagrangian(const std::vector<Constraint>& constraints,
                                std::span<const double> levels, std::span<const double> multipliers,
                                const VectorView<double>& log_zeta, const DualSettings& settings);

}  // namespace jeffreys
