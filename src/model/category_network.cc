#include "model/category_network.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/checks.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"
#include "model/choose_by_noise.h"

namespace jeffreys {
namespace {

// Degrees are dealt out evenly. Without a context no unit has degree 0, for it would see nothing.
std::vector<Eigen::Index> hidden_ends(Eigen::Index width, Eigen::Index columns, bool context) {
  const Eigen::Index first = context ? 0 : 1;
  std::vector<Eigen::Index> ends;
  for (Eigen::Index degree = 0; degree < columns; ++degree) {
    ends.push_back(width * (degree + 1 - first) / (columns - first));
  }
  return ends;
}

// One column that depends on nothing has no use for hidden layers.
bool needs_hidden(std::size_t columns, Eigen::Index context_features) {
  return columns > 1 || context_features > 0;
}

template <typename T>
Eigen::Map<const Matrix<T>> matrix_at(const T* buffer, std::size_t offset, Eigen::Index rows,
                                      Eigen::Index columns) {
  return {buffer + offset, rows, columns};
}

template <typename T>
Eigen::Map<Matrix<T>> matrix_at(T* buffer, std::size_t offset, Eigen::Index rows,
                                Eigen::Index columns) {
  return {buffer + offset, rows, columns};
}

// The sums of the rows that share a row of the context.
template <typename T>
Matrix<T> fold(const Matrix<T>& rows, Eigen::Index period) {
  Matrix<T> sums = Matrix<T>::Zero(period, rows.cols());
  for (Eigen::Index first = 0; first < rows.rows(); first += period) {
    sums += rows.middleRows(first, period);
  }
  return sums;
}

// sum += left * right. A row's sums are taken in the same order wherever it stands: Eigen's
// products, and its exponentials of whole arrays, round the last rows of a batch differently.
template <typename T>
void add_product(const Eigen::Ref<const Matrix<T>>& left, const Eigen::Ref<const Matrix<T>>& right,
                 Eigen::Ref<Matrix<T>> sum) {
  for (Eigen::Index r = 0; r < left.rows(); ++r) {
    for (Eigen::Index k = 0; k < left.cols(); ++k) sum.row(r) += left(r, k) * right.row(k);
  }
}

}  // namespace

double category_parameters(const std::vector<Eigen::Index>& sizes, Eigen::Index context_features,
                           const std::vector<Eigen::Index>& hidden) {
  double outputs = 0;
  for (const Eigen::Index size : sizes) outputs += static_cast<double>(size);
  const double inputs =
      outputs - static_cast<double>(sizes.back()) + static_cast<double>(context_features);
  double total = outputs * (1 + inputs);
  if (hidden.empty() || !needs_hidden(sizes.size(), context_features)) return total;
  double before = inputs;
  for (const Eigen::Index width : hidden) {
    total += static_cast<double>(width) * (1 + before);
    before = static_cast<double>(width);
  }
  return total + before * outputs;
}

template <typename T>
CategoryNetwork<T>::CategoryNetwork(const CategoryColumns& columns, Eigen::Index context_features,
                                    const std::vector<Eigen::Index>& hidden)
    : columns_(columns), context_(context_features) {
  const auto count = static_cast<std::size_t>(columns_.count());
  for (std::size_t l = 0; needs_hidden(count, context_) && l < hidden.size(); ++l) {
    add_layer(fmt::format("hidden.{}", l), hidden_ends(hidden[l], columns_.count(), context_ > 0),
              l == 0);
  }
  std::vector<Eigen::Index> ends;
  for (Eigen::Index j = 0; j < columns_.count(); ++j) ends.push_back(columns_.offset(j + 1));
  add_layer("logits", std::move(ends), true);
}

template <typename T>
void CategoryNetwork<T>::add_layer(const std::string& name, std::vector<Eigen::Index> ends,
                                   bool sees_inputs) {
  Layer layer;
  layer.width = ends.back();
  layer.ends = std::move(ends);
  layer.sees_inputs = sees_inputs;
  layer.bias = layout_.add(name + ".bias", {layer.width});
  if (sees_inputs) {
    layer.classes = layout_.add(name + ".classes", {inputs(), layer.width});
    layer.context = layout_.add(name + ".context", {context_, layer.width});
  }
  if (!layers_.empty()) {
    layer.before = layers_.back().width;
    layer.weight = layout_.add(name + ".weight", {layer.before, layer.width});
  }
  layers_.push_back(std::move(layer));
}

// A one-hot code counts as one input: so many numbers of it are not 0.
template <typename T>
void CategoryNetwork<T>::initialise(std::uint64_t seed, std::span<T> parameters) const {
  std::fill(parameters.begin(), parameters.end(), T(0));
  for (std::size_t l = 0; l + 1 < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const Eigen::Index seen = l == 0 ? columns_.count() - 1 + context_ : layer.before;
    const T bound = T(1) / std::sqrt(static_cast<T>(seen));
    // The blocks of a layer follow each other.
    const std::span<T> own = parameters.subspan(layer.bias, layers_[l + 1].bias - layer.bias);
    kernels::fill_uniforms(
        kernels::RandomArguments<T>{{seed, kInitialWeights, l}, 0, 1, own.size(), own.data()});
    for (T& value : own) value = bound * (2 * value - 1);
  }
}

template <typename T>
void CategoryNetwork<T>::set_frequencies(const CodeMatrix& codes, std::span<T> parameters) const {
  T* bias = parameters.data() + layers_.back().bias;
  for (Eigen::Index j = 0; j < columns_.count(); ++j) {
    Vector<double> counts = Vector<double>::Constant(columns_.size(j), 0.5);
    for (Eigen::Index r = 0; r < codes.rows(); ++r) {
      if (columns_.is_class(j, codes(r, j))) counts(codes(r, j)) += 1;
    }
    const double total = counts.sum();
    for (const double count : counts) *bias++ = static_cast<T>(std::log(count / total));
  }
}

template <typename T>
void CategoryNetwork<T>::evaluate(std::span<const T> parameters, CategoryPass<T>& pass) const {
  run(parameters.data(), pass.codes.rows(), pass, [](Eigen::Index) {});
}

template <typename T>
void CategoryNetwork<T>::sample(std::span<const T> parameters, const MatrixView<T>& noise,
                                CategoryPass<T>& pass) const {
  pass.codes.resize(noise.rows(), columns_.count());
  run(parameters.data(), noise.rows(), pass, [&](Eigen::Index column) {
    const auto size = static_cast<std::size_t>(columns_.size(column));
    for (Eigen::Index r = 0; r < noise.rows(); ++r) {
      const T* own = &pass.units.back()(r, columns_.offset(column));
      const auto z = static_cast<double>(noise(r, column));
      pass.codes(r, column) = std::isfinite(z)
                                  ? static_cast<std::int32_t>(choose_by_noise<T>({own, size}, z))
                                  : kNoCode;
    }
  });
}

// Calls choose(column) when the column's probabilities are known and its codes must be.
template <typename T>
template <typename Choose>
void CategoryNetwork<T>::run(const T* parameters, Eigen::Index rows, CategoryPass<T>& pass,
                             const Choose& choose) const {
  pass.units.resize(layers_.size());
  pass.gates.resize(layers_.size() - 1);
  for (std::size_t l = 0; l < layers_.size(); ++l) begin_layer(parameters, l, rows, pass);
  pass.log_prob = Vector<T>::Zero(rows);
  for (Eigen::Index j = 0; rows > 0 && j < columns_.count(); ++j) {
    for (std::size_t l = 0; l < layers_.size(); ++l) fill_units(parameters, l, j, pass);
    finish_column(j, pass, choose);
    if (j + 1 < columns_.count()) show_column(parameters, j, pass);
  }
  // NaN for a row whose context is not finite.
  for (Eigen::Index r = 0; context_ > 0 && r < rows; ++r) {
    pass.log_prob(r) += T(0) * pass.context.row(r % pass.context.rows()).sum();
  }
}

// What is the same for every class: the biases and the context.
template <typename T>
void CategoryNetwork<T>::begin_layer(const T* parameters, std::size_t l, Eigen::Index rows,
                                     CategoryPass<T>& pass) const {
  const Layer& layer = layers_[l];
  Matrix<T>& units = pass.units[l];
  units.resize(rows, layer.width);
  if (l + 1 < layers_.size()) pass.gates[l].resize(rows, layer.width);
  const auto bias = matrix_at(parameters, layer.bias, 1, layer.width);
  if (!layer.sees_inputs || context_ == 0) {
    units.rowwise() = bias.row(0);
    return;
  }
  Matrix<T> start = bias.replicate(pass.context.rows(), 1);
  add_product<T>(pass.context, matrix_at(parameters, layer.context, context_, layer.width), start);
  for (Eigen::Index first = 0; first < rows; first += start.rows()) {
    units.middleRows(first, start.rows()) = start;
  }
}

// Completes the units whose degree is the column: all that they see is known.
template <typename T>
void CategoryNetwork<T>::fill_units(const T* parameters, std::size_t l, Eigen::Index column,
                                    CategoryPass<T>& pass) const {
  const Layer& layer = layers_[l];
  auto units = pass.units[l].middleCols(layer.begin(column), layer.units(column));
  if (l > 0) {
    const Eigen::Index visible = layers_[l - 1].end(column);
    const auto weight = matrix_at(parameters, layer.weight, layer.before, layer.width);
    add_product<T>(pass.units[l - 1].leftCols(visible),
                   weight.block(0, layer.begin(column), visible, layer.units(column)), units);
  }
  if (l + 1 == layers_.size()) return;
  auto gates = pass.gates[l].middleCols(layer.begin(column), layer.units(column));
  gates = units.unaryExpr([](T unit) { return 1 / (1 + std::exp(-unit)); });
  units.array() *= gates.array();
}

// Logits become probabilities.
template <typename T>
template <typename Choose>
void CategoryNetwork<T>::finish_column(Eigen::Index column, CategoryPass<T>& pass,
                                       const Choose& choose) const {
  auto own = pass.units.back().middleCols(columns_.offset(column), columns_.size(column));
  const Vector<T> top = own.rowwise().maxCoeff();
  const Matrix<T> logits = own.colwise() - top;
  own = logits.unaryExpr([](T logit) { return std::exp(logit); });
  Vector<T> sums = own.col(0);
  for (Eigen::Index k = 1; k < own.cols(); ++k) sums += own.col(k);
  own.array().colwise() /= sums.array();
  choose(column);
  for (Eigen::Index r = 0; r < logits.rows(); ++r) {
    const std::int32_t code = pass.codes(r, column);
    if (columns_.is_class(column, code)) pass.log_prob(r) += logits(r, code) - std::log(sums(r));
    if (code == kNoCode) pass.log_prob(r) = std::numeric_limits<T>::quiet_NaN();
  }
}

// Adds what the column's classes say to the units that see it: those of higher degrees.
template <typename T>
void CategoryNetwork<T>::show_column(const T* parameters, Eigen::Index column,
                                     CategoryPass<T>& pass) const {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    if (!layer.sees_inputs) continue;
    const Eigen::Index later = layer.width - layer.end(column);
    const auto classes = matrix_at(parameters, layer.classes, inputs(), layer.width);
    for (Eigen::Index r = 0; r < pass.codes.rows(); ++r) {
      const std::int32_t code = pass.codes(r, column);
      if (!columns_.is_class(column, code)) continue;
      pass.units[l].row(r).tail(later) += classes.row(columns_.offset(column) + code).tail(later);
    }
  }
}

