#include "jeffreys/model/energy_model.h"

#include <fmt/format.h>

#include <cmath>

#include "kernels/reductions.h"
#include "model/architecture.h"
#include "model/energy_model_impl.h"

namespace jeffreys {
using kernels::kTileRows;

namespace {

// Activations of a batch that are kept for its scores: beyond this they are computed again.
constexpr std::size_t kMostKeptBytes = std::size_t{1} << 26;

}  // namespace

template <typename T>
EnergyModel<T>::EnergyModel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
template <typename T>
EnergyModel<T>::~EnergyModel() = default;
template <typename T>
EnergyModel<T>::EnergyModel(const EnergyModel& other)
    : UnnormalizedDensity<T>(other), impl_(std::make_unique<Impl>(*other.impl_)) {}
template <typename T>
EnergyModel<T>& EnergyModel<T>::operator=(const EnergyModel& other) {
  if (this != &other) {
    UnnormalizedDensity<T>::operator=(other);
    impl_ = std::make_unique<Impl>(*other.impl_);
  }
  return *this;
}
template <typename T>
EnergyModel<T>::EnergyModel(EnergyModel&&) noexcept = default;
template <typename T>
EnergyModel<T>& EnergyModel<T>::operator=(EnergyModel&&) noexcept = default;

template <typename T>
double EnergyModel<T>::temperature() const {
  return impl_->temperature;
}

template <typename T>
void EnergyModel<T>::power_iterate(int iterations) {
  check_at_least("iterations", iterations, 0);
  impl_->power_iterate(iterations);
}

template <typename T>
const ParameterLayout& EnergyModel<T>::state_layout() const {
  return impl_->spectral_layout;
}
template <typename T>
std::span<const T> EnergyModel<T>::state() const {
  return impl_->vectors;
}

template <typename T>
void EnergyModel<T>::set_state(std::span<const T> vectors) {
  check_size("vectors", static_cast<std::int64_t>(vectors.size()),
             static_cast<std::int64_t>(impl_->vectors.size()));
  std::copy(vectors.begin(), vectors.end(), impl_->vectors.begin());
  impl_->pack();
}

template <typename T>
Matrix<T> EnergyModel<T>::effective_weight(const ParameterBlock& block) const {
  for (const EnergyLayer<T>* layer : impl_->network.layers()) {
    if (layer->weight_offset() != block.offset || block.shape.size() != 2) continue;
    return Eigen::Map<const Matrix<T>>(impl_->parameters.data() + block.offset, block.shape[0],
                                       block.shape[1]) /
           layer->sigma();
  }
  throw std::invalid_argument(
      fmt::format("effective_weight: expected a block of layer weights, got '{}'", block.name));
}

template <typename T>
Eigen::Index EnergyModel<T>::features() const {
  return static_cast<Eigen::Index>(impl_->shape.features);
}
template <typename T>
Eigen::Index EnergyModel<T>::context_features() const {
  return static_cast<Eigen::Index>(impl_->shape.context);
}
template <typename T>
const ParameterLayout& EnergyModel<T>::layout() const {
  return impl_->layout;
}
template <typename T>
std::span<const T> EnergyModel<T>::parameters() const {
  return impl_->parameters;
}

template <typename T>
void EnergyModel<T>::edit_parameters(const std::function<void(std::span<T>)>& edit) {
  edit(impl_->parameters);
  impl_->pack();
}

template <typename T>
Vector<T> EnergyModel<T>::log_unnormalized(const MatrixView<T>& x,
                                           const MatrixView<T>& context) const {
  impl_->check(x, context);
  Vector<T> result(x.rows());
  impl_->for_all_runs(*this, x, context, [&](const auto& run) {
    for (std::size_t t = 0; t < run.tiles; ++t) {
      std::copy_n(run.values + t * kTileRows, run.rows(t).rows, result.data() + run.rows(t).first);
    }
  });
  return result;
}

template <typename T>
Vector<T> EnergyModel<T>::add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                                     const WeightFunction<T>& weights,
                                     std::span<T> gradient) const {
  impl_->check(x, context, gradient.size());
  Vector<T> result(x.rows());
  const TileOrder tile = impl_->order(x, context);
  if (tile.tiles() == 0) return result;
  const EnergyNetwork<T>& network = impl_->network;
  GradientGroups groups(*impl_, tile.tiles());
  this->run(groups.count, [&](std::size_t group) {
    Scratch::Frame frame;
    typename Impl::Tape tape{frame.take<T>(network.tape_size(groups.longest))};
    T* values = frame.take<T>(groups.longest * kTileRows);
    T* weight = frame.take<T>(groups.longest * kTileRows);
    groups.clear(group);
    groups.for_runs(group, [&](std::size_t first, std::size_t count) {
      impl_->evaluate(x, context, tile, first, count, tape, values);
      for (std::size_t t = 0; t < count; ++t) {
        const TileRows at = tile[first + t];
        T* w = weight + t * kTileRows;
        std::copy_n(values + t * kTileRows, at.rows, result.data() + at.first);
        weights(static_cast<Eigen::Index>(at.first), {values + t * kTileRows, at.rows},
                {w, at.rows});
        std::fill(w + at.rows, w + kTileRows, T(0));
      }
      impl_->accumulate(weight, count, tape.data, groups.accumulator(group));
    });
  });
  groups.add_to(gradient, *this);
  return result;
}

