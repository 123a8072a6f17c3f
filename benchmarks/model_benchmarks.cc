// The works that benchmarks/compare measures beside PyTorch + Zuko (names must agree), one thread
// unless JEFFREYS_THREADS says otherwise, float32.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "benchmark_models.h"

namespace jeffreys {
namespace {

// Value, and score of the samples that were just drawn, without a second forward pass.
void flow_sample_score(benchmark::State& state, Eigen::Index features, Eigen::Index transforms,
                       Eigen::Index bins, Eigen::Index rows) {
  const SplineFlow<float> flow = benchmark_flow(features, 0, transforms, bins);
  Samples<float> samples;
  RandomStream stream;
  std::vector<float> gradient(flow.parameters().size());
  const Vector<float> weights = Vector<float>::Constant(rows, 1.0F / static_cast<float>(rows));
  for (auto _ : state) {
    flow.sample(rows, Matrix<float>(), stream, samples, KeepTape::yes);
    ++stream.iteration;
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    flow.add_sample_scores(samples, weights, gradient);
    benchmark::DoNotOptimize(gradient.data());
  }
}

void value(benchmark::State& state, const UnnormalizedDensity<float>& model, Eigen::Index rows) {
  const Matrix<float> x = normal_rows(rows, model.features(), 0);
  const Matrix<float> c = normal_rows(rows, model.context_features(), 1);
  for (auto _ : state) benchmark::DoNotOptimize(model.log_unnormalized(x, c));
}

// One power iteration with every evaluation, as in a training step, or none.
void energy_score(benchmark::State& state, Eigen::Index features, Eigen::Index hidden,
                  Eigen::Index blocks, Eigen::Index rows, bool training) {
  ResidualEnergy<float> model = benchmark_energy(features, hidden, blocks);
  const Matrix<float> x = normal_rows(rows, features, 0);
  const Vector<float> weights = Vector<float>::Constant(rows, 1.0F / static_cast<float>(rows));
  std::vector<float> gradient(model.parameters().size());
  for (auto _ : state) {
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    if (training) model.power_iterate();
    benchmark::DoNotOptimize(model.add_scores(x, Matrix<float>(), weights, gradient));
  }
}

void film_score(benchmark::State& state) {
  FilmEnergy<float> model(
      {.features = 2, .context_features = 2, .hidden = 128, .blocks = 3, .film_layers = 2});
  model.use_threads(benchmark_pool());
  benchmark_score(state, model, 1000);
}

void energy128_value(benchmark::State& state) { value(state, benchmark_energy(2, 128, 2), 1000); }

template <typename Work>
void add(const char* name, Work work) {
  benchmark::RegisterBenchmark(name, work)->Unit(benchmark::kMillisecond)->UseRealTime();
}

const bool registered = [] {
  using State = benchmark::State;
  add("flow2d_score", [](State& s) { benchmark_score(s, benchmark_flow(2, 0, 4, 8), 1000); });
  add("flow2d_sample", [](State& s) { benchmark_sample(s, benchmark_flow(2, 0, 4, 8), 1000); });
  add("flow30d_sample", [](State& s) { benchmark_sample(s, benchmark_flow(30, 0, 2, 8), 1000); });
  add("flow100d_sample", [](State& s) { benchmark_sample(s, benchmark_flow(100, 0, 6, 16), 500); });
  add("energy128_score", [](State& s) { energy_score(s, 2, 128, 2, 1000, true); });
  add("energy1024_score", [](State& s) { energy_score(s, 100, 1024, 5, 256, true); });
  add("flow2d_log_prob", [](State& s) { value(s, benchmark_flow(2, 0, 4, 8), 1000); });
  add("flow_cond_score", [](State& s) { benchmark_score(s, benchmark_flow(2, 2, 4, 8), 1000); });
  add("flow30d_score", [](State& s) { benchmark_score(s, benchmark_flow(30, 0, 2, 8), 1000); });
  add("flow100d_score", [](State& s) { benchmark_score(s, benchmark_flow(100, 0, 6, 16), 128); });
  add("flow2d_sample_score", [](State& s) { flow_sample_score(s, 2, 4, 8, 1000); });
  add("film_score", film_score);
  add("energy128_value", energy128_value);
  add("energy1024_score_eval", [](State& s) { energy_score(s, 100, 1024, 5, 256, false); });
  return true;
}();

}  // namespace
}  // namespace jeffreys
