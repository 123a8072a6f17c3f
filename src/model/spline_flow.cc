#include "jeffreys/model/spline_flow.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "kernels/random.h"
#include "kernels/reductions.h"
#include "model/check_shapes.h"
#include "model/scratch.h"
#include "model/spline_flow_options.h"
#include "model/spline_transform.h"
#include "model/tile_rows.h"

namespace jeffreys {

using kernels::kTileRows;

// Per tile: the tapes of all transforms, then the noise z.
template <typename T>
class SampleTape {
 public:
  kernels::AlignedVector<T> memory;
  Eigen::Index rows = 0;
  std::uint64_t version = 0;  // of the parameters
};

template <typename T>
class SplineFlow<T>::Impl {
 public:
  explicit Impl(const SplineFlowOptions& given) : options(with_orders(given)) {
    const auto size = [](Eigen::Index value) { return static_cast<std::size_t>(value); };
    features = size(options.features);
    context = size(options.context_features);
    std::vector<std::size_t> hidden;
    for (const Eigen::Index width : options.hidden) hidden.push_back(size(width));
    for (std::size_t t = 0; t < size(options.transforms); ++t) {
      transforms.emplace_back(
          SplineTransformShape{features, context, size(options.bins), hidden, options.orders[t]},
          "transform.transforms." + std::to_string(t), layout);
      tape_offset.push_back(tape_size);
      tape_size += transforms.back().tape_size();
      accumulator_offset.push_back(accumulator_size);
      accumulator_size += transforms.back().accumulator_size();
    }
    noise_offset = tape_size;
    tape_size += features * kTileRows;
    parameters.resize(layout.size());
    initialise();
  }

  void initialise() {
    std::size_t index = 0;
    for (const ParameterBlock& block : layout.blocks()) {
      const kernels::RandomKey key{options.seed, kInitialWeights, index++};
      const kernels::RandomArguments<T> fill{key, 0, 1, block.size, parameters.data() + block.offset};
      if (block.name.find(".phi.") != std::string::npos) {
        kernels::fill_normals(fill);
      } else {
        kernels::fill_uniforms(fill);
      }
    }
    for (const SplineTransform<T>& transform : transforms) {
      for (std::size_t l = 0; l < transform.layers().size(); ++l) {
        const TileLayer<T>& layer = transform.layers()[l];
        const T bound = T(1) / std::sqrt(static_cast<T>(layer.inputs()));
        const auto spread = [&](T& u) { u = bound * (2 * u - 1); };
        for (std::size_t o = 0; o < layer.outputs(); ++o) {
          spread(parameters[transform.bias_offset(l) + o]);
          for (std::size_t i = 0; i < layer.inputs(); ++i) {
            T& weight = parameters[transform.weight_offset(l) + o * layer.inputs() + i];
            spread(weight);
            if (!layer.allowed(o, i)) weight = 0;
          }
        }
      }
    }
    pack();
  }

  void pack() {
    ++version;
    for (SplineTransform<T>& transform : transforms) transform.pack(parameters.data());
  }

  void check(const MatrixView<T>& x, const MatrixView<T>& c) const {
    check_columns("x", x.cols(), options.features);
    check_context<T>(c, x.rows(), options.context_features);
  }

  T* load_context(const MatrixView<T>& c, TileRows at, Scratch::Frame& frame) const {
    T* tile = frame.take<T>(context * kTileRows);
    if (context > 0) load_rows<T>(c, at, tile);
    return tile;
  }

  // log N(z; 0, I) + log determinants, for a tile.
  void add_base_density(const T* z, T* log_prob) const {
    const T constant = static_cast<T>(-0.5 * std::log(2 * std::numbers::pi) *
                                      static_cast<double>(features));
    for (std::size_t r = 0; r < kTileRows; ++r) log_prob[r] += constant;
    for (std::size_t f = 0; f < features; ++f) {
      const T* row = z + f * kTileRows;
      for (std::size_t r = 0; r < kTileRows; ++r) log_prob[r] -= T(0.5) * row[r] * row[r];
    }
  }

  // Brings the tile of x to noise (in the tape), and writes its log density. Only the last transform's
  // tape survives unless every transform has a place of its own.
  void evaluate_tile(const MatrixView<T>& x, const MatrixView<T>& c, TileRows at, bool keep, T* tape,
                     T* log_prob) const {
    Scratch::Frame frame;
    T* z = tape + noise_offset;
    const T* conditions = load_context(c, at, frame);
    load_rows<T>(x, at, z);
    std::fill_n(log_prob, kTileRows, T(0));
    add_poison(z, features, log_prob);
    add_poison(conditions, context, log_prob);
    for (std::size_t t = 0; t < transforms.size(); ++t) {
      transforms[t].forward(z, conditions, tape + (keep ? tape_offset[t] : 0), z, log_prob);
    }
    add_base_density(z, log_prob);
  }