template <typename T>
void CategoryNetwork<T>::add_scores(std::span<const T> parameters, const CategoryPass<T>& pass,
                                    const VectorView<T>& weights, std::span<T> gradient) const {
  if (pass.codes.rows() == 0) return;
  Matrix<T> signal = logit_signal(pass, weights);
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const Layer& layer = layers_[l];
    matrix_at(gradient.data(), layer.bias, 1, layer.width) += signal.colwise().sum();
    if (layer.sees_inputs) add_input_scores(pass, layer, signal, gradient.data());
    if (l > 0) signal = go_back(parameters.data(), pass, l, signal, gradient.data());
  }
}

// d (weights . log_prob) / d logits: weight (one-hot code - probabilities), and nothing where a
// column has no class.
template <typename T>
Matrix<T> CategoryNetwork<T>::logit_signal(const CategoryPass<T>& pass,
                                           const VectorView<T>& weights) const {
  Matrix<T> signal = (-weights).asDiagonal() * pass.units.back();
  for (Eigen::Index r = 0; r < signal.rows(); ++r) {
    for (Eigen::Index j = 0; j < columns_.count(); ++j) {
      const std::int32_t code = pass.codes(r, j);
      if (columns_.is_class(j, code)) {
        signal(r, columns_.offset(j) + code) += weights(r);
      } else {
        signal.row(r).segment(columns_.offset(j), columns_.size(j)).setZero();
      }
    }
  }
  return signal;
}

