#include "kernels/tile_layer.h"

#include <algorithm>
#include <numeric>

#include "kernels/scratch.h"

namespace jeffreys {
namespace {

using kernels::DenseBlock;
using kernels::GradientBlock;
using kernels::kMaxBlockRows;
using kernels::kTileRows;

std::vector<std::uint32_t> sorted_by(const std::vector<std::int64_t>& degrees) {
  std::vector<std::uint32_t> order(degrees.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return degrees[a] < degrees[b]; });
  return order;
}

// Calls make(first, count) for near-equal pieces of [begin, end) of at most kMaxBlockRows.
template <typename Make>
void split_rows(std::size_t begin, std::size_t end, Make make) {
  for (std::size_t pieces = (end - begin + kMaxBlockRows - 1) / kMaxBlockRows; pieces > 0;
       --pieces) {
    const std::size_t count = (end - begin + pieces - 1) / pieces;
    make(begin, count);
    begin += count;
  }
}

}  // namespace

template <typename T>
TileLayer<T>::TileLayer(const std::vector<std::int64_t>& input_degrees,
                        const std::vector<std::int64_t>& output_degrees)
    : input_degrees_(input_degrees),
      output_degrees_(output_degrees),
      input_order_(sorted_by(input_degrees)),
      output_order_(sorted_by(output_degrees)),
      visible_(output_degrees.size()),
      bias_(output_degrees.size()) {
  for (std::size_t o = 0; o < outputs(); ++o) {
    visible_[o] = static_cast<std::uint32_t>(visible_inputs(o));
  }
  make_forward_blocks();
  make_backward_blocks();
  make_gradient_blocks();
}

template <typename T>
TileLayer<T> TileLayer<T>::dense(std::size_t inputs, std::size_t outputs) {
  return TileLayer(std::vector<std::int64_t>(inputs, 0), std::vector<std::int64_t>(outputs, 0));
}

template <typename T>
std::size_t TileLayer<T>::visible_inputs(std::size_t sorted_output) const {
  const std::int64_t degree = output_degrees_[output_order_[sorted_output]];
  const auto end =
      std::partition_point(input_order_.begin(), input_order_.end(),
                           [&](std::uint32_t input) { return input_degrees_[input] <= degree; });
  return static_cast<std::size_t>(end - input_order_.begin());
}

// A forward block never mixes degrees: the incremental inverse fills one degree at a time.
template <typename T>
void TileLayer<T>::make_forward_blocks() {
  std::size_t offset = 0;
  for (std::size_t begin = 0; begin < outputs();) {
    const std::int64_t degree = output_degrees_[output_order_[begin]];
    const std::size_t first = forward_blocks_.size();
    std::size_t end = begin;
    while (end < outputs() && output_degrees_[output_order_[end]] == degree) ++end;
    if (visible_[begin] > 0) {
      split_rows(begin, end, [&](std::size_t row, std::size_t rows) {
        forward_blocks_.push_back({static_cast<std::uint32_t>(row),
                                   static_cast<std::uint32_t>(rows), 0, visible_[begin], offset});
        offset += rows * visible_[begin];
      });
    }
    while (degree_begin_.size() <= static_cast<std::size_t>(degree)) degree_begin_.push_back(first);
    begin = end;
  }
  degree_begin_.push_back(forward_blocks_.size());
  forward_weights_.resize(offset);
}

// Rows of the transposed matrix may mix degrees (their masked weights are packed as zeros), except
// that inputs of degree 0, the context, form blocks of their own: they come first.
template <typename T>
void TileLayer<T>::make_backward_blocks() {
  const auto first_seen = [&](std::size_t sorted_input) {
    const std::int64_t degree = input_degrees_[input_order_[sorted_input]];
    const auto begin = std::partition_point(
        output_order_.begin(), output_order_.end(),
        [&](std::uint32_t output) { return output_degrees_[output] < degree; });
    return static_cast<std::uint32_t>(begin - output_order_.begin());
  };
  std::size_t offset = 0;
  const auto make = [&](std::size_t row, std::size_t rows) {
    const std::uint32_t begin = first_seen(row);
    const auto end = static_cast<std::uint32_t>(outputs());
    backward_blocks_.push_back(
        {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(rows), begin, end, offset});
    offset += rows * (end - begin);
  };
  std::size_t context = 0;
  while (context < inputs() && input_degrees_[input_order_[context]] == 0) ++context;
  split_rows(0, context, make);
  split_rows(context, inputs(), make);
  backward_weights_.resize(offset);
}

template <typename T>
void TileLayer<T>::make_gradient_blocks() {
  std::size_t begin = 0;
  while (begin < outputs() && visible_[begin] == 0) ++begin;
  split_rows(begin, outputs(), [&](std::size_t row, std::size_t rows) {
    gradient_blocks_.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(rows),
                                visible_[row + rows - 1]});
  });
}

