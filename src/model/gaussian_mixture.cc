#include "jeffreys/model/gaussian_mixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "base/checks.h"
#include "base/log_sum_exp.h"
#include "jeffreys/base/random_purpose.h"
#include "kernels/random.h"
#include "model/architecture.h"
#include "model/choose_by_noise.h"
#include "model/tile_rows.h"

namespace jeffreys {
namespace {

// Places of the blocks in the layout.
constexpr std::size_t kLogits = 0;
constexpr std::size_t kMeans = 1;
constexpr std::size_t kLogDiagonals = 2;
constexpr std::size_t kLower = 3;
constexpr std::size_t kLogitSlopes = 4;
constexpr std::size_t kMeanSlopes = 5;

// Samples are scored by evaluating them again, at their conditions.
template <typename T>
class MixtureTape final : public SampleTape {
 public:
  Matrix<T> context;
};

// 0 where a value is not finite: differences with it are then not NaN.
template <typename T>
Vector<T> finite_or_zero(const Vector<T>& values) {
  return values.unaryExpr([](T value) { return std::isfinite(value) ? value : T(0); });
}

}  // namespace

void GaussianMixtureOptions::validate() const {
  check_between("GaussianMixtureOptions.features", features, 1, kMostUnits);
  check_between("GaussianMixtureOptions.context_features", context_features, 0, kMostUnits);
  check_between("GaussianMixtureOptions.components", components, 1, kMostUnits);
}

double GaussianMixtureOptions::least_parameters() const {
  const auto d = static_cast<double>(features);
  const double each = 1 + d * (d + 3) / 2 + (1 + d) * static_cast<double>(context_features);
  return each * static_cast<double>(components);
}

// Rows of a batch that are worked on together, and what becomes of them.
template <typename T>
struct GaussianMixture<T>::Tile {
  TileRows at{};
  Matrix<T> x;                         // [rows, features]
  Matrix<T> context;                   // [rows, context features]
  std::vector<Matrix<T>> differences;  // by component: x - m_k - A_k c
  std::vector<Matrix<T>> whitened;     // by component: L_k times that
  Matrix<T> weights;                   // [rows, components]: pi_k(c)
  Matrix<T> responsibilities;          // [rows, components]
  Vector<T> log_prob;                  // [rows]
};

template <typename T>
GaussianMixture<T>::GaussianMixture(const GaussianMixtureOptions& options) : options_(options) {
  options_.validate();
  set_layout();
  const ParameterBlock& block = layout_.blocks()[kMeans];
  kernels::fill_normals(kernels::RandomArguments<T>{
      {options_.seed, kInitialWeights, 0}, 0, 1, block.size, parameters_.data() + block.offset});
  pack();
}

template <typename T>
GaussianMixture<T>::GaussianMixture(const std::vector<GaussianComponent>& components) {
  if (components.empty()) throw std::invalid_argument("components: expected at least one");
  options_.features = components.front().mean.size();
  options_.components = static_cast<Eigen::Index>(components.size());
  options_.validate();
  set_layout();
  const Eigen::Index d = options_.features;
  T* logit = parameters_.data() + layout_.blocks()[kLogits].offset;
  T* mean = parameters_.data() + layout_.blocks()[kMeans].offset;
  T* log_diagonal = parameters_.data() + layout_.blocks()[kLogDiagonals].offset;
  T* below = parameters_.data() + layout_.blocks()[kLower].offset;
  for (const GaussianComponent& part : components) {
    if (!(part.weight > 0) || !std::isfinite(part.weight)) {
      throw std::invalid_argument(
          fmt::format("components.weight: expected a positive number, got {}", part.weight));
    }
    check_size("components.mean", part.mean.size(), d);
    check_size("components.factor rows", part.factor.rows(), d);
    check_columns("components.factor", part.factor.cols(), d);
    if (!part.mean.allFinite() || !part.factor.allFinite() ||
        !(part.factor.diagonal().array() > 0).all()) {
      throw std::invalid_argument(
          "components: expected finite means and factors with a positive diagonal");
    }
    const Matrix<double> inverse =
        part.factor.template triangularView<Eigen::Lower>().solve(Matrix<double>::Identity(d, d));
    *logit++ = static_cast<T>(std::log(part.weight));
    for (Eigen::Index i = 0; i < d; ++i) {
      *mean++ = static_cast<T>(part.mean(i));
      *log_diagonal++ = static_cast<T>(std::log(inverse(i, i)));
      for (Eigen::Index j = 0; j < i; ++j) *below++ = static_cast<T>(inverse(i, j));
    }
  }
  pack();
}

template <typename T>
void GaussianMixture<T>::set_layout() {
  const std::int64_t k = options_.components;
  const std::int64_t d = options_.features;
  const std::int64_t c = options_.context_features;
  layout_.add("logits", {k});
  layout_.add("means", {k, d});
  layout_.add("log_diagonals", {k, d});
  layout_.add("lower", {k, d * (d - 1) / 2});
  layout_.add("logit_slopes", {k, c});
  layout_.add("mean_slopes", {k, d, c});
  parameters_.assign(layout_.size(), T(0));
}

template <typename T>
std::string GaussianMixture<T>::architecture() const {
  return write_architecture(options_);
}

template <typename T>
std::unique_ptr<UnnormalizedDensity<T>> GaussianMixture<T>::clone() const {
  return std::make_unique<GaussianMixture>(*this);
}

template <typename T>
void GaussianMixture<T>::edit_parameters(const std::function<void(std::span<T>)>& edit) {
  edit(parameters_);
  pack();
}

template <typename T>
void GaussianMixture<T>::pack() {
  const Eigen::Index d = options_.features;
  const Eigen::Index c = options_.context_features;
  const auto part = [&](std::size_t block, Eigen::Index k, Eigen::Index size) {
    return parameters_.data() + layout_.blocks()[block].offset + static_cast<std::size_t>(k * size);
  };
  components_.resize(static_cast<std::size_t>(options_.components));
  for (Eigen::Index k = 0; k < options_.components; ++k) {
    Component& component = components_[static_cast<std::size_t>(k)];
    component.log_weight = *part(kLogits, k, 1);
    component.mean = Eigen::Map<const Vector<T>>(part(kMeans, k, d), d);
    component.weight_slopes = Eigen::Map<const Vector<T>>(part(kLogitSlopes, k, c), c);
    component.mean_slopes = Eigen::Map<const Matrix<T>>(part(kMeanSlopes, k, d * c), d, c);
    component.factor = Matrix<T>::Zero(d, d);
    const T* diagonal = part(kLogDiagonals, k, d);
    const T* below = part(kLower, k, d * (d - 1) / 2);
    for (Eigen::Index i = 0; i < d; ++i) {
      component.factor(i, i) = std::exp(diagonal[i]);
      for (Eigen::Index j = 0; j < i; ++j) component.factor(i, j) = *below++;
    }
    component.log_volume =
        Eigen::Map<const Vector<T>>(diagonal, d).sum() -
        static_cast<T>(0.5 * std::log(2 * std::numbers::pi) * static_cast<double>(d));
  }
}

template <typename T>
typename GaussianMixture<T>::Tile GaussianMixture<T>::load(const MatrixView<T>& x,
                                                           const MatrixView<T>& context,
                                                           std::size_t tile) const {
  Tile result;
  result.at = tile_rows(x.rows(), tile);
  const auto first = static_cast<Eigen::Index>(result.at.first);
  const auto rows = static_cast<Eigen::Index>(result.at.rows);
  result.x = x.middleRows(first, rows);
  result.context.resize(rows, options_.context_features);
  for (Eigen::Index r = 0; options_.context_features > 0 && r < rows; ++r) {
    result.context.row(r) = context.row((first + r) % context.rows());
  }
  return result;
}

// log pi_k(c), [rows, components]
template <typename T>
Matrix<T> GaussianMixture<T>::log_weights(const Matrix<T>& context) const {
  Matrix<T> result(context.rows(), options_.components);
  for (Eigen::Index k = 0; k < options_.components; ++k) {
    const Component& part = components_[static_cast<std::size_t>(k)];
    result.col(k) = (context * part.weight_slopes).array() + part.log_weight;
  }
  result.colwise() -= log_sum_exp_of_rows<T>(result);
  return result;
}

template <typename T>
void GaussianMixture<T>::evaluate(Tile& tile) const {
  Matrix<T> joint = log_weights(tile.context);
  tile.weights = joint.array().exp();
  tile.differences.resize(components_.size());
  tile.whitened.resize(components_.size());
  for (std::size_t k = 0; k < components_.size(); ++k) {
    const Component& part = components_[k];
    Matrix<T>& difference = tile.differences[k];
    difference = tile.x.rowwise() - part.mean.transpose();
    if (tile.context.cols() > 0) difference -= tile.context * part.mean_slopes.transpose();
    tile.whitened[k] = difference * part.factor.transpose();
    joint.col(static_cast<Eigen::Index>(k)).array() +=
        part.log_volume - T(0.5) * tile.whitened[k].rowwise().squaredNorm().array();
  }
  tile.log_prob = log_sum_exp_of_rows<T>(joint);
  tile.responsibilities = (joint.colwise() - finite_or_zero<T>(tile.log_prob)).array().exp();
  // NaN for a row that is not finite.
  tile.log_prob += (T(0) * tile.x).rowwise().sum();
  if (tile.context.cols() > 0) tile.log_prob += (T(0) * tile.context).rowwise().sum();
}

template <typename T>
Vector<T> GaussianMixture<T>::log_unnormalized(const MatrixView<T>& x,
                                               const MatrixView<T>& context) const {
  check_columns("x", x.cols(), options_.features);
  check_context<T>(context, x.rows(), options_.context_features);
  Vector<T> result(x.rows());
  this->run(tile_count(x.rows()), [&](std::size_t index) {
    Tile tile = load(x, context, index);
    evaluate(tile);
    result.segment(static_cast<Eigen::Index>(tile.at.first), tile.log_prob.size()) = tile.log_prob;
  });
  return result;
}

template <typename T>
void GaussianMixture<T>::add_tile_scores(const Tile& tile, const Vector<T>& weights,
                                         std::span<T> gradient) const {
  const Eigen::Index d = options_.features;
  const Eigen::Index c = options_.context_features;
  const auto part = [&](std::size_t block, Eigen::Index k, Eigen::Index size) {
    return gradient.data() + layout_.blocks()[block].offset + static_cast<std::size_t>(k * size);
  };
  for (Eigen::Index k = 0; k < options_.components; ++k) {
    const auto place = static_cast<std::size_t>(k);
    const Vector<T> shares = tile.responsibilities.col(k).cwiseProduct(weights);
    const Vector<T> logit = shares - tile.weights.col(k).cwiseProduct(weights);
    const Matrix<T> whitened = shares.asDiagonal() * tile.whitened[place];
    const Matrix<T> pull = whitened * components_[place].factor;  // rows: share L^T u
    const Matrix<T> products = whitened.transpose() * tile.differences[place];
    *part(kLogits, k, 1) += logit.sum();
    Eigen::Map<Vector<T>>(part(kMeans, k, d), d) += pull.colwise().sum().transpose();
    T* diagonal = part(kLogDiagonals, k, d);
    T* below = part(kLower, k, d * (d - 1) / 2);
    for (Eigen::Index i = 0; i < d; ++i) {
      diagonal[i] += shares.sum() - components_[place].factor(i, i) * products(i, i);
      for (Eigen::Index j = 0; j < i; ++j) *below++ -= products(i, j);
    }
    if (c == 0) continue;
    Eigen::Map<Vector<T>>(part(kLogitSlopes, k, c), c) += tile.context.transpose() * logit;
    Eigen::Map<Matrix<T>>(part(kMeanSlopes, k, d * c), d, c) += pull.transpose() * tile.context;
  }
}

template <typename T>
Vector<T> GaussianMixture<T>::add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                                         const WeightFunction<T>& weights,
                                         std::span<T> gradient) const {
  check_columns("x", x.cols(), options_.features);
  check_context<T>(context, x.rows(), options_.context_features);
  check_size("gradient", static_cast<std::int64_t>(gradient.size()),
             static_cast<std::int64_t>(layout_.size()));
  Vector<T> result(x.rows());
  const std::size_t tiles = tile_count(x.rows());
  if (tiles == 0) return result;
  const std::size_t groups = group_count(tiles, layout_.size() * sizeof(T));
  std::vector<std::vector<T>> sums(groups);
  this->run(groups, [&](std::size_t group) {
    sums[group].assign(layout_.size(), T(0));
    for (std::size_t i = group * tiles / groups; i < (group + 1) * tiles / groups; ++i) {
      Tile tile = load(x, context, i);
      evaluate(tile);
      const auto first = static_cast<Eigen::Index>(tile.at.first);
      result.segment(first, tile.log_prob.size()) = tile.log_prob;
      Vector<T> weight(tile.log_prob.size());
      weights(first, {tile.log_prob.data(), tile.at.rows}, {weight.data(), tile.at.rows});
      add_tile_scores(tile, weight, sums[group]);
    }
  });
  for (const std::vector<T>& sum : sums) {
    std::transform(sum.begin(), sum.end(), gradient.begin(), gradient.begin(), std::plus<T>());
  }
  return result;
}

