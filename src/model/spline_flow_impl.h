// What a SplineFlow holds, and its work on one tile.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/checks.h"
#include "jeffreys/model/spline_flow.h"
#include "kernels/random.h"
#include "kernels/reductions.h"
#include "kernels/scratch.h"
#include "model/affine_transform.h"
#include "model/flow_base.h"
#include "model/spline_flow_options.h"
#include "model/spline_transform.h"
#include "model/tile_rows.h"

namespace jeffreys {

// Per tile: the tapes of all transforms, then the noise z.
template <typename T>
class FlowTape final : public SampleTape {
 public:
  kernels::AlignedVector<T> memory;
  Eigen::Index rows = 0;
  std::uint64_t version = 0;  // of the parameters
};

template <typename T>
class SplineFlow<T>::Impl {
 public:
  explicit Impl(const SplineFlowOptions& given)
      : options(with_orders(given)),
        features(static_cast<std::size_t>(options.features)),
        context(static_cast<std::size_t>(options.context_features)),
        base(features, options.student_t) {
    make_transforms();
    for (const auto& transform : transforms) {
      tape_offset.push_back(tape_size);
      tape_size += transform->tape_size();
      accumulator_offset.push_back(accumulator_size);
      accumulator_size += transform->accumulator_size();
    }
    noise_offset = tape_size;
    tape_size += features * kernels::kTileRows;
    initialise();
  }

  Impl(const Impl& other)
      : options(other.options),
        features(other.features),
        context(other.context),
        base(other.base),
        layout(other.layout),
        tape_offset(other.tape_offset),
        accumulator_offset(other.accumulator_offset),
        noise_offset(other.noise_offset),
        tape_size(other.tape_size),
        accumulator_size(other.accumulator_size),
        parameters(other.parameters),
        version(other.version) {
    for (const auto& transform : other.transforms) transforms.push_back(transform->clone());
  }
  Impl& operator=(const Impl&) = delete;

  // From data to noise.
  void make_transforms() {
    std::vector<std::size_t> hidden;
    hidden.reserve(options.hidden.size());
    for (const Eigen::Index width : options.hidden) {
      hidden.push_back(static_cast<std::size_t>(width));
    }
    if (options.affine) {
      transforms.push_back(
          std::make_unique<AffineTransform<T>>(features, "transform.affine", layout));
    }
    const auto bins = static_cast<std::size_t>(options.bins);
    for (std::size_t t = 0; t < static_cast<std::size_t>(options.transforms); ++t) {
      auto spline = std::make_unique<SplineTransform<T>>(
          SplineTransformShape{features, context, bins, hidden, options.orders[t]},
          "transform.transforms." + std::to_string(t), layout);
      splines_.push_back(spline.get());
      transforms.push_back(std::move(spline));
    }
  }

  void initialise() {
    parameters.resize(layout.size());
    std::size_t index = 0;
    for (const ParameterBlock& block : layout.blocks()) {
      if (block.name.starts_with("transform.affine")) continue;  // it starts as the identity
      const kernels::RandomKey key{options.seed, kInitialWeights, index++};
      const kernels::RandomArguments<T> fill{key, 0, 1, block.size,
                                             parameters.data() + block.offset};
      if (block.name.find(".phi.") != std::string::npos) {
        kernels::fill_normals(fill);
      } else {
        kernels::fill_uniforms(fill);
      }
    }
    for (const SplineTransform<T>* spline : splines_) {
      spline->spread_weights(options.start, parameters.data());
    }
    splines_.clear();
    pack();
  }

  void pack() {
    version = next_version();
    for (auto& transform : transforms) transform->pack(parameters.data());
  }

  void check(const MatrixView<T>& x, const MatrixView<T>& c) const {
    check_columns("x", x.cols(), options.features);
    check_context<T>(c, x.rows(), options.context_features);
  }

  T* load_context(const MatrixView<T>& c, TileRows at, Scratch::Frame& frame) const {
    T* tile = frame.take<T>(context * kernels::kTileRows);
    if (context > 0) load_rows<T>(c, at, tile);
    return tile;
  }