template <typename T>
void TileLayer<T>::pack(const T* weight, const T* bias) {
  const std::size_t in = inputs();
  for (std::size_t o = 0; o < outputs(); ++o) bias_[o] = bias[output_order_[o]];
  for (const DenseBlock& block : forward_blocks_) {
    T* packed = forward_weights_.data() + block.offset;
    for (std::size_t k = block.begin; k < block.end; ++k) {
      for (std::size_t r = 0; r < block.rows; ++r) {
        *packed++ = weight[output_order_[block.row + r] * in + input_order_[k]];
      }
    }
  }
  // A few rows of the matrix at a time: reading down whole columns would miss the cache.
  constexpr std::size_t kStep = 16;
  for (std::size_t first = 0; first < outputs(); first += kStep) {
    for (const DenseBlock& block : backward_blocks_) {
      const std::size_t end = std::min<std::size_t>(first + kStep, block.end);
      for (std::size_t k = std::max<std::size_t>(first, block.begin); k < end; ++k) {
        T* packed = backward_weights_.data() + block.offset + (k - block.begin) * block.rows;
        const T* row = weight + output_order_[k] * in;
        for (std::size_t r = 0; r < block.rows; ++r) {
          packed[r] = block.row + r < visible_[k] ? row[input_order_[block.row + r]] : T(0);
        }
      }
    }
  }
}

template <typename T>
void TileLayer<T>::forward(const T* input, T* output, bool relu, T scale, std::size_t tiles) const {
  kernels::dense(kernels::DenseArguments<T>{.blocks = forward_blocks_.data(),
                                            .block_count = forward_blocks_.size(),
                                            .weights = forward_weights_.data(),
                                            .scale = scale,
                                            .bias = bias_.data(),
                                            .relu = relu,
                                            .input = input,
                                            .output = output,
                                            .tiles = tiles,
                                            .input_stride = inputs() * kTileRows,
                                            .output_stride = outputs() * kTileRows});
}

template <typename T>
void TileLayer<T>::forward_degree(std::int64_t degree, const T* input, T* output, bool relu) const {
  const auto index = static_cast<std::size_t>(degree);
  if (index + 1 >= degree_begin_.size()) return;
  const std::size_t begin = degree_begin_[index];
  const std::size_t end = degree_begin_[index + 1];
  if (begin == end) return;
  kernels::dense(kernels::DenseArguments<T>{.blocks = forward_blocks_.data() + begin,
                                            .block_count = end - begin,
                                            .weights = forward_weights_.data(),
                                            .bias = bias_.data(),
                                            .relu = relu,
                                            .input = input,
                                            .output = output});
}

template <typename T>
void TileLayer<T>::backward(const T* output_gradient, const T* gate, T* input_gradient, T scale,
                            std::size_t tiles) const {
  kernels::dense(kernels::DenseArguments<T>{.blocks = backward_blocks_.data(),
                                            .block_count = backward_blocks_.size(),
                                            .weights = backward_weights_.data(),
                                            .scale = scale,
                                            .gate = gate,
                                            .input = output_gradient,
                                            .output = input_gradient,
                                            .tiles = tiles,
                                            .input_stride = outputs() * kTileRows,
                                            .output_stride = inputs() * kTileRows});
}

template <typename T>
std::size_t TileLayer<T>::accumulator_size() const {
  const std::size_t biases = kernels::gradient_stride(outputs());
  return biases + outputs() * kernels::gradient_stride(inputs());
}

template <typename T>
std::size_t TileLayer<T>::scratch_size(std::size_t tiles) const {
  return tiles * kTileRows * kernels::gradient_stride(inputs());
}

template <typename T>
void TileLayer<T>::accumulate(const T* output_gradient, const T* input, T* accumulator,
                              std::size_t tiles) const {
  Scratch::Frame frame;
  const std::size_t biases = kernels::gradient_stride(outputs());
  kernels::weight_gradient(
      kernels::WeightGradientArguments<T>{.blocks = gradient_blocks_.data(),
                                          .block_count = gradient_blocks_.size(),
                                          .output_gradient = output_gradient,
                                          .input = input,
                                          .tiles = tiles,
                                          .output_stride = outputs() * kTileRows,
                                          .input_stride = inputs() * kTileRows,
                                          .weight_gradient = accumulator + biases,
                                          .bias_gradient = accumulator,
                                          .columns = inputs(),
                                          .scratch = frame.take<T>(scratch_size(tiles))});
}

template <typename T>
void TileLayer<T>::add_gradient(const T* accumulator, T* weight_gradient, T* bias_gradient) const {
  for (std::size_t o = 0; o < outputs(); ++o) {
    bias_gradient[output_order_[o]] += bias_sums(accumulator)[o];
    const T* sums = weight_sums(accumulator, o);
    T* row = weight_gradient + output_order_[o] * inputs();
    for (std::size_t i = 0; i < visible_[o]; ++i) row[input_order_[i]] += sums[i];
  }
}

template class TileLayer<float>;
template class TileLayer<double>;

}  // namespace jeffreys