template <typename T>
InputGradient<T> GaussianMixture<T>::input_gradient(const MatrixView<T>& x,
                                                    const MatrixView<T>& context,
                                                    ContextGradient wanted) const {
  check_columns("x", x.cols(), options_.features);
  check_context<T>(context, x.rows(), options_.context_features);
  const bool conditions = wanted == ContextGradient::yes && options_.context_features > 0;
  InputGradient<T> result;
  result.values.resize(x.rows());
  result.x = Matrix<T>::Zero(x.rows(), options_.features);
  result.context = Matrix<T>::Zero(x.rows(), conditions ? options_.context_features : 0);
  this->run(tile_count(x.rows()), [&](std::size_t index) {
    Tile tile = load(x, context, index);
    evaluate(tile);
    const auto first = static_cast<Eigen::Index>(tile.at.first);
    const Eigen::Index rows = tile.log_prob.size();
    result.values.segment(first, rows) = tile.log_prob;
    for (std::size_t k = 0; k < components_.size(); ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      const Matrix<T> pull =
          tile.responsibilities.col(column).asDiagonal() * tile.whitened[k] * components_[k].factor;
      result.x.middleRows(first, rows) -= pull;
      if (!conditions) continue;
      result.context.middleRows(first, rows) +=
          pull * components_[k].mean_slopes +
          (tile.responsibilities.col(column) - tile.weights.col(column)) *
              components_[k].weight_slopes.transpose();
    }
  });
  return result;
}

