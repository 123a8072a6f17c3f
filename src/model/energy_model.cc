#include "jeffreys/model/energy_model.h"

#include <fmt/format.h>

#include <cmath>

#include "kernels/random.h"
#include "kernels/reductions.h"
#include "model/check_shapes.h"
#include "model/energy_network.h"
#include "model/random_purpose.h"
#include "model/scratch.h"
#include "model/tile_rows.h"

namespace jeffreys {
namespace {

using kernels::kTileRows;

constexpr int kInitialPowerIterations = 15;

// Wide layers stream their weights from memory: several tiles at a time share that. A function of
// the number of tiles and the width alone, so that results do not depend on threads.
std::size_t tiles_in_run(std::size_t tiles, std::size_t hidden) {
  constexpr std::size_t kWide = 256;
  constexpr std::size_t kLongestRun = 4;
  return hidden < kWide ? 1 : std::clamp<std::size_t>(tiles, 1, kLongestRun);
}

}  // namespace

template <typename T>
class EnergyModel<T>::Impl {
 public:
  Impl(const EnergyShape& given, double divisor, std::uint64_t seed)
      : shape(given), temperature(divisor), network(given, layout, spectral_layout) {
    parameters.resize(layout.size());
    vectors.resize(spectral_layout.size());
    initialise(seed);
  }

  void initialise(std::uint64_t seed) {
    std::size_t index = 0;
    for (EnergyLayer<T>* layer : network.layers()) {
      const T bound = T(1) / std::sqrt(static_cast<T>(layer->inputs()));
      const auto draw = [&](std::size_t offset, std::size_t size) {
        kernels::fill_uniforms(kernels::RandomArguments<T>{
            {seed, kInitialWeights, index++}, 0, 1, size, parameters.data() + offset});
        for (std::size_t i = 0; i < size; ++i) {
          parameters[offset + i] = bound * (2 * parameters[offset + i] - 1);
        }
      };
      draw(layer->weight_offset(), layer->inputs() * layer->outputs());
      draw(layer->bias_offset(), layer->outputs());
    }
    for (const ParameterBlock& block : layout.blocks()) {
      const bool one = block.name.ends_with(".alpha") || block.name.ends_with(".ln1.weight") ||
                       block.name.ends_with(".ln2.weight");
      if (one)
        std::fill_n(parameters.begin() + static_cast<std::ptrdiff_t>(block.offset), block.size,
                    T(1));
    }
    kernels::fill_normals(kernels::RandomArguments<T>{
        {seed, kSpectralStart, 0}, 0, 1, vectors.size(), vectors.data()});
    pack();
    power_iterate(kInitialPowerIterations);
  }

  void pack() {
    for (EnergyLayer<T>* layer : network.layers()) layer->pack(parameters.data(), vectors.data());
  }

  void power_iterate(int iterations) {
    for (int i = 0; i < iterations; ++i) {
      for (EnergyLayer<T>* layer : network.layers()) {
        layer->power_iterate(parameters.data(), vectors.data());
      }
    }
  }

  void check(const MatrixView<T>& x, const MatrixView<T>& c) const {
    check_columns("x", x.cols(), static_cast<std::int64_t>(shape.features));
    check_context<T>(c, x.rows(), static_cast<Eigen::Index>(shape.context));
  }

  // values = f / T for a run of tiles.
  void evaluate(const MatrixView<T>& x, const MatrixView<T>& c, std::size_t first,
                std::size_t tiles, T* tape, T* values) const {
    T* x_tiles = network.x(tape);
    T* c_tiles = network.context(tape, tiles);
    for (std::size_t t = 0; t < tiles; ++t) {
      const TileRows at = tile_rows(x.rows(), first + t);
      load_rows<T>(x, at, x_tiles + t * shape.features * kTileRows);
      if (shape.context > 0) load_rows<T>(c, at, c_tiles + t * shape.context * kTileRows);
    }
    network.forward(parameters.data(), tiles, tape, values);
    const T scale = static_cast<T>(1 / temperature);
    for (std::size_t i = 0; i < tiles * kTileRows; ++i) values[i] *= scale;
    for (std::size_t t = 0; t < tiles; ++t) {
      add_poison(x_tiles + t * shape.features * kTileRows, shape.features, values + t * kTileRows);
      add_poison(c_tiles + t * shape.context * kTileRows, shape.context, values + t * kTileRows);
    }
  }

  // Calls visit(first tile, tiles) for runs of tiles in [begin, end).
  template <typename Visit>
  void for_runs(std::size_t begin, std::size_t end, std::size_t longest, Visit visit) const {
    for (std::size_t tile = begin; tile < end; tile += longest) {
      visit(tile, std::min(longest, end - tile));
    }
  }

