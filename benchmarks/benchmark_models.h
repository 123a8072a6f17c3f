// Models and work that the benchmarks share. Float32; JEFFREYS_THREADS threads, one by default.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>

#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/spline_flow.h"

namespace jeffreys {

std::shared_ptr<ThreadPool> benchmark_pool();

// Standard normal rows.
Matrix<float> normal_rows(Eigen::Index rows, Eigen::Index columns, std::uint16_t purpose);

SplineFlow<float> benchmark_flow(Eigen::Index features, Eigen::Index context,
                                 Eigen::Index transforms, Eigen::Index bins);
ResidualEnergy<float> benchmark_energy(Eigen::Index features, Eigen::Index hidden,
                                       Eigen::Index blocks);

// Values, and the gradient of their weighted sum.
void benchmark_score(benchmark::State& state, const UnnormalizedDensity<float>& model,
                     Eigen::Index rows);

// New rows with their log density.
void benchmark_sample(benchmark::State& state, const SplineFlow<float>& flow, Eigen::Index rows);

}  // namespace jeffreys