template <typename T>
void GaussianMixture<T>::sample_from_noise(const MatrixView<T>& noise, const MatrixView<T>& context,
                                           Samples<T>& samples, KeepTape keep) const {
  const Eigen::Index d = options_.features;
  check_columns("noise", noise.cols(), noise_features());
  check_context<T>(context, noise.rows(), options_.context_features);
  samples.x = noise.leftCols(d);
  this->run(tile_count(noise.rows()), [&](std::size_t index) {
    const Tile tile = load(samples.x, context, index);
    const auto first = static_cast<Eigen::Index>(tile.at.first);
    const Matrix<double> weights = log_weights(tile.context).template cast<double>().array().exp();
    for (Eigen::Index r = 0; r < tile.x.rows(); ++r) {
      const T choice = noise(first + r, d);
      const Eigen::Index k =
          choose_by_noise<double>({weights.row(r).data(), static_cast<std::size_t>(weights.cols())},
                                  static_cast<double>(choice));
      const Component& part = components_[static_cast<std::size_t>(k)];
      Vector<T> x = part.factor.template triangularView<Eigen::Lower>().solve(
          Vector<T>(tile.x.row(r).transpose()));
      x += part.mean;
      if (tile.context.cols() > 0) x += part.mean_slopes * tile.context.row(r).transpose();
      samples.x.row(first + r) = x.transpose().array() + T(0) * choice;
    }
  });
  samples.log_prob = log_unnormalized(samples.x, context);
  samples.tape.reset();
  if (keep == KeepTape::no) return;
  auto tape = std::make_shared<MixtureTape<T>>();
  tape->context = context;
  samples.tape = std::move(tape);
}

template <typename T>
void GaussianMixture<T>::add_sample_scores(const Samples<T>& samples, const VectorView<T>& weights,
                                           std::span<T> gradient) const {
  const auto* tape = dynamic_cast<const MixtureTape<T>*>(samples.tape.get());
  if (tape == nullptr) {
    throw std::invalid_argument(
        "add_sample_scores: expected samples drawn from a mixture with KeepTape::yes");
  }
  add_scores(samples.x, tape->context, weights, gradient);
}

template class GaussianMixture<float>;
template class GaussianMixture<double>;

}  // namespace jeffreys
