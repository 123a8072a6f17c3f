// What an energy model holds, and how it evaluates a batch: by runs of tiles, on several threads.
#pragma once

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "base/checks.h"
#include "jeffreys/base/random_purpose.h"
#include "jeffreys/model/energy_model.h"
#include "kernels/random.h"
#include "kernels/reductions.h"
#include "kernels/scratch.h"
#include "model/energy_network.h"
#include "model/tile_order.h"

namespace jeffreys {

// Wide layers stream their weights from memory: several tiles at a time share that. A function of
// the number of tiles and the width alone, so that results do not depend on threads.
inline std::size_t tiles_in_run(std::size_t tiles, std::size_t hidden) {
  constexpr std::size_t kWide = 256;
  constexpr std::size_t kLongestRun = 4;
  return hidden < kWide ? 1 : std::clamp<std::size_t>(tiles, 1, kLongestRun);
}

// How far x is beyond the flat part; with its sign.
template <typename T>
T confinement_excess(T x) {
  const T limit = static_cast<T>(kConfinement);
  return x > limit ? x - limit : std::min(x + limit, T(0));
}

template <typename T>
class EnergyModel<T>::Impl {
 public:
  static constexpr std::size_t kTileRows = kernels::kTileRows;
  static constexpr int kInitialPowerIterations = 15;

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

  void check(const MatrixView<T>& x, const MatrixView<T>& c, std::size_t gradient_size) const {
    check(x, c);
    check_size("gradient", static_cast<std::int64_t>(gradient_size),
               static_cast<std::int64_t>(layout.size()));
  }

  [[nodiscard]] TileOrder order(const MatrixView<T>& x, const MatrixView<T>& c) const {
    return {x.rows(), shape.context > 0 ? c.rows() : x.rows()};
  }

  // Activations of a run of tiles, and of how many tiles it holds what belongs to their context.
  struct Tape {
    T* data;
    std::size_t conditioned = 0;
  };

  void load_context(const MatrixView<T>& c, const TileOrder& tile, std::size_t first,
                    std::size_t tiles, Tape& tape) const {
    Scratch::Frame frame;
    const std::size_t size = shape.context * kTileRows;
    T* fresh = frame.take<T>(tiles * size);
    for (std::size_t t = 0; t < tiles; ++t) load_rows<T>(c, tile[first + t], fresh + t * size);
    T* kept = network.context(tape.data, tiles);
    const std::size_t bytes = tiles * size * sizeof(T);
    if (tape.conditioned == tiles && std::memcmp(kept, fresh, bytes) == 0) return;
    std::memcpy(kept, fresh, bytes);
    network.condition(tiles, tape.data);
    tape.conditioned = tiles;
  }

  void confine(const T* x_tiles, std::size_t tiles, T* values) const {
    for (std::size_t t = 0; t < tiles; ++t) {
      for (std::size_t j = 0; j < shape.features; ++j) {
        const T* x = x_tiles + (t * shape.features + j) * kTileRows;
        for (std::size_t i = 0; i < kTileRows; ++i) {
          const T excess = confinement_excess(x[i]);
          values[t * kTileRows + i] -= excess * excess / 2;
        }
      }
    }
  }

  // values = f / T, confined where it is, for a run of tiles.
  void evaluate(const MatrixView<T>& x, const MatrixView<T>& c, const TileOrder& tile,
                std::size_t first, std::size_t tiles, Tape& tape, T* values) const {
    T* x_tiles = network.x(tape.data);
    T* c_tiles = network.context(tape.data, tiles);
    for (std::size_t t = 0; t < tiles; ++t) {
      load_rows<T>(x, tile[first + t], x_tiles + t * shape.features * kTileRows);
    }
    if (shape.context > 0) load_context(c, tile, first, tiles, tape);
    network.forward(parameters.data(), tiles, tape.data, values);
    const T scale = static_cast<T>(1 / temperature);
    for (std::size_t i = 0; i < tiles * kTileRows; ++i) values[i] *= scale;
    if (shape.confined) confine(x_tiles, tiles, values);
    for (std::size_t t = 0; t < tiles; ++t) {
      add_poison(x_tiles + t * shape.features * kTileRows, shape.features, values + t * kTileRows);
      add_poison(c_tiles + t * shape.context * kTileRows, shape.context, values + t * kTileRows);
    }
  }

