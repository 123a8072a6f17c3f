// Whole iterations of the dual method, as benchmarks/compare measures them beside PyTorch + Zuko
// (names must agree).
#include <benchmark/benchmark.h>

#include <limits>

#include "benchmark_models.h"
#include "jeffreys/train/trainer.h"

namespace jeffreys {
namespace {

template <typename Proxy>
void dual_iteration(benchmark::State& state, SplineFlow<float> main, Proxy proxy, Eigen::Index rows,
                    const TrainOptions& options) {
  Trainer<float> trainer(main, &proxy, {normal_rows(rows, main.features(), 0), {}, {}, {}},
                         options);
  trainer.step();
  StepTimes times;
  double total = 0;
  for (auto _ : state) {
    const StepRecord record = trainer.step();
    times.sampling += record.times.sampling;
    times.zeta += record.times.zeta;
    times.scores += record.times.scores;
    times.update += record.times.update;
    ++total;
  }
  state.counters["sampling_ms"] = 1e3 * times.sampling / total;
  state.counters["zeta_ms"] = 1e3 * times.zeta / total;
  state.counters["scores_ms"] = 1e3 * times.scores / total;
  state.counters["update_ms"] = 1e3 * times.update / total;
}

// The formulas as written: zeta has samples of its own.
void dual2d_energy(benchmark::State& state) {
  TrainOptions options;
  options.zeta.estimator = ZetaEstimator::separate;
  dual_iteration(state, benchmark_flow(2, 0, 4, 8), benchmark_energy(2, 128, 2), 1000, options);
}

// The default form: one set of samples.
void dual2d_energy_shared(benchmark::State& state) {
  dual_iteration(state, benchmark_flow(2, 0, 4, 8), benchmark_energy(2, 128, 2), 1000, {});
}

void dual30d_flow(benchmark::State& state) {
  dual_iteration(state, benchmark_flow(30, 0, 2, 8), benchmark_flow(30, 0, 2, 8), 455, {});
}

// log zeta is kept from the step before the first one that is measured.
void dual100d_energy(benchmark::State& state) {
  TrainOptions options;
  options.zeta.estimator = ZetaEstimator::separate;
  options.zeta.refresh = std::numeric_limits<std::int64_t>::max();
  dual_iteration(state, benchmark_flow(100, 0, 6, 16), benchmark_energy(100, 1024, 5), 128,
                 options);
}

BENCHMARK(dual2d_energy)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(dual2d_energy_shared)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(dual30d_flow)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(dual100d_energy)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace jeffreys
