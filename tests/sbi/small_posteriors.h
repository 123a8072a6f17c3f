// Posteriors of small models that were never trained, or only for a moment.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jeffreys/sbi/pairs.h"
#include "support/model_helpers.h"
#include "table/tables.h"

namespace jeffreys::testing {

// Two ends each.
inline Prior box_prior() {
  return Prior({{"a", Distribution::uniform(-1, 1)},
                {"b", Distribution::normal(6, 3, {.lower = 2, .upper = 10})}});
}

// No ends, and one.
inline Prior open_prior() {
  return Prior({{"a", Distribution::normal(3, 2)}, {"b", Distribution::log_normal(-1, 0.4)}});
}

inline const PairColumns& pair_columns() {
  static const PairColumns columns{{"a", "b"}, {"x1", "x2"}};
  return columns;
}

// An outcome is its parameter with noise: a tenth of what the prior's middle two thirds are wide.
inline Table pairs_of(const Prior& prior, Eigen::Index rows = 300) {
  const Matrix<double> parameters = prior.sample(rows, 1);
  TableMaker maker;
  for (const bool outcomes : {false, true}) {
    for (std::size_t i = 0; i < prior.parameters().size(); ++i) {
      const Distribution& distribution = prior.parameters()[i].distribution;
      const double noise = 0.1 * (distribution.quantile(5. / 6) - distribution.quantile(1. / 6));
      std::vector<double> values = normal_numbers(static_cast<std::size_t>(rows), 50 + i);
      for (std::size_t row = 0; row < values.size(); ++row) {
        values[row] = (outcomes ? noise * values[row] : 0) +
                      parameters(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(i));
      }
      maker.numbers((outcomes ? pair_columns().outcomes : pair_columns().parameters)[i], values);
    }
  }
  return maker.table();
}

inline PreparedTable prepared_pairs(const Table& table, const std::optional<Prior>& prior) {
  FitOptions options;
  options.schema = pair_schema(table, pair_columns(), prior);
  return prepare(table, options);
}

struct PosteriorCase {
  std::optional<Prior> prior = box_prior();
  double roughness = 0.2;  // of the weights, which are far from smooth from 0.3 on
  std::optional<ModelChoice> proxy = {};
};

inline SplineFlow<float> rough_flow(double roughness, std::uint64_t seed) {
  SplineFlow<float> flow({.features = 2,
                          .context_features = 2,
                          .transforms = 2,
                          .bins = 6,
                          .hidden = {16},
                          .seed = seed});
  add_parameter_noise<float>(flow, roughness, seed);
  return flow;
}

inline Posterior untrained_posterior(const PosteriorCase& of = {}) {
  const PreparedTable table = prepared_pairs(pairs_of(of.prior.value_or(open_prior())), of.prior);
  std::optional<AnyModel<float>> proxy;
  if (of.proxy == ModelChoice{"flow"}) proxy = rough_flow(of.roughness, 8);
  if (of.proxy == ModelChoice{"energy"}) {
    proxy = FilmEnergy<float>({.features = 2, .context_features = 2, .hidden = 16, .blocks = 1});
  }
  return make_posterior(
      table, TabularDensity<float>(table.schema, rough_flow(of.roughness, 7), std::move(proxy)),
      of.prior);
}

// Pairs whose posterior is known, N(x / 2, 1/2) for each parameter.
struct NormalPairs {
  explicit NormalPairs(Eigen::Index rows, std::uint64_t seed = 3)
      : parameters(prior().sample(rows, seed)),
        outcomes(parameters + prior().sample(rows, seed + 1)) {}

  static Prior prior() {
    return Prior({{"a", Distribution::normal(0, 1)}, {"b", Distribution::normal(0, 1)}});
  }
  // With parameters whose distances from half the outcomes are multiplied by `width`.
  [[nodiscard]] Table table(double width = 1) const {
    Matrix<double> all(parameters.rows(), 4);
    all << outcomes / 2 + width * (parameters - outcomes / 2), outcomes;
    return table_from_matrix(all, {"a", "b", "x1", "x2"});
  }

  Matrix<double> parameters;
  Matrix<double> outcomes;
};

// The posterior of such pairs, with deviations that are multiplied by `width`: a flow of zeros is
// the standard normal distribution of the standardised residuals.
inline Posterior normal_posterior(const NormalPairs& pairs, double width = 1,
                                  const std::optional<Prior>& prior = std::nullopt) {
  const PreparedTable table = prepared_pairs(pairs.table(width), prior);
  SplineFlow<float> flow(
      {.features = 2, .context_features = 2, .transforms = 1, .bins = 4, .hidden = {8}});
  flow.edit_parameters([](std::span<float> all) { std::fill(all.begin(), all.end(), 0.0F); });
  return make_posterior(table, TabularDensity<float>(table.schema, flow, {}), prior);
}

// One row of outcomes.
inline Matrix<double> observation(double x1, double x2) {
  Matrix<double> row(1, 2);
  row << x1, x2;
  return row;
}

}  // namespace jeffreys::testing
