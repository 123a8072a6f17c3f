#include "jeffreys/evaluate/predictive_check.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/checks.h"
#include "evaluate/column_scale.h"
#include "evaluate/significance.h"
#include "jeffreys/evaluate/uniformity.h"

namespace jeffreys {
namespace {

constexpr Eigen::Index kFewestDraws = 20;

void check_inputs(const VectorView<double>& observed, const MatrixView<double>& simulated,
                  const std::vector<std::string>& names) {
  check_at_least("observed", observed.size(), 1);
  check_columns("simulated", simulated.cols(), observed.size());
  check_size("names", static_cast<std::int64_t>(names.size()), observed.size());
  for (Eigen::Index c = 0; c < observed.size(); ++c) {
    if (!std::isfinite(observed[c])) {
      throw std::invalid_argument(fmt::format("observed: expected finite values, got {} for '{}'",
                                              observed[c], names[static_cast<std::size_t>(c)]));
    }
  }
}

Matrix<double> finite_rows(const MatrixView<double>& simulated) {
  Matrix<double> kept(simulated.rows(), simulated.cols());
  Eigen::Index rows = 0;
  for (const auto& row : simulated.rowwise()) {
    if (row.allFinite()) kept.row(rows++) = row;
  }
  if (rows < kFewestDraws) {
    throw std::invalid_argument(
        fmt::format("simulated: expected at least {} rows with finite outcomes, got {} of {}",
                    kFewestDraws, rows, simulated.rows()));
  }
  kept.conservativeResize(rows, Eigen::NoChange);
  return kept;
}

// Of sorted values, between the two nearest.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return std::lerp(sorted[low], sorted[high], place - static_cast<double>(low));
}

PredictiveCheck::Outcome outcome_of(const std::string& name, double observed,
                                    const Eigen::Ref<const Vector<double>>& simulated) {
  std::vector<double> sorted(simulated.begin(), simulated.end());
  std::sort(sorted.begin(), sorted.end());
  const auto draws = static_cast<double>(sorted.size());
  const auto not_above = (simulated.array() <= observed).count();
  const auto not_below = (simulated.array() >= observed).count();
  const auto beyond = static_cast<double>(std::min(not_above, not_below));
  return {.name = name,
          .observed = observed,
          .lower = quantile(sorted, 0.05),
          .median = quantile(sorted, 0.5),
          .upper = quantile(sorted, 0.95),
          .tail_probability = std::min(1.0, 2 * (1 + beyond) / (draws + 1))};
}

// Mahalanobis distances of all rows from their mean. The correlations are shrunk towards none by as
// much as there are outcomes for each row, so that they can be inverted whatever the shape. Nothing
// here tells one row from another, which makes the rank of the observed one uniform if it comes
// from where the others come from, whatever the distribution.
Vector<double> distances_from_mean(const MatrixView<double>& rows) {
  const Matrix<double> scaled = ColumnScale(rows).standardized(rows);
  const auto n = static_cast<double>(rows.rows());
  const auto outcomes = static_cast<double>(rows.cols());
  const double shrinkage = outcomes / (n + outcomes);
  Eigen::MatrixXd correlation = (1 - shrinkage) / n * (scaled.transpose() * scaled);
  correlation.diagonal().array() += shrinkage;
  const Eigen::LLT<Eigen::MatrixXd> factor(correlation);
  const Eigen::MatrixXd whitened = factor.matrixL().solve(Eigen::MatrixXd(scaled.transpose()));
  return whitened.colwise().norm().transpose();
}

void add_distance(PredictiveCheck& check, const VectorView<double>& observed,
                  const Matrix<double>& simulated) {
  Matrix<double> rows(simulated.rows() + 1, simulated.cols());
  rows << observed.transpose(), simulated;
  const Vector<double> distances = distances_from_mean(rows);
  // The observed row itself is the + 1.
  constexpr double kRounding = 1e-12;
  const auto as_far = (distances.array() >= distances[0] * (1 - kRounding)).count();
  check.distance = distances[0];
  check.distance_p_value = static_cast<double>(as_far) / static_cast<double>(rows.rows());
}

std::string outside(const PredictiveCheck& check, double significance) {
  std::string listed;
  for (const PredictiveCheck::Outcome& outcome : check.outcomes) {
    if (outcome.p_value >= significance) continue;
    listed +=
        fmt::format("{}{} (p = {:.2g})", listed.empty() ? "" : ", ", outcome.name, outcome.p_value);
  }
  return listed;
}

std::string verdict_of(const PredictiveCheck& check, double significance) {
  const std::string joint = fmt::format("all outcomes together: p = {:.2g}, {} draws",
                                        check.distance_p_value, check.draws);
  const std::string listed = outside(check, significance);
  if (!listed.empty()) {
    return fmt::format("the posterior does not explain the observed {}{} ({})", listed,
                       check.outcomes.size() > 1 ? " after Holm's correction" : "", joint);
  }
  if (!check.consistent) {
    return fmt::format("the posterior explains each observed outcome but not all together ({})",
                       joint);
  }
  const double needed = 2 * static_cast<double>(check.outcomes.size()) / significance;
  if (static_cast<double>(check.draws) + 1 <= needed) {
    return fmt::format(
        "too few draws to find an outcome unexplained: more than {:.0f} are needed ({})", needed,
        joint);
  }
  return fmt::format("the posterior explains the observed outcomes ({})", joint);
}

}  // namespace

PredictiveCheck predictive_check(const VectorView<double>& observed,
                                 const MatrixView<double>& simulated,
                                 const std::vector<std::string>& names, double significance) {
  check_significance(significance);
  check_inputs(observed, simulated, names);
  const Matrix<double> finite = finite_rows(simulated);
  PredictiveCheck check{.draws = finite.rows(), .draws_missing = simulated.rows() - finite.rows()};
  std::vector<double> p_values;
  for (Eigen::Index c = 0; c < observed.size(); ++c) {
    check.outcomes.push_back(
        outcome_of(names[static_cast<std::size_t>(c)], observed[c], finite.col(c)));
    p_values.push_back(check.outcomes.back().tail_probability);
  }
  add_distance(check, observed, finite);
  const std::vector<double> corrected = holm_correction(p_values);
  check.consistent = check.distance_p_value >= significance;
  for (std::size_t c = 0; c < corrected.size(); ++c) {
    check.outcomes[c].p_value = corrected[c];
    check.consistent = check.consistent && corrected[c] >= significance;
  }
  check.verdict = verdict_of(check, significance);
  return check;
}

}  // namespace jeffreys
