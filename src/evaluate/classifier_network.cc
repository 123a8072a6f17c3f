#include "evaluate/classifier_network.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/checks.h"
#include "base/shuffle.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/adamw.h"

namespace jeffreys {
namespace {

using kernels::kTileRows;

constexpr std::size_t kBatchRows = 200;
constexpr double kNetworkLearningRate = 1e-3;
constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kAdamTolerance = 1e-8;
constexpr double kPenalty = 1e-4;  // alpha: half of it times the squared weights, for each batch
constexpr double kLeastGain = 1e-4;
constexpr std::size_t kEpochsWithoutGain = 10;

std::size_t tiles_of(std::size_t rows) { return (rows + kTileRows - 1) / kTileRows; }

// [tiles][features][64] from scattered rows; places beyond the last row become 0.
void gather(const Matrix<float>& x, std::span<const std::size_t> rows, float* tiles) {
  const auto features = static_cast<std::size_t>(x.cols());
  std::fill_n(tiles, tiles_of(rows.size()) * features * kTileRows, 0.0F);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float* row = x.data() + rows[i] * features;
    float* place = tiles + i / kTileRows * features * kTileRows + i % kTileRows;
    for (std::size_t f = 0; f < features; ++f) place[f * kTileRows] = row[f];
  }
}

// The slope of each row's loss at its logit, in place of the logit, and the sum of losses. As in
// scikit-learn a loss counts no more than that of the smallest probability above 0 that 1 - p
// resolves in float; its slope does not end there.
double logistic_loss(const LabeledRows& data, std::span<const std::size_t> rows, float* logits) {
  double loss = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float sign = data.sign[rows[i]];
    const float right = 1 / (1 + std::exp(-sign * logits[i]));
    loss -= static_cast<double>(std::log(std::max(right, std::numeric_limits<float>::epsilon())));
    logits[i] = sign * (right - 1);
  }
  std::fill(logits + rows.size(), logits + tiles_of(rows.size()) * kTileRows, 0.0F);
  return loss;
}

}  // namespace

ClassifierNetwork::ClassifierNetwork(std::size_t features, std::size_t width, std::uint64_t seed,
                                     std::uint64_t number)
    : seed_(seed), number_(number) {
  const std::array<std::size_t, 4> widths{features, width, width, 1};
  std::vector<float> uniforms;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    layers_.push_back({TileLayer<float>::dense(widths[l], widths[l + 1]), parameters_.size()});
    uniforms.resize((widths[l] + 1) * widths[l + 1]);
    kernels::fill_uniforms(kernels::RandomArguments<float>{
        {seed_, kNetworkStart, number_}, l, 1, uniforms.size(), uniforms.data()});
    const float bound = std::sqrt(6 / static_cast<float>(widths[l] + widths[l + 1]));
    for (const float u : uniforms) parameters_.push_back(bound * (2 * u - 1));
  }
  first_moment_.resize(parameters_.size());
  second_moment_.resize(parameters_.size());
  pack();
}

void ClassifierNetwork::pack() {
  for (Layer& layer : layers_) {
    layer.tiles.pack(&parameters_[layer.weights], &parameters_[layer.biases()]);
  }
}

ClassifierNetwork::Tape ClassifierNetwork::forward(const Matrix<float>& x,
                                                   std::span<const std::size_t> rows,
                                                   Scratch::Frame& frame) const {
  const std::size_t tiles = tiles_of(rows.size());
  Tape tape{frame.take<float>(tiles * layers_.front().tiles.inputs() * kTileRows)};
  gather(x, rows, tape[0]);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const TileLayer<float>& layer = layers_[l].tiles;
    tape[l + 1] = frame.take<float>(tiles * layer.outputs() * kTileRows);
    layer.forward(tape[l], tape[l + 1], l + 1 < layers_.size(), 1, tiles);
  }
  return tape;
}

