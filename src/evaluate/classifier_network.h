// A network that tells two kinds of rows apart: two hidden ReLU layers and one logit, trained by
// the rules of scikit-learn's MLPClassifier with its default settings. The logistic loss has the
// slope (probability - label) at the logit, so a network of unmasked tile layers needs no more than
// this weight for every row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "jeffreys/base/matrix.h"
#include "kernels/random.h"
#include "kernels/scratch.h"
#include "kernels/tile_layer.h"

namespace jeffreys {

// Rows of two kinds; sign[i] is 1 if row i of x [rows, features] is of the positive kind, else -1.
struct LabeledRows {
  const Matrix<float>& x;
  const std::vector<float>& sign;
};

class ClassifierNetwork {
 public:
  // Glorot-uniform weights and biases. `seed` and `number` (below 2^16) decide about them and about
  // the order of rows in training.
  ClassifierNetwork(std::size_t features, std::size_t width, std::uint64_t seed,
                    std::uint64_t number);

  // Adam on shuffled batches of 200 of these rows, until the loss has gained less than 1e-4 on the
  // best one for more than 10 epochs, or max_epochs. Returns the number of epochs.
  std::size_t train(const LabeledRows& data, std::vector<std::size_t> rows, std::size_t max_epochs);

  // The sum of the rows' losses and the L2 penalty of one batch; writes the gradient of this sum.
  double loss(const LabeledRows& data, std::span<const std::size_t> rows,
              std::span<float> gradient) const;

  // Above 0 where the positive kind is likelier.
  [[nodiscard]] std::vector<float> logits(const Matrix<float>& x,
                                          std::span<const std::size_t> rows) const;

  // Layer by layer: weights [outputs, inputs], then biases [outputs].
  [[nodiscard]] std::span<const float> parameters() const { return parameters_; }

 private:
  struct Layer {
    TileLayer<float> tiles;
    std::size_t weights;  // where they begin in parameters_
    [[nodiscard]] std::size_t biases() const { return weights + tiles.inputs() * tiles.outputs(); }
  };
  // Values of all layers for one batch, the first ones being the rows: [tiles][width][64] each.
  using Tape = std::array<float*, 4>;

  Tape forward(const Matrix<float>& x, std::span<const std::size_t> rows,
               Scratch::Frame& frame) const;
  void backward(const Tape& tape, std::size_t tiles, float* gradient) const;
  void step(const std::vector<float>& gradient, std::size_t rows);
  void pack();
  [[nodiscard]] double penalty() const;

  std::vector<Layer> layers_;
  std::vector<float> parameters_;
  std::vector<float> first_moment_;
  std::vector<float> second_moment_;
  std::size_t steps_ = 0;
  std::uint64_t seed_;
  std::uint64_t number_;
};

}  // namespace jeffreys