  // Brings the tape's noise to data in x_tile.
  void sample_tile(const MatrixView<T>& c, TileRows at, bool keep, T* tape, T* x_tile,
                   T* log_prob) const {
    Scratch::Frame frame;
    const T* z = tape + noise_offset;
    const T* conditions = load_context(c, at, frame);
    std::fill_n(log_prob, kTileRows, T(0));
    add_poison(z, features, log_prob);
    add_poison(conditions, context, log_prob);
    add_base_density(z, log_prob);
    std::copy_n(z, features * kTileRows, x_tile);
    for (std::size_t t = transforms.size(); t-- > 0;) {
      transforms[t].inverse(x_tile, conditions, tape + (keep ? tape_offset[t] : 0), x_tile, log_prob);
    }
  }

  // From weights of the rows' log densities back through all transforms. Leaves the gradient with
  // respect to x in x_gradient, if that is wanted.
  void backward_tile(const T* tape, const T* weights, T* x_gradient, T* context_gradient,
                     T* accumulator) const {
    Scratch::Frame frame;
    T* gradient = x_gradient ? x_gradient : frame.take<T>(features * kTileRows);
    const T* z = tape + noise_offset;
    for (std::size_t i = 0; i < features * kTileRows; ++i) {
      gradient[i] = -z[i] * weights[i % kTileRows];
    }
    for (std::size_t t = transforms.size(); t-- > 0;) {
      transforms[t].backward(tape + tape_offset[t], gradient, weights,
                             t > 0 || x_gradient ? gradient : nullptr, context_gradient,
                             accumulator ? accumulator + accumulator_offset[t] : nullptr);
    }
  }

  void add_accumulators(const T* accumulators, std::size_t groups, std::size_t t,
                        std::span<T> gradient) const {
    Scratch::Frame frame;
    const std::size_t size = transforms[t].accumulator_size();
    T* sum = frame.take<T>(size);
    std::copy_n(accumulators + accumulator_offset[t], size, sum);
    for (std::size_t g = 1; g < groups; ++g) {
      kernels::add(sum, accumulators + g * accumulator_size + accumulator_offset[t], size);
    }
    transforms[t].add_gradient(sum, parameters.data(), gradient.data());
  }

