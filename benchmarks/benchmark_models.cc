#include "benchmark_models.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace jeffreys {

std::shared_ptr<ThreadPool> benchmark_pool() {
  static const std::shared_ptr<ThreadPool> shared = [] {
    const char* threads = std::getenv("JEFFREYS_THREADS");
    return std::make_shared<ThreadPool>(threads ? std::stoul(threads) : 1);
  }();
  return shared;
}

Matrix<float> normal_rows(Eigen::Index rows, Eigen::Index columns, std::uint16_t purpose) {
  if (columns == 0) return {};
  const SplineFlow<float> flow({.features = columns, .transforms = 1});
  const Samples<float> samples = flow.sample(rows, {.seed = 7, .purpose = purpose});
  return flow.to_noise(samples.x);
}

SplineFlow<float> benchmark_flow(Eigen::Index features, Eigen::Index context,
                                 Eigen::Index transforms, Eigen::Index bins) {
  SplineFlow<float> flow(
      {.features = features, .context_features = context, .transforms = transforms, .bins = bins});
  flow.use_threads(benchmark_pool());
  return flow;
}

ResidualEnergy<float> benchmark_energy(Eigen::Index features, Eigen::Index hidden,
                                       Eigen::Index blocks) {
  ResidualEnergy<float> model({.features = features, .hidden = hidden, .blocks = blocks});
  model.use_threads(benchmark_pool());
  return model;
}

void benchmark_score(benchmark::State& state, const UnnormalizedDensity<float>& model,
                     Eigen::Index rows) {
  const Matrix<float> x = normal_rows(rows, model.features(), 0);
  const Matrix<float> c = normal_rows(rows, model.context_features(), 1);
  const Vector<float> weights = Vector<float>::Constant(rows, 1.0F / static_cast<float>(rows));
  std::vector<float> gradient(model.parameters().size());
  for (auto _ : state) {
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    benchmark::DoNotOptimize(model.add_scores(x, c, weights, gradient));
  }
}

void benchmark_sample(benchmark::State& state, const SplineFlow<float>& flow, Eigen::Index rows) {
  Samples<float> samples;
  RandomStream stream;
  for (auto _ : state) {
    flow.sample(rows, Matrix<float>(), stream, samples);
    ++stream.iteration;
    benchmark::DoNotOptimize(samples.log_prob.data());
  }
}

}  // namespace jeffreys
