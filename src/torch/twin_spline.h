// The monotone rational-quadratic spline of a neural spline flow on [-5, 5], in libtorch operations
// straight from its definition; beyond, the identity.
#pragma once

#include <torch/types.h>

namespace jeffreys::twin {

struct Knots {
  torch::Tensor table;  // [..., 3, bins + 1]: horizontal, vertical, slopes
};

// raw: [..., 3 bins - 1], bins widths, bins heights, bins - 1 slopes before their constraints.
Knots make_knots(const torch::Tensor& raw);

struct SplineValue {
  torch::Tensor value;
  torch::Tensor log_slope;  // of the spline at its input
};

// x and the results: [...], the leading dimensions of the knots, or any for knots [3, bins + 1].
SplineValue spline_forward(const Knots& knots, const torch::Tensor& x);
torch::Tensor spline_inverse(const Knots& knots, const torch::Tensor& y);

}  // namespace jeffreys::twin