  SplineFlowOptions options;
  std::size_t features = 0;
  std::size_t context = 0;
  ParameterLayout layout;
  std::vector<SplineTransform<T>> transforms;
  std::vector<std::size_t> tape_offset;
  std::vector<std::size_t> accumulator_offset;
  std::size_t noise_offset = 0;
  std::size_t tape_size = 0;
  std::size_t accumulator_size = 0;
  std::vector<T> parameters;
  std::uint64_t version = 0;
};

template <typename T>
SplineFlow<T>::SplineFlow(const SplineFlowOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
template <typename T>
SplineFlow<T>::~SplineFlow() = default;
template <typename T>
SplineFlow<T>::SplineFlow(const SplineFlow& other)
    : Density<T>(other), impl_(std::make_unique<Impl>(*other.impl_)) {}
template <typename T>
SplineFlow<T>& SplineFlow<T>::operator=(const SplineFlow& other) {
  if (this != &other) {
    Density<T>::operator=(other);
    impl_ = std::make_unique<Impl>(*other.impl_);
  }
  return *this;
}
template <typename T>
SplineFlow<T>::SplineFlow(SplineFlow&&) noexcept = default;
template <typename T>
SplineFlow<T>& SplineFlow<T>::operator=(SplineFlow&&) noexcept = default;

template <typename T>
const SplineFlowOptions& SplineFlow<T>::options() const {
  return impl_->options;
}
template <typename T>
Eigen::Index SplineFlow<T>::features() const {
  return impl_->options.features;
}
template <typename T>
Eigen::Index SplineFlow<T>::context_features() const {
  return impl_->options.context_features;
}
template <typename T>
const ParameterLayout& SplineFlow<T>::layout() const {
  return impl_->layout;
}
template <typename T>
std::span<const T> SplineFlow<T>::parameters() const {
  return impl_->parameters;
}

template <typename T>
void SplineFlow<T>::edit_parameters(const std::function<void(std::span<T>)>& edit) {
  edit(impl_->parameters);
  impl_->pack();
}

template <typename T>
std::vector<std::uint8_t> SplineFlow<T>::mask(const ParameterBlock& block) const {
  for (const SplineTransform<T>& transform : impl_->transforms) {
    if (!transform.masked()) continue;
    for (std::size_t l = 0; l < transform.layers().size(); ++l) {
      if (transform.weight_offset(l) != block.offset) continue;
      const TileLayer<T>& layer = transform.layers()[l];
      std::vector<std::uint8_t> mask;
      for (std::size_t o = 0; o < layer.outputs(); ++o) {
        for (std::size_t i = 0; i < layer.inputs(); ++i) mask.push_back(layer.allowed(o, i) ? 1 : 0);
      }
      return mask;
    }
  }
  return {};
}

template <typename T>
Vector<T> SplineFlow<T>::log_unnormalized(const MatrixView<T>& x,
                                          const MatrixView<T>& context) const {
  impl_->check(x, context);
  Vector<T> result(x.rows());
  this->run(tile_count(x.rows()), [&](std::size_t tile) {
    Scratch::Frame frame;
    const TileRows at = tile_rows(x.rows(), tile);
    T* tape = frame.take<T>(impl_->tape_size);
    T* log_prob = frame.take<T>(kTileRows);
    impl_->evaluate_tile(x, context, at, false, tape, log_prob);
    std::copy_n(log_prob, at.rows, result.data() + at.first);
  });
  return result;
}

template <typename T>
Matrix<T> SplineFlow<T>::to_noise(const MatrixView<T>& x, const MatrixView<T>& context) const {
  impl_->check(x, context);
  Matrix<T> result(x.rows(), x.cols());
  this->run(tile_count(x.rows()), [&](std::size_t tile) {
    Scratch::Frame frame;
    const TileRows at = tile_rows(x.rows(), tile);
    T* tape = frame.take<T>(impl_->tape_size);
    T* log_prob = frame.take<T>(kTileRows);
    impl_->evaluate_tile(x, context, at, false, tape, log_prob);
    kernels::store_tile(tape + impl_->noise_offset, at.rows, impl_->features,
                        result.data() + at.first * impl_->features, impl_->features);
  });
  return result;
}

template <typename T>
Vector<T> SplineFlow<T>::add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                                    const WeightFunction<T>& weights,
                                    std::span<T> gradient) const {
  impl_->check(x, context);
  check_size("gradient", static_cast<std::int64_t>(gradient.size()),
             static_cast<std::int64_t>(impl_->layout.size()));
  Vector<T> result(x.rows());
  const std::size_t tiles = tile_count(x.rows());
  if (tiles == 0) return result;
  const std::size_t groups = group_count(tiles, impl_->accumulator_size * sizeof(T));
  Scratch::Frame outer;
  T* accumulators = outer.take<T>(groups * impl_->accumulator_size);
  this->run(groups, [&](std::size_t group) {
    Scratch::Frame frame;
    T* accumulator = accumulators + group * impl_->accumulator_size;
    std::fill_n(accumulator, impl_->accumulator_size, T(0));
    T* tape = frame.take<T>(impl_->tape_size);
    T* log_prob = frame.take<T>(kTileRows);
    T* weight = frame.take<T>(kTileRows);
    for (std::size_t tile = group * tiles / groups; tile < (group + 1) * tiles / groups; ++tile) {
      const TileRows at = tile_rows(x.rows(), tile);
      impl_->evaluate_tile(x, context, at, true, tape, log_prob);
      std::copy_n(log_prob, at.rows, result.data() + at.first);
      weights(static_cast<Eigen::Index>(at.first), {log_prob, at.rows}, {weight, at.rows});
      std::fill(weight + at.rows, weight + kTileRows, T(0));
      impl_->backward_tile(tape, weight, nullptr, nullptr, accumulator);
    }
  });
  this->run(impl_->transforms.size(), [&](std::size_t t) {
    impl_->add_accumulators(accumulators, groups, t, gradient);
  });
  return result;
}

template <typename T>
InputGradient<T> SplineFlow<T>::input_gradient(const MatrixView<T>& x,
                                               const MatrixView<T>& context) const {
  impl_->check(x, context);
  InputGradient<T> result;
  result.values.resize(x.rows());
  result.x.resize(x.rows(), features());
  result.context.resize(x.rows(), context_features());
  this->run(tile_count(x.rows()), [&](std::size_t tile) {
    Scratch::Frame frame;
    const TileRows at = tile_rows(x.rows(), tile);
    T* tape = frame.take<T>(impl_->tape_size);
    T* log_prob = frame.take<T>(kTileRows);
    T* ones = frame.take<T>(kTileRows);
    T* gx = frame.take<T>(impl_->features * kTileRows);
    T* gc = frame.take_zeros<T>(impl_->context * kTileRows);
    std::fill_n(ones, kTileRows, T(1));
    impl_->evaluate_tile(x, context, at, true, tape, log_prob);
    impl_->backward_tile(tape, ones, gx, impl_->context > 0 ? gc : nullptr, nullptr);
    std::copy_n(log_prob, at.rows, result.values.data() + at.first);
    kernels::store_tile(gx, at.rows, impl_->features, result.x.data() + at.first * impl_->features,
                        impl_->features);
    kernels::store_tile(gc, at.rows, impl_->context,
                        result.context.data() + at.first * impl_->context, impl_->context);
  });
  return result;
}

template <typename T>
void SplineFlow<T>::sample(Eigen::Index rows, const MatrixView<T>& context,
                           const RandomStream& stream, Samples<T>& samples, KeepTape keep) const {
  check_at_least("rows", rows, 0);
  Matrix<T> noise(rows, features());
  const std::size_t columns = impl_->features;
  this->run(tile_count(rows), [&](std::size_t tile) {
    const TileRows at = tile_rows(rows, tile);
    kernels::fill_normals(kernels::RandomArguments<T>{
        {stream.seed, stream.purpose, stream.iteration},
        at.first,
        at.rows,
        columns,
        noise.data() + at.first * columns});
  });
  sample_from_noise(noise, context, samples, keep);
}

template <typename T>
void SplineFlow<T>::sample_from_noise(const MatrixView<T>& noise, const MatrixView<T>& context,
                                      Samples<T>& samples, KeepTape keep) const {
  check_columns("noise", noise.cols(), features());
  check_context<T>(context, noise.rows(), context_features());
  const std::size_t tiles = tile_count(noise.rows());
  samples.x.resize(noise.rows(), features());
  samples.log_prob.resize(noise.rows());
  if (keep == KeepTape::yes) {
    if (!samples.tape || samples.tape.use_count() > 1) {
      samples.tape = std::make_shared<SampleTape<T>>();
    }
    samples.tape->memory.resize(tiles * impl_->tape_size);
    samples.tape->rows = noise.rows();
    samples.tape->version = impl_->version;
  } else {
    samples.tape.reset();
  }
  this->run(tiles, [&](std::size_t tile) {
    Scratch::Frame frame;
    const TileRows at = tile_rows(noise.rows(), tile);
    T* tape = samples.tape ? samples.tape->memory.data() + tile * impl_->tape_size
                           : frame.take<T>(impl_->tape_size);
    T* x = frame.take<T>(impl_->features * kTileRows);
    T* log_prob = frame.take<T>(kTileRows);
    load_rows<T>(noise, at, tape + impl_->noise_offset);
    impl_->sample_tile(context, at, samples.tape != nullptr, tape, x, log_prob);
    kernels::store_tile(x, at.rows, impl_->features, samples.x.data() + at.first * impl_->features,
                        impl_->features);
    std::copy_n(log_prob, at.rows, samples.log_prob.data() + at.first);
  });
}

template <typename T>
void SplineFlow<T>::add_sample_scores(const Samples<T>& samples, const VectorView<T>& weights,
                                      std::span<T> gradient) const {
  if (!samples.tape || samples.tape->version != impl_->version ||
      samples.tape->memory.size() != tile_count(samples.tape->rows) * impl_->tape_size) {
    throw std::invalid_argument(
        "add_sample_scores: expected samples drawn from this flow with KeepTape::yes since its "
        "parameters were last edited");
  }
  const Eigen::Index rows = samples.tape->rows;
  check_size("weights", weights.size(), rows);
  check_size("gradient", static_cast<std::int64_t>(gradient.size()),
             static_cast<std::int64_t>(impl_->layout.size()));
  const std::size_t tiles = tile_count(rows);
  if (tiles == 0) return;
  const std::size_t groups = group_count(tiles, impl_->accumulator_size * sizeof(T));
  Scratch::Frame outer;
  T* accumulators = outer.take<T>(groups * impl_->accumulator_size);
  this->run(groups, [&](std::size_t group) {
    Scratch::Frame frame;
    T* accumulator = accumulators + group * impl_->accumulator_size;
    std::fill_n(accumulator, impl_->accumulator_size, T(0));
    T* weight = frame.take<T>(kTileRows);
    for (std::size_t tile = group * tiles / groups; tile < (group + 1) * tiles / groups; ++tile) {
      const TileRows at = tile_rows(rows, tile);
      std::copy_n(weights.data() + at.first, at.rows, weight);
      std::fill(weight + at.rows, weight + kTileRows, T(0));
      impl_->backward_tile(samples.tape->memory.data() + tile * impl_->tape_size, weight, nullptr,
                           nullptr, accumulator);
    }
  });
  this->run(impl_->transforms.size(), [&](std::size_t t) {
    impl_->add_accumulators(accumulators, groups, t, gradient);
  });
}

template class SplineFlow<float>;
template class SplineFlow<double>;

}  // namespace jeffreys