template <typename T>
Vector<T> EnergyModel<T>::add_scores_of_batch(const MatrixView<T>& x, const MatrixView<T>& context,
                                              const BatchWeightFunction<T>& weights,
                                              std::span<T> gradient) const {
  impl_->check(x, context, gradient.size());
  const TileOrder tile = impl_->order(x, context);
  const EnergyNetwork<T>& network = impl_->network;
  const std::size_t tiles = tile.tiles();
  // With a context, rows that share it share most of the evaluation: these are evaluated again.
  if (tiles == 0 || impl_->shape.context > 0 ||
      tiles * network.tape_size(1) * sizeof(T) > kMostKeptBytes) {
    return UnnormalizedDensity<T>::add_scores_of_batch(x, context, weights, gradient);
  }
  GradientGroups groups(*impl_, tiles);
  Scratch::Frame outer;
  T* tapes = outer.take<T>(tiles * network.tape_size(1));
  T* values = outer.take<T>(tiles * kTileRows);
  const auto tape_of = [&](std::size_t first) { return tapes + first * network.tape_size(1); };
  this->run(groups.count, [&](std::size_t group) {
    groups.for_runs(group, [&](std::size_t first, std::size_t count) {
      typename Impl::Tape tape{tape_of(first)};
      impl_->evaluate(x, context, tile, first, count, tape, values + first * kTileRows);
    });
  });
  // Without a context tiles are in the order of the rows.
  Vector<T> result = Eigen::Map<const Vector<T>>(values, x.rows());
  Vector<T> chosen(x.rows());
  weights(result, chosen);
  T* weight = values;
  std::copy_n(chosen.data(), chosen.size(), weight);
  std::fill(weight + chosen.size(), weight + tiles * kTileRows, T(0));
  this->run(groups.count, [&](std::size_t group) {
    groups.clear(group);
    groups.for_runs(group, [&](std::size_t first, std::size_t count) {
      impl_->accumulate(weight + first * kTileRows, count, tape_of(first),
                        groups.accumulator(group));
    });
  });
  groups.add_to(gradient, *this);
  return result;
}

template <typename T>
InputGradient<T> EnergyModel<T>::input_gradient(const MatrixView<T>& x,
                                                const MatrixView<T>& context,
                                                ContextGradient wanted) const {
  impl_->check(x, context);
  const std::size_t features = impl_->shape.features;
  const std::size_t conditions = wanted == ContextGradient::yes ? impl_->shape.context : 0;
  InputGradient<T> result;
  result.values.resize(x.rows());
  result.x.resize(x.rows(), this->features());
  result.context.resize(x.rows(), static_cast<Eigen::Index>(conditions));
  const EnergyNetwork<T>& network = impl_->network;
  impl_->for_all_runs(*this, x, context, [&](const auto& run) {
    Scratch::Frame frame;
    T* weight = frame.take<T>(run.tiles * kTileRows);
    T* gx = frame.take<T>(run.tiles * features * kTileRows);
    T* gc = frame.take_zeros<T>(run.tiles * conditions * kTileRows);
    std::fill_n(weight, run.tiles * kTileRows, static_cast<T>(1 / impl_->temperature));
    network.backward(impl_->parameters.data(), weight, run.tiles, run.tape, gx,
                     conditions > 0 ? gc : nullptr, nullptr);
    if (impl_->shape.confined) {
      const T* x_tiles = network.x(run.tape);
      for (std::size_t i = 0; i < run.tiles * features * kTileRows; ++i) {
        gx[i] -= confinement_excess(x_tiles[i]);
      }
    }
    for (std::size_t t = 0; t < run.tiles; ++t) {
      const TileRows at = run.rows(t);
      std::copy_n(run.values + t * kTileRows, at.rows, result.values.data() + at.first);
      kernels::store_tile(gx + t * features * kTileRows, at.rows, features,
                          result.x.data() + at.first * features, features);
      kernels::store_tile(gc + t * conditions * kTileRows, at.rows, conditions,
                          result.context.data() + at.first * conditions, conditions);
    }
  });
  return result;
}