  // Brings the tile of x to noise (in the tape), and writes its log density. Only the last
  // transform's tape survives unless every transform has a place of its own.
  void evaluate_tile(const MatrixView<T>& x, const MatrixView<T>& c, TileRows at, bool keep,
                     T* tape, T* log_prob) const {
    Scratch::Frame frame;
    T* z = tape + noise_offset;
    const T* conditions = load_context(c, at, frame);
    load_rows<T>(x, at, z);
    std::fill_n(log_prob, kernels::kTileRows, T(0));
    add_poison(z, features, log_prob);
    add_poison(conditions, context, log_prob);
    for (std::size_t t = 0; t < transforms.size(); ++t) {
      transforms[t]->forward(z, conditions, tape + (keep ? tape_offset[t] : 0), z, log_prob);
    }
    base.add_density(z, log_prob);
  }

  // Brings the tape's noise, standard normal numbers, to data in x_tile.
  void sample_tile(const MatrixView<T>& c, TileRows at, bool keep, T* tape, T* x_tile,
                   T* log_prob) const {
    Scratch::Frame frame;
    T* z = tape + noise_offset;
    base.from_normal(z);
    const T* conditions = load_context(c, at, frame);
    std::fill_n(log_prob, kernels::kTileRows, T(0));
    add_poison(z, features, log_prob);
    add_poison(conditions, context, log_prob);
    base.add_density(z, log_prob);
    std::copy_n(z, features * kernels::kTileRows, x_tile);
    for (std::size_t t = transforms.size(); t-- > 0;) {
      transforms[t]->inverse(x_tile, conditions, tape + (keep ? tape_offset[t] : 0), x_tile,
                             log_prob);
    }
  }

  // From weights of the rows' log densities back through all transforms. Leaves the gradient with
  // respect to x in x_gradient, if that is wanted.
  void backward_tile(const T* tape, const T* weights, T* x_gradient, T* context_gradient,
                     T* accumulator) const {
    Scratch::Frame frame;
    T* gradient = x_gradient ? x_gradient : frame.take<T>(features * kernels::kTileRows);
    base.gradient(tape + noise_offset, weights, gradient);
    for (std::size_t t = transforms.size(); t-- > 0;) {
      transforms[t]->backward(tape + tape_offset[t], gradient, weights,
                              t > 0 || x_gradient ? gradient : nullptr, context_gradient,
                              accumulator ? accumulator + accumulator_offset[t] : nullptr);
    }
  }

  void add_accumulators(const T* accumulators, std::size_t groups, std::size_t t,
                        std::span<T> gradient) const {
    Scratch::Frame frame;
    const std::size_t size = transforms[t]->accumulator_size();
    T* sum = frame.take<T>(size);
    std::copy_n(accumulators + accumulator_offset[t], size, sum);
    for (std::size_t g = 1; g < groups; ++g) {
      kernels::add(sum, accumulators + g * accumulator_size + accumulator_offset[t], size);
    }
    transforms[t]->add_gradient(sum, parameters.data(), gradient.data());
  }

  // Sums what job(tile, accumulator) adds for every tile, in an order that does not depend on
  // threads, and adds it to the gradient. `run` spreads jobs over threads.
  template <typename Run, typename Job>
  void sum_over_tiles(const Run& run, std::size_t tiles, std::span<T> gradient,
                      const Job& job) const {
    if (tiles == 0) return;
    const std::size_t groups = group_count(tiles, accumulator_size * sizeof(T));
    Scratch::Frame frame;
    T* accumulators = frame.take<T>(groups * accumulator_size);
    run(groups, [&](std::size_t group) {
      T* accumulator = accumulators + group * accumulator_size;
      std::fill_n(accumulator, accumulator_size, T(0));
      for (std::size_t tile = group * tiles / groups; tile < (group + 1) * tiles / groups; ++tile) {
        job(tile, accumulator);
      }
    });
    run(transforms.size(),
        [&](std::size_t t) { add_accumulators(accumulators, groups, t, gradient); });
  }

  SplineFlowOptions options;
  std::size_t features;
  std::size_t context;
  FlowBase<T> base;
  ParameterLayout layout;
  std::vector<std::unique_ptr<FlowTransform<T>>> transforms;
  std::vector<std::size_t> tape_offset;
  std::vector<std::size_t> accumulator_offset;
  std::size_t noise_offset = 0;
  std::size_t tape_size = 0;
  std::size_t accumulator_size = 0;
  std::vector<T> parameters;
  std::uint64_t version = 0;

 private:
  std::vector<SplineTransform<T>*> splines_;  // among the transforms, while weights are drawn

  // Unique in the process: a tape of one flow is never taken for another's.
  static std::uint64_t next_version() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }
};

}  // namespace jeffreys