  EnergyShape shape;
  double temperature;
  ParameterLayout layout;
  ParameterLayout spectral_layout;
  EnergyNetwork<T> network;
  std::vector<T> parameters;
  std::vector<T> vectors;
};

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
const ParameterLayout& EnergyModel<T>::spectral_layout() const {
  return impl_->spectral_layout;
}
template <typename T>
std::span<const T> EnergyModel<T>::spectral_vectors() const {
  return impl_->vectors;
}

template <typename T>
void EnergyModel<T>::set_spectral_vectors(std::span<const T> vectors) {
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
std::string EnergyModel<T>::traits() const {
  return fmt::format("temperature {:a}", temperature());
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
  const std::size_t tiles = tile_count(x.rows());
  const std::size_t longest = tiles_in_run(tiles, impl_->shape.hidden);
  this->run((tiles + longest - 1) / longest, [&](std::size_t run) {
    Scratch::Frame frame;
    const std::size_t first = run * longest;
    const std::size_t count = std::min(longest, tiles - first);
    T* tape = frame.take<T>(impl_->network.tape_size(count));
    T* values = frame.take<T>(count * kTileRows);
    impl_->evaluate(x, context, first, count, tape, values);
    const std::size_t rows = tile_rows(x.rows(), first + count - 1).rows + (count - 1) * kTileRows;
    std::copy_n(values, rows, result.data() + first * kTileRows);
  });
  return result;
}

template <typename T>
Vector<T> EnergyModel<T>::add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                                     const WeightFunction<T>& weights,
                                     std::span<T> gradient) const {
  impl_->check(x, context);
  check_size("gradient", static_cast<std::int64_t>(gradient.size()),
             static_cast<std::int64_t>(impl_->layout.size()));
  Vector<T> result(x.rows());
  const std::size_t tiles = tile_count(x.rows());
  if (tiles == 0) return result;
  const EnergyNetwork<T>& network = impl_->network;
  const std::size_t size = network.accumulator_size();
  const std::size_t longest = tiles_in_run(tiles, impl_->shape.hidden);
  const std::size_t groups = group_count((tiles + longest - 1) / longest, size * sizeof(T));
  const T scale = static_cast<T>(1 / impl_->temperature);
  Scratch::Frame outer;
  T* accumulators = outer.take<T>(groups * size);
  this->run(groups, [&](std::size_t group) {
    Scratch::Frame frame;
    T* accumulator = accumulators + group * size;
    std::fill_n(accumulator, size, T(0));
    T* tape = frame.take<T>(network.tape_size(longest));
    T* values = frame.take<T>(longest * kTileRows);
    T* weight = frame.take<T>(longest * kTileRows);
    impl_->for_runs(group * tiles / groups, (group + 1) * tiles / groups, longest,
                    [&](std::size_t first, std::size_t count) {
                      impl_->evaluate(x, context, first, count, tape, values);
                      for (std::size_t t = 0; t < count; ++t) {
                        const TileRows at = tile_rows(x.rows(), first + t);
                        T* w = weight + t * kTileRows;
                        std::copy_n(values + t * kTileRows, at.rows, result.data() + at.first);
                        weights(static_cast<Eigen::Index>(at.first),
                                {values + t * kTileRows, at.rows}, {w, at.rows});
                        std::fill(w + at.rows, w + kTileRows, T(0));
                      }
                      for (std::size_t i = 0; i < count * kTileRows; ++i) weight[i] *= scale;
                      network.backward(impl_->parameters.data(), weight, count, tape, nullptr,
                                       nullptr, accumulator);
                    });
  });
  this->run(network.parts(), [&](std::size_t part) {
    T* sum = accumulators + network.part_offset(part);
    for (std::size_t g = 1; g < groups; ++g) {
      kernels::add(sum, sum + g * size, network.part_size(part));
    }
    network.add_gradient(part, sum, {impl_->parameters.data(), impl_->vectors.data()},
                         gradient.data());
  });
  return result;
}

template <typename T>
InputGradient<T> EnergyModel<T>::input_gradient(const MatrixView<T>& x,
                                                const MatrixView<T>& context) const {
  impl_->check(x, context);
  const std::size_t features = impl_->shape.features;
  const std::size_t conditions = impl_->shape.context;
  InputGradient<T> result;
  result.values.resize(x.rows());
  result.x.resize(x.rows(), this->features());
  result.context.resize(x.rows(), context_features());
  const EnergyNetwork<T>& network = impl_->network;
  const std::size_t tiles = tile_count(x.rows());
  const std::size_t longest = tiles_in_run(tiles, impl_->shape.hidden);
  this->run((tiles + longest - 1) / longest, [&](std::size_t run) {
    Scratch::Frame frame;
    const std::size_t first = run * longest;
    const std::size_t count = std::min(longest, tiles - first);
    T* tape = frame.take<T>(network.tape_size(count));
    T* values = frame.take<T>(count * kTileRows);
    T* weight = frame.take<T>(count * kTileRows);
    T* gx = frame.take<T>(count * features * kTileRows);
    T* gc = frame.take_zeros<T>(count * conditions * kTileRows);
    impl_->evaluate(x, context, first, count, tape, values);
    std::fill_n(weight, count * kTileRows, static_cast<T>(1 / impl_->temperature));
    network.backward(impl_->parameters.data(), weight, count, tape, gx,
                     conditions > 0 ? gc : nullptr, nullptr);
    for (std::size_t t = 0; t < count; ++t) {
      const TileRows at = tile_rows(x.rows(), first + t);
      std::copy_n(values + t * kTileRows, at.rows, result.values.data() + at.first);
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
                     Eigen::Index blocks, Eigen::Index film_layers) {
  const auto size = [](Eigen::Index value) { return static_cast<std::size_t>(value); };
  return {size(features), size(context), size(hidden), size(blocks), size(film_layers)};
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

template <typename T>
ResidualEnergy<T>::ResidualEnergy(const ResidualEnergyOptions& options)
    : EnergyModel<T>(
          (options.validate(), std::make_unique<typename EnergyModel<T>::Impl>(
                                   shape_of(options.features, 0, options.hidden, options.blocks, 0),
                                   options.temperature, options.seed))),
      options_(options) {}

template <typename T>
FilmEnergy<T>::FilmEnergy(const FilmEnergyOptions& options)
    : EnergyModel<T>(
          (options.validate(), std::make_unique<typename EnergyModel<T>::Impl>(
                                   shape_of(options.features, options.context_features,
                                            options.hidden, options.blocks, options.film_layers),
                                   options.temperature, options.seed))),
      options_(options) {}

template class EnergyModel<float>;
template class EnergyModel<double>;
template class ResidualEnergy<float>;
template class ResidualEnergy<double>;
template class FilmEnergy<float>;
template class FilmEnergy<double>;

}  // namespace jeffreys
