#include "jeffreys/fit/evaluate_density.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "jeffreys/base/input_error.h"
#include "jeffreys/base/random_purpose.h"

namespace jeffreys {
namespace {

constexpr Eigen::Index kReverseRows = 10000;

DensityEvaluation::Reverse reverse_kl(const TabularDensity<float>& density) {
  const Samples<float> samples = density.main().sample(kReverseRows, {0, kComparedSamples, 0});
  const Matrix<double> x = samples.x.cast<double>();
  const Vector<double> main = samples.log_prob.cast<double>();
  const Vector<double> proxy = density.log_prob(x, Matrix<double>(), From::proxy);
  const Vector<double> weights = proxy - main;
  return {paired_difference(proxy, main),
          importance_estimate({weights.data(), static_cast<std::size_t>(weights.size())}),
          kReverseRows};
}

// The mean over rows would be infinite, or not that of all rows. A label that was never seen has a
// probability.
void refuse_without_density(const Table& table, const TableLogProb& scores, std::size_t row,
                            const std::string& problem) {
  const auto found = std::lower_bound(scores.rows.begin(), scores.rows.end(), row);
  const bool scored = found != scores.rows.end() && *found == row;
  if (scored && std::isfinite(scores.log_prob(found - scores.rows.begin()))) return;
  throw InputError(table.source, fmt::format("{}; correct the cell, or leave the row out", problem),
                   table.line(row));
}

}  // namespace

DensityEvaluation evaluate_density(const TabularDensity<float>& density, const Table& table,
                                   const std::string& weights) {
  DensityEvaluation result;
  const TableLogProb main = density.log_prob(table, From::main, Unusual::keep);
  for (const auto& [row, problem] : main.unusual) refuse_without_density(table, main, row, problem);
  result.weights = weights;
  if (weights.empty() && table.find(density.schema().weights()) != nullptr) {
    result.weights = density.schema().weights();
  }
  const Vector<double> counts =
      result.weights.empty() ? Vector<double>() : row_weights(table, result.weights, main.rows);
  result.main = mean_nll(main.log_prob, counts);
  result.dropped = main.dropped;
  result.with_gaps = main.with_gaps.size();
  if (density.proxy() != nullptr) {
    result.proxy = mean_nll(density.log_prob(table, From::proxy, Unusual::keep).log_prob, counts);
    if (density.schema().context_features() == 0) result.reverse = reverse_kl(density);
  }
  result.energy = density.check_energy(density.schema().encode(table, Unusual::keep).context, 0);
  return result;
}

}  // namespace jeffreys
