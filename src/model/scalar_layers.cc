#include "model/scalar_layers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/piecewise_linear.h"
#include "kernels/scratch.h"

namespace jeffreys {

using kernels::kTileRows;

template <typename T>
ScalarLayers<T>::ScalarLayers(std::size_t inputs, std::size_t column, std::size_t hidden,
                              std::size_t outputs)
    : inputs_(inputs),
      column_(column),
      hidden_(hidden),
      outputs_(outputs),
      stride_(kernels::piece_stride(outputs)),
      rank_(hidden),
      knots_(hidden),
      table_((hidden + 1) * 2 * stride_, T(0)) {}

// A unit with a > 0 is active above its knot, one with a < 0 below; one with a = 0 is active
// everywhere or nowhere, and its knot, at infinity, is never passed.
template <typename T>
typename ScalarLayers<T>::Active ScalarLayers<T>::active(std::size_t unit, T weight, T bias) const {
  const std::size_t pieces = hidden_ + 1;
  if (weight > 0) return {rank_[unit] + std::size_t{1}, pieces};
  if (weight < 0) return {0, rank_[unit] + std::size_t{1}};
  const bool always = bias > 0 || std::isnan(weight);  // a NaN must show
  return {0, always ? pieces : 0};
}

// Sums over units are taken in double: each piece's row follows from the last by one addition or
// subtraction, whose rounding would otherwise add up.
template <typename T>
void ScalarLayers<T>::pack(const T* first_weight, const T* first_bias, const T* second_weight,
                           const T* second_bias) {
  const auto weight_of = [&](std::size_t i) { return first_weight[i * inputs_ + column_]; };
  std::vector<T> knot(hidden_);
  for (std::size_t i = 0; i < hidden_; ++i) {
    const T at = -first_bias[i] / weight_of(i);
    knot[i] = weight_of(i) != 0 && !std::isnan(at) ? at : std::numeric_limits<T>::infinity();
  }
  std::vector<std::uint32_t> order(hidden_);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return knot[a] < knot[b]; });
  for (std::uint32_t k = 0; k < hidden_; ++k) {
    rank_[order[k]] = k;
    knots_[k] = knot[order[k]];
  }

  std::vector<double> slope(outputs_, 0.0);
  std::vector<double> offset(second_bias, second_bias + outputs_);
  const auto add_unit = [&](std::size_t i, double sign) {
    const double a = sign * static_cast<double>(weight_of(i));
    const double b = sign * static_cast<double>(first_bias[i]);
    for (std::size_t o = 0; o < outputs_; ++o) {
      const auto w = static_cast<double>(second_weight[o * hidden_ + i]);
      slope[o] += w * a;
      offset[o] += w * b;
    }
  };
  const auto write_piece = [&](std::size_t j) {
    T* row = table_.data() + j * 2 * stride_;
    for (std::size_t o = 0; o < outputs_; ++o) {
      row[o] = static_cast<T>(slope[o]);
      row[stride_ + o] = static_cast<T>(offset[o]);
    }
  };
  for (std::size_t i = 0; i < hidden_; ++i) {
    const Active range = active(i, weight_of(i), first_bias[i]);
    if (range.begin == 0 && range.end > 0) add_unit(i, 1.0);
  }
  write_piece(0);
  for (std::size_t k = 0; k < hidden_; ++k) {
    const T weight = weight_of(order[k]);
    if (weight != 0) add_unit(order[k], weight > 0 ? 1.0 : -1.0);
    write_piece(k + 1);
  }
}

template <typename T>
void ScalarLayers<T>::forward(const T* u, T* output, T* piece) const {
  Scratch::Frame frame;
  kernels::piecewise_forward(
      kernels::PiecewiseForwardArguments<T>{.knots = knots_.data(),
                                            .knot_count = hidden_,
                                            .table = table_.data(),
                                            .outputs = outputs_,
                                            .input = u,
                                            .relu = true,
                                            .output = output,
                                            .piece = piece,
                                            .scratch = frame.take<T>(kTileRows * stride_)});
}

template <typename T>
std::size_t ScalarLayers<T>::accumulator_size() const {
  return table_.size();
}

template <typename T>
void ScalarLayers<T>::backward(const T* u, const T* piece, const T* output_gradient,
                               T* input_gradient, T* accumulator) const {
  Scratch::Frame frame;
  kernels::piecewise_backward(
      kernels::PiecewiseBackwardArguments<T>{.table = table_.data(),
                                             .outputs = outputs_,
                                             .input = u,
                                             .piece = piece,
                                             .output_gradient = output_gradient,
                                             .input_gradient = input_gradient,
                                             .sums = accumulator,
                                             .scratch = frame.take<T>(kTileRows * stride_)});
}

template <typename T>
void ScalarLayers<T>::add_gradient(const T* accumulator, const T* first_weight, const T* first_bias,
                                   const T* second_weight, T* first_weight_gradient,
                                   T* first_bias_gradient, T* second_weight_gradient,
                                   T* second_bias_gradient) const {
  // Sums over the pieces below each, so that a range of pieces is a difference.
  const std::size_t pieces = hidden_ + 1;
  std::vector<double> below((pieces + 1) * 2 * outputs_, 0.0);
  for (std::size_t j = 0; j < pieces; ++j) {
    const T* sums = accumulator + j * 2 * stride_;
    const double* last = below.data() + j * 2 * outputs_;
    double* next = below.data() + (j + 1) * 2 * outputs_;
    for (std::size_t o = 0; o < outputs_; ++o) {
      next[o] = last[o] + static_cast<double>(sums[o]);
      next[outputs_ + o] = last[outputs_ + o] + static_cast<double>(sums[stride_ + o]);
    }
  }
  const double* all = below.data() + pieces * 2 * outputs_;
  for (std::size_t o = 0; o < outputs_; ++o) {
    second_bias_gradient[o] += static_cast<T>(all[outputs_ + o]);
  }
  for (std::size_t i = 0; i < hidden_; ++i) {
    const T weight = first_weight[i * inputs_ + column_];
    const Active range = active(i, weight, first_bias[i]);
    const double* from = below.data() + range.begin * 2 * outputs_;
    const double* to = below.data() + range.end * 2 * outputs_;
    const auto a = static_cast<double>(weight);
    const auto b = static_cast<double>(first_bias[i]);
    double weight_gradient = 0;
    double bias_gradient = 0;
    for (std::size_t o = 0; o < outputs_; ++o) {
      const double g1 = to[o] - from[o];
      const double g0 = to[outputs_ + o] - from[outputs_ + o];
      const auto w = static_cast<double>(second_weight[o * hidden_ + i]);
      second_weight_gradient[o * hidden_ + i] += static_cast<T>(a * g1 + b * g0);
      weight_gradient += w * g1;
      bias_gradient += w * g0;
    }
    first_weight_gradient[i * inputs_ + column_] += static_cast<T>(weight_gradient);
    first_bias_gradient[i] += static_cast<T>(bias_gradient);
  }
}

template class ScalarLayers<float>;
template class ScalarLayers<double>;

}  // namespace jeffreys