// tape.back() holds the slopes at the logits.
void ClassifierNetwork::backward(const Tape& tape, std::size_t tiles, float* gradient) const {
  Scratch::Frame frame;
  const float* slope = tape.back();
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const Layer& layer = layers_[l];
    for (std::size_t i = layer.weights; i < layer.biases(); ++i) {
      gradient[i] = static_cast<float>(kPenalty) * parameters_[i];
    }
    std::fill_n(gradient + layer.biases(), layer.tiles.outputs(), 0.0F);
    float* sums = frame.take_zeros<float>(layer.tiles.accumulator_size());
    layer.tiles.accumulate(slope, tape[l], sums, tiles);
    layer.tiles.add_gradient(sums, gradient + layer.weights, gradient + layer.biases());
    if (l == 0) return;
    float* input_slope = frame.take<float>(tiles * layer.tiles.inputs() * kTileRows);
    layer.tiles.backward(slope, tape[l], input_slope, 1, tiles);
    slope = input_slope;
  }
}

double ClassifierNetwork::penalty() const {
  double squares = 0;
  for (const Layer& layer : layers_) {
    for (std::size_t i = layer.weights; i < layer.biases(); ++i) {
      squares += static_cast<double>(parameters_[i] * parameters_[i]);
    }
  }
  return kPenalty / 2 * squares;
}

double ClassifierNetwork::loss(const LabeledRows& data, std::span<const std::size_t> rows,
                               std::span<float> gradient) const {
  check_size("gradient", std::ssize(gradient), std::ssize(parameters_));
  Scratch::Frame frame;
  const Tape tape = forward(data.x, rows, frame);
  const double loss = logistic_loss(data, rows, tape.back());
  backward(tape, tiles_of(rows.size()), gradient.data());
  return loss + penalty();
}

// One Adam step, from the gradient of a sum over this many rows.
void ClassifierNetwork::step(const std::vector<float>& gradient, std::size_t rows) {
  ++steps_;
  kernels::adamw(kernels::AdamWArguments<float>{
      .size = parameters_.size(),
      .parameters = parameters_.data(),
      .gradient = gradient.data(),
      .first_moment = first_moment_.data(),
      .second_moment = second_moment_.data(),
      .learning_rate = kNetworkLearningRate,
      .beta1 = kBeta1,
      .beta2 = kBeta2,
      // scikit-learn adds it to the root of the second moment before the correction for its start.
      .tolerance = kAdamTolerance / std::sqrt(1 - std::pow(kBeta2, static_cast<double>(steps_))),
      .step = steps_,
      .gradient_factor = 1 / static_cast<double>(rows)});
  pack();
}

std::size_t ClassifierNetwork::train(const LabeledRows& data, std::vector<std::size_t> rows,
                                     std::size_t max_epochs) {
  std::vector<float> gradient(parameters_.size());
  double best = std::numeric_limits<double>::infinity();
  std::size_t without_gain = 0;
  for (std::size_t epoch = 0; epoch < max_epochs; ++epoch) {
    shuffle(rows, {seed_, kBatchOrder, number_ << 32 | epoch});
    double sum = 0;
    for (std::size_t first = 0; first < rows.size(); first += kBatchRows) {
      const auto batch = std::span(rows).subspan(first, std::min(kBatchRows, rows.size() - first));
      sum += loss(data, batch, gradient);
      step(gradient, batch.size());
    }
    const double mean = sum / static_cast<double>(rows.size());
    without_gain = mean > best - kLeastGain ? without_gain + 1 : 0;
    best = std::min(best, mean);
    if (without_gain > kEpochsWithoutGain) return epoch + 1;
  }
  return max_epochs;
}

std::vector<float> ClassifierNetwork::logits(const Matrix<float>& x,
                                             std::span<const std::size_t> rows) const {
  std::vector<float> result;
  for (std::size_t first = 0; first < rows.size(); first += kBatchRows) {
    Scratch::Frame frame;
    const auto batch = rows.subspan(first, std::min(kBatchRows, rows.size() - first));
    const Tape tape = forward(x, batch, frame);
    result.insert(result.end(), tape.back(), tape.back() + batch.size());
  }
  return result;
}

}  // namespace jeffreys