  // A run of tiles that was evaluated.
  struct Run {
    const TileOrder& order;
    std::size_t first;
    std::size_t tiles;
    T* tape;
    const T* values;

    [[nodiscard]] TileRows rows(std::size_t tile) const { return order[first + tile]; }
  };

  // Evaluates all rows, in jobs for several threads, and calls visit(run).
  template <typename Visit>
  void for_all_runs(const EnergyModel& model, const MatrixView<T>& x, const MatrixView<T>& c,
                    Visit visit) const {
    const TileOrder tile = order(x, c);
    const std::size_t longest = tiles_in_run(tile.tiles(), shape.hidden);
    const std::size_t share = tile.tiles_in_job(longest);
    model.run((tile.tiles() + share - 1) / share, [&](std::size_t job) {
      Scratch::Frame frame;
      Tape tape{frame.take<T>(network.tape_size(longest))};
      T* values = frame.take<T>(longest * kTileRows);
      for_runs(job * share, std::min((job + 1) * share, tile.tiles()), longest,
               [&](std::size_t first, std::size_t count) {
                 evaluate(x, c, tile, first, count, tape, values);
                 visit(Run{tile, first, count, tape.data, values});
               });
    });
  }

  // Calls visit(first tile, tiles) for runs of tiles in [begin, end).
  template <typename Visit>
  void for_runs(std::size_t begin, std::size_t end, std::size_t longest, Visit visit) const {
    for (std::size_t tile = begin; tile < end; tile += longest) {
      visit(tile, std::min(longest, end - tile));
    }
  }

  // Adds the scores of a run of tiles that was evaluated; scales the weights by 1 / T in place.
  void accumulate(T* weights, std::size_t tiles, T* tape, T* accumulator) const {
    const T scale = static_cast<T>(1 / temperature);
    for (std::size_t i = 0; i < tiles * kTileRows; ++i) weights[i] *= scale;
    network.backward(parameters.data(), weights, tiles, tape, nullptr, nullptr, accumulator);
  }

  EnergyShape shape;
  double temperature;
  ParameterLayout layout;
  ParameterLayout spectral_layout;
  EnergyNetwork<T> network;
  std::vector<T> parameters;
  std::vector<T> vectors;
};

// The sums of a batch's scores, in a number of groups of tiles that does not depend on the threads,
// added up in a fixed order.
template <typename T>
class EnergyModel<T>::GradientGroups {
 public:
  GradientGroups(const Impl& impl, std::size_t tiles)
      : longest(tiles_in_run(tiles, impl.shape.hidden)),
        count(group_count((tiles + longest - 1) / longest,
                          impl.network.accumulator_size() * sizeof(T))),
        impl_(impl),
        tiles_(tiles),
        size_(impl.network.accumulator_size()),
        accumulators_(frame_.take<T>(count * size_)) {}

  void clear(std::size_t group) { std::fill_n(accumulator(group), size_, T(0)); }
  [[nodiscard]] T* accumulator(std::size_t group) const { return accumulators_ + group * size_; }

  // Calls visit(first tile, tiles) for the runs of a group.
  template <typename Visit>
  void for_runs(std::size_t group, Visit visit) const {
    impl_.for_runs(group * tiles_ / count, (group + 1) * tiles_ / count, longest, visit);
  }

  void add_to(std::span<T> gradient, const EnergyModel& model) {
    const EnergyNetwork<T>& network = impl_.network;
    model.run(network.parts(), [&](std::size_t part) {
      T* sum = accumulators_ + network.part_offset(part);
      for (std::size_t g = 1; g < count; ++g) {
        kernels::add(sum, sum + g * size_, network.part_size(part));
      }
      network.add_gradient(part, sum, {impl_.parameters.data(), impl_.vectors.data()},
                           gradient.data());
    });
  }

  std::size_t longest;  // tiles of a run
  std::size_t count;

 private:
  const Impl& impl_;
  std::size_t tiles_;
  std::size_t size_;
  Scratch::Frame frame_;
  T* accumulators_;
};

}  // namespace jeffreys