template <typename T>
void CategoryNetwork<T>::add_input_scores(const CategoryPass<T>& pass, const Layer& layer,
                                          const Matrix<T>& signal, T* gradient) const {
  auto classes = matrix_at(gradient, layer.classes, inputs(), layer.width);
  for (Eigen::Index j = 0; j + 1 < columns_.count(); ++j) {
    const Eigen::Index later = layer.width - layer.end(j);
    for (Eigen::Index r = 0; r < signal.rows(); ++r) {
      const std::int32_t code = pass.codes(r, j);
      if (!columns_.is_class(j, code)) continue;
      classes.row(columns_.offset(j) + code).tail(later) += signal.row(r).tail(later);
    }
  }
  if (context_ == 0) return;
  matrix_at(gradient, layer.context, context_, layer.width).noalias() +=
      pass.context.transpose() * fold(signal, pass.context.rows());
}

// Adds the scores of the weights between a layer and the one before, and returns the signal there.
template <typename T>
Matrix<T> CategoryNetwork<T>::go_back(const T* parameters, const CategoryPass<T>& pass,
                                      std::size_t l, const Matrix<T>& signal, T* gradient) const {
  const Layer& layer = layers_[l];
  const Matrix<T>& units = pass.units[l - 1];
  const auto weight = matrix_at(parameters, layer.weight, layer.before, layer.width);
  auto scores = matrix_at(gradient, layer.weight, layer.before, layer.width);
  Matrix<T> result = Matrix<T>::Zero(signal.rows(), layer.before);
  for (Eigen::Index j = 0; j < columns_.count(); ++j) {
    const Eigen::Index visible = layers_[l - 1].end(j);
    const auto own = signal.middleCols(layer.begin(j), layer.units(j));
    scores.block(0, layer.begin(j), visible, layer.units(j)).noalias() +=
        units.leftCols(visible).transpose() * own;
    result.leftCols(visible).noalias() +=
        own * weight.block(0, layer.begin(j), visible, layer.units(j)).transpose();
  }
  // The slope of SiLU u = z g, g = sigmoid(z), is g + u (1 - g).
  const auto gates = pass.gates[l - 1].array();
  result.array() *= gates + units.array() * (T(1) - gates);
  return result;
}

template class CategoryNetwork<float>;
template class CategoryNetwork<double>;

}  // namespace jeffreys
