// Probabilities of categories: log P(k | c) = sum_j log softmax(logits_j)[k_j], where the logits of
// column j depend on the context c and on the columns before it,
//   logits = bias + linear part of (one-hot codes, c) + weights times hidden units.
// Hidden units (SiLU) have a degree: one of degree d sees the columns before column d, and the
// logits of column j see the units of degree at most j. Units are sorted by degree, so that every
// mask is a range, and columns are worked on in their order, so that evaluating and drawing are the
// same work.
//
// The network owns no parameters: it knows the shape of a buffer that somebody else has.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jeffreys/base/matrix.h"
#include "jeffreys/model/parameter_layout.h"
#include "model/category_columns.h"

namespace jeffreys {

// What becomes of rows in the network, kept for their scores.
template <typename T>
struct CategoryPass {
  CodeMatrix codes;   // [rows, columns]
  Matrix<T> context;  // [rows, or a divisor of that, context features]
  // By layer: the hidden units after SiLU, and last the probabilities of the classes.
  std::vector<Matrix<T>> units;
  std::vector<Matrix<T>> gates;  // by hidden layer: the sigmoids by which SiLU multiplies
  Vector<T> log_prob;            // [rows]: NaN for a row with a number that is no code
};

template <typename T>
class CategoryNetwork {
 public:
  CategoryNetwork(const CategoryColumns& columns, Eigen::Index context_features,
                  const std::vector<Eigen::Index>& hidden);

  [[nodiscard]] const CategoryColumns& columns() const { return columns_; }
  [[nodiscard]] const ParameterLayout& layout() const { return layout_; }

  // All classes of a column are equally probable, and nothing depends on anything: what leads to
  // the logits starts at 0, what leads to the hidden units at random.
  void initialise(std::uint64_t seed, std::span<T> parameters) const;
  // Sets the biases of the logits to the logarithms of the classes' frequencies, half a row added
  // to each class so that none is impossible.
  void set_frequencies(const CodeMatrix& codes, std::span<T> parameters) const;

  // From codes and context to everything else.
  void evaluate(std::span<const T> parameters, CategoryPass<T>& pass) const;
  // From the context and standard normal noise [rows, columns] to codes and everything else. Noise
  // that is not finite becomes no code.
  void sample(std::span<const T> parameters, const MatrixView<T>& noise,
              CategoryPass<T>& pass) const;

  // gradient += sum_i weights_i grad log P(k_i | c_i)
  void add_scores(std::span<const T> parameters, const CategoryPass<T>& pass,
                  const VectorView<T>& weights, std::span<T> gradient) const;

 private:
  // The logits are the last layer: their degree is their column. Numbers of parameters are places
  // in the buffer.
  struct Layer {
    Eigen::Index width = 0;
    std::vector<Eigen::Index> ends;  // by degree: how many units have at most that degree
    std::size_t bias = 0;
    bool sees_inputs = false;  // the classes of the columns, and the context
    std::size_t classes = 0;   // [classes of all columns but the last, width]
    std::size_t context = 0;   // [context features, width]
    Eigen::Index before = 0;   // units of the layer before that it sees
    std::size_t weight = 0;    // [before, width]

    [[nodiscard]] Eigen::Index end(Eigen::Index degree) const {
      return degree < 0 ? 0 : ends[static_cast<std::size_t>(degree)];
    }
    [[nodiscard]] Eigen::Index begin(Eigen::Index degree) const { return end(degree - 1); }
    [[nodiscard]] Eigen::Index units(Eigen::Index degree) const {
      return end(degree) - begin(degree);
    }
  };

  void add_layer(const std::string& name, std::vector<Eigen::Index> ends, bool sees_inputs);
  [[nodiscard]] Eigen::Index inputs() const { return columns_.offset(columns_.count() - 1); }

  template <typename Choose>
  void run(const T* parameters, Eigen::Index rows, CategoryPass<T>& pass,
           const Choose& choose) const;
  void begin_layer(const T* parameters, std::size_t l, Eigen::Index rows,
                   CategoryPass<T>& pass) const;
  void fill_units(const T* parameters, std::size_t l, Eigen::Index column,
                  CategoryPass<T>& pass) const;
  template <typename Choose>
  void finish_column(Eigen::Index column, CategoryPass<T>& pass, const Choose& choose) const;
  void show_column(const T* parameters, Eigen::Index column, CategoryPass<T>& pass) const;

  [[nodiscard]] Matrix<T> logit_signal(const CategoryPass<T>& pass,
                                       const VectorView<T>& weights) const;
  void add_input_scores(const CategoryPass<T>& pass, const Layer& layer, const Matrix<T>& signal,
                        T* gradient) const;
  [[nodiscard]] Matrix<T> go_back(const T* parameters, const CategoryPass<T>& pass, std::size_t l,
                                  const Matrix<T>& signal, T* gradient) const;

  CategoryColumns columns_;
  Eigen::Index context_;
  ParameterLayout layout_;
  std::vector<Layer> layers_;
};

// The number of parameters, in a type that no damaged file makes overflow.
double category_parameters(const std::vector<Eigen::Index>& sizes, Eigen::Index context_features,
                           const std::vector<Eigen::Index>& hidden);

}  // namespace jeffreys
