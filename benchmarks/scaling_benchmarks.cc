// How time grows with rows, features and width, and how close the products come to the machine's
// best. Not compared with a peer: run with --benchmark_filter=scaling. JEFFREYS_THREADS sets the
// threads.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "benchmark_models.h"
#include "kernels/aligned.h"
#include "kernels/dense.h"

namespace jeffreys {
namespace {

using benchmark::State;

// The rate of the tile product itself, with everything in the first-level cache.
void product_rate(State& state) {
  constexpr std::uint32_t kWidth = 60;
  std::vector<kernels::DenseBlock> blocks;
  for (std::uint32_t row = 0; row < kWidth; row += kernels::kMaxBlockRows) {
    blocks.push_back({row, kernels::kMaxBlockRows, 0, kWidth, std::size_t{row} * kWidth});
  }
  const kernels::AlignedVector<float> weights(kWidth * kWidth, 0.01F);
  const kernels::AlignedVector<float> input(kWidth * kernels::kTileRows, 0.5F);
  kernels::AlignedVector<float> output(kWidth * kernels::kTileRows);
  for (auto _ : state) {
    kernels::dense(kernels::DenseArguments<float>{.blocks = blocks.data(),
                                                  .block_count = blocks.size(),
                                                  .weights = weights.data(),
                                                  .input = input.data(),
                                                  .output = output.data()});
    benchmark::DoNotOptimize(output.data());
  }
  state.counters["flop/s"] = benchmark::Counter(2.0 * kWidth * kWidth * kernels::kTileRows,
                                                benchmark::Counter::kIsIterationInvariantRate);
}

template <typename Work>
void add(const std::string& name, Work work) {
  benchmark::RegisterBenchmark(("scaling/" + name).c_str(), work)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

const bool registered = [] {
  add("product_rate", product_rate);
  for (const int rows : {64, 250, 1000, 4000, 16000}) {
    add("flow2d_score/rows:" + std::to_string(rows),
        [rows](State& s) { benchmark_score(s, benchmark_flow(2, 0, 4, 8), rows); });
  }
  for (const int features : {1, 2, 3, 5, 10, 30, 100}) {
    add("flow_score/features:" + std::to_string(features),
        [features](State& s) { benchmark_score(s, benchmark_flow(features, 0, 2, 8), 1000); });
    add("flow_sample/features:" + std::to_string(features),
        [features](State& s) { benchmark_sample(s, benchmark_flow(features, 0, 2, 8), 1000); });
  }
  for (const int hidden : {64, 128, 256, 512, 1024}) {
    add("energy_score/hidden:" + std::to_string(hidden), [hidden](State& s) {
      benchmark_score(s, benchmark_energy(2, hidden, 2), 1000);
      const double products = 2.0 * 2 * hidden * hidden * 1000;  // 2 blocks of 2 layers
      s.counters["flop/s"] =
          benchmark::Counter(2 * 3 * products, benchmark::Counter::kIsIterationInvariantRate);
    });
  }
  return true;
}();

}  // namespace
}  // namespace jeffreys
