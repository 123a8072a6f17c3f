// Sums over flat buffers: log-sum-exp, squared norm (for clipping), and a running sum of buffers.
#pragma once

#include <cstddef>

namespace jeffreys::kernels {

// log sum exp(values), without overflow; -infinity for an empty buffer. A NaN or +infinity among
// the values is the result.
double log_sum_exp(const float* values, std::size_t size);
double log_sum_exp(const double* values, std::size_t size);

// Sum of squares, summed in double over fixed pieces, so that it does not depend on threads.
double squared_norm(const float* values, std::size_t size);
double squared_norm(const double* values, std::size_t size);

// Factor min(1, limit / (norm + 1e-6)) that torch's clip_grad_norm_ applies for a global norm.
double clip_factor(double squared_norm, double limit);

// target += values
void add(float* target, const float* values, std::size_t size);
void add(double* target, const double* values, std::size_t size);

}  // namespace jeffreys::kernels
