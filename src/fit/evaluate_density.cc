#include "jeffreys/fit/evaluate_density.h"

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

}  // namespace

DensityEvaluation evaluate_density(const TabularDensity<float>& density, const Table& table) {
  DensityEvaluation result;
  const TableLogProb main = density.log_prob(table, From::main);
  result.main = mean_nll(main.log_prob);
  result.dropped = main.dropped;
  if (density.proxy() != nullptr) {
    result.proxy = mean_nll(density.log_prob(table, From::proxy).log_prob);
    if (density.schema().context_features() == 0) result.reverse = reverse_kl(density);
  }
  result.energy = density.check_energy(density.schema().encode(table).context, 0);
  return result;
}

}  // namespace jeffreys
