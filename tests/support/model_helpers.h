// Seeded rows, perturbed parameters and short training runs for tests of models.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/spline_flow.h"

namespace jeffreys::testing {

// Standard normal numbers, the same in float and double but for rounding.
Matrix<double> normals(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed);

// Rows with columns of mean 0 and variance 1: the first has two humps, the others depend on the one
// before them in curved ways and are skewed.
Matrix<double> correlated_rows(Eigen::Index rows, Eigen::Index features, std::uint64_t seed);

// One byte for each parameter of a flow: 0 for a masked weight, 1 for all others.
template <typename T>
std::vector<std::uint8_t> used_parameters(const SplineFlow<T>& flow);

template <typename T>
void scale_parameters(UnnormalizedDensity<T>& model, double factor);

// Adds normal numbers with this standard deviation. A flow's masked weights stay as they are.
template <typename T>
void add_parameter_noise(UnnormalizedDensity<T>& model, double deviation, std::uint64_t seed);

// Parameters far from any fresh ones, 8 times as large: a flow's splines then reach their smallest
// bins (widths of 1e-3) and steepest slopes.
template <typename T>
void make_extreme(UnnormalizedDensity<T>& model);

// The double flow with the weights of a flow.
template <typename T>
SplineFlow<double> in_double(const SplineFlow<T>& flow);

// The flow that has only transform t of this one.
template <typename T>
SplineFlow<T> single_transform(const SplineFlow<T>& flow, Eigen::Index t);

// Maximum likelihood on all rows at once by AdamW(0, 0.9) with weight decay 1e-2. Returns the mean
// log density before the last step.
template <typename T>
double train(SplineFlow<T>& flow, const Matrix<T>& data, int steps, double learning_rate,
             const Matrix<T>& context = {});

// Equality that also holds between NaNs and fails between 0 and -0.
template <typename A, typename B>
bool same_bits(const A& a, const B& b) {
  using T = std::remove_cv_t<std::remove_reference_t<decltype(*a.data())>>;
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  if (a.size() != b.size()) return false;
  for (decltype(a.size()) i = 0; i < a.size(); ++i) {
    if (std::bit_cast<Bits>(a.data()[i]) != std::bit_cast<Bits>(b.data()[i])) return false;
  }
  return true;
}

}  // namespace jeffreys::testing