namespace {

void check_energy(std::string_view type, Eigen::Index features, Eigen::Index hidden,
                  Eigen::Index blocks, double temperature) {
  constexpr Eigen::Index kMost = Eigen::Index{1} << 20;
  const auto check = [&](std::string_view field, Eigen::Index value, Eigen::Index least) {
    check_between(fmt::format("{}.{}", type, field), value, least, kMost);
  };
  check("features", features, 1);
  check("hidden", hidden, 1);
  check("blocks", blocks, 0);
  if (!(temperature > 0) || !std::isfinite(temperature)) {
    throw std::invalid_argument(
        fmt::format("{}.temperature: expected a finite number above 0, got {}", type, temperature));
  }
}

EnergyShape shape_of(Eigen::Index features, Eigen::Index context, Eigen::Index hidden,
                     Eigen::Index blocks, Eigen::Index film_layers, bool bounded, bool confined) {
  const auto size = [](Eigen::Index value) { return static_cast<std::size_t>(value); };
  return {size(features),    size(context), size(hidden), size(blocks),
          size(film_layers), bounded,       confined};
}

}  // namespace

void ResidualEnergyOptions::validate() const {
  check_energy("ResidualEnergyOptions", features, hidden, blocks, temperature);
}

void FilmEnergyOptions::validate() const {
  check_energy("FilmEnergyOptions", features, hidden, blocks, temperature);
  check_between("FilmEnergyOptions.context_features", context_features, 1, Eigen::Index{1} << 20);
  check_between("FilmEnergyOptions.film_layers", film_layers, 1, 64);
}

// A lower bound.
double ResidualEnergyOptions::least_parameters() const {
  const auto width = static_cast<double>(hidden);
  return width * (static_cast<double>(features) + 2 * width * static_cast<double>(blocks));
}

double FilmEnergyOptions::least_parameters() const {
  const auto width = static_cast<double>(hidden);
  const double block = 2 * width * (width + static_cast<double>(context_features));
  return width * static_cast<double>(features) + block * static_cast<double>(blocks);
}

template <typename T>
ResidualEnergy<T>::ResidualEnergy(const ResidualEnergyOptions& options)
    : EnergyModel<T>((options.validate(), std::make_unique<typename EnergyModel<T>::Impl>(
                                              shape_of(options.features, 0, options.hidden,
                                                       options.blocks, 0, false, options.confined),
                                              options.temperature, options.seed))),
      options_(options) {}

template <typename T>
FilmEnergy<T>::FilmEnergy(const FilmEnergyOptions& options)
    : EnergyModel<T>(
          (options.validate(),
           std::make_unique<typename EnergyModel<T>::Impl>(
               shape_of(options.features, options.context_features, options.hidden, options.blocks,
                        options.film_layers, options.bounded, options.confined),
               options.temperature, options.seed))),
      options_(options) {}

template <typename T>
std::string ResidualEnergy<T>::architecture() const {
  return write_architecture(options_);
}
template <typename T>
std::unique_ptr<UnnormalizedDensity<T>> ResidualEnergy<T>::clone() const {
  return std::make_unique<ResidualEnergy>(*this);
}

template <typename T>
std::string FilmEnergy<T>::architecture() const {
  return write_architecture(options_);
}
template <typename T>
std::unique_ptr<UnnormalizedDensity<T>> FilmEnergy<T>::clone() const {
  return std::make_unique<FilmEnergy>(*this);
}

template class EnergyModel<float>;
template class EnergyModel<double>;
template class ResidualEnergy<float>;
template class ResidualEnergy<double>;
template class FilmEnergy<float>;
template class FilmEnergy<double>;

}  // namespace jeffreys
