#include "jeffreys/model/spline_flow.h"

#include <stdexcept>

#include "model/architecture.h"
#include "model/spline_flow_impl.h"

namespace jeffreys {

using kernels::kTileRows;

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
std::string SplineFlow<T>::architecture() const {
  return write_architecture(options());
}
template <typename T>
std::unique_ptr<UnnormalizedDensity<T>> SplineFlow<T>::clone() const {
  return std::make_unique<SplineFlow>(*this);
}

template <typename T>
void SplineFlow<T>::edit_parameters(const std::function<void(std::span<T>)>& edit) {
  edit(impl_->parameters);
  impl_->pack();
}

template <typename T>
std::vector<std::uint8_t> SplineFlow<T>::mask(const ParameterBlock& block) const {
  for (const auto& transform : impl_->transforms) {
    if (std::vector<std::uint8_t> mask = transform->mask(block); !mask.empty()) return mask;
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
                                    const WeightFunction<T>& weights, std::span<T> gradient) const {
  impl_->check(x, context);
  check_size("gradient", static_cast<std::int64_t>(gradient.size()),
             static_cast<std::int64_t>(impl_->layout.size()));
  Vector<T> result(x.rows());
  const auto run = [this](std::size_t count, const auto& job) { this->run(count, job); };
  impl_->sum_over_tiles(run, tile_count(x.rows()), gradient, [&](std::size_t tile, T* accumulator) {
    Scratch::Frame frame;
    const TileRows at = tile_rows(x.rows(), tile);
    T* tape = frame.take<T>(impl_->tape_size);
    T* log_prob = frame.take<T>(kTileRows);
    T* weight = frame.take_zeros<T>(kTileRows);
    impl_->evaluate_tile(x, context, at, true, tape, log_prob);
    std::copy_n(log_prob, at.rows, result.data() + at.first);
    weights(static_cast<Eigen::Index>(at.first), {log_prob, at.rows}, {weight, at.rows});
    impl_->backward_tile(tape, weight, nullptr, nullptr, accumulator);
  });
  return result;
}

template <typename T>
InputGradient<T> SplineFlow<T>::input_gradient(const MatrixView<T>& x, const MatrixView<T>& context,
                                               ContextGradient wanted) const {
  impl_->check(x, context);
  const std::size_t conditions = wanted == ContextGradient::yes ? impl_->context : 0;
  InputGradient<T> result;
  result.values.resize(x.rows());
  result.x.resize(x.rows(), features());
  result.context.resize(x.rows(), static_cast<Eigen::Index>(conditions));
  this->run(tile_count(x.rows()), [&](std::size_t tile) {
    Scratch::Frame frame;
    const TileRows at = tile_rows(x.rows(), tile);
    T* tape = frame.take<T>(impl_->tape_size);
    T* log_prob = frame.take<T>(kTileRows);
    T* ones = frame.take<T>(kTileRows);
    T* gx = frame.take<T>(impl_->features * kTileRows);
    T* gc = frame.take_zeros<T>(conditions * kTileRows);
    std::fill_n(ones, kTileRows, T(1));
    impl_->evaluate_tile(x, context, at, true, tape, log_prob);
    impl_->backward_tile(tape, ones, gx, conditions > 0 ? gc : nullptr, nullptr);
    std::copy_n(log_prob, at.rows, result.values.data() + at.first);
    kernels::store_tile(gx, at.rows, impl_->features, result.x.data() + at.first * impl_->features,
                        impl_->features);
    kernels::store_tile(gc, at.rows, conditions, result.context.data() + at.first * conditions,
                        conditions);
  });
  return result;
}

template <typename T>
void SplineFlow<T>::sample_from_noise(const MatrixView<T>& noise, const MatrixView<T>& context,
                                      Samples<T>& samples, KeepTape keep) const {
  check_columns("noise", noise.cols(), features());
  check_context<T>(context, noise.rows(), context_features());
  const std::size_t tiles = tile_count(noise.rows());
  samples.x.resize(noise.rows(), features());
  samples.log_prob.resize(noise.rows());
  FlowTape<T>* kept = nullptr;
  if (keep == KeepTape::yes) {
    kept = dynamic_cast<FlowTape<T>*>(samples.tape.get());
    if (kept == nullptr || samples.tape.use_count() > 1) {
      samples.tape = std::make_shared<FlowTape<T>>();
      kept = static_cast<FlowTape<T>*>(samples.tape.get());
    }
    kept->memory.resize(tiles * impl_->tape_size);
    kept->rows = noise.rows();
    kept->version = impl_->version;
  } else {
    samples.tape.reset();
  }
  this->run(tiles, [&](std::size_t tile) {
    Scratch::Frame frame;
    const TileRows at = tile_rows(noise.rows(), tile);
    T* tape = kept != nullptr ? kept->memory.data() + tile * impl_->tape_size
                              : frame.take<T>(impl_->tape_size);
    T* x = frame.take<T>(impl_->features * kTileRows);
    T* log_prob = frame.take<T>(kTileRows);
    load_rows<T>(noise, at, tape + impl_->noise_offset);
    impl_->sample_tile(context, at, kept != nullptr, tape, x, log_prob);
    kernels::store_tile(x, at.rows, impl_->features, samples.x.data() + at.first * impl_->features,
                        impl_->features);
    std::copy_n(log_prob, at.rows, samples.log_prob.data() + at.first);
  });
}

template <typename T>
void SplineFlow<T>::add_sample_scores(const Samples<T>& samples, const VectorView<T>& weights,
                                      std::span<T> gradient) const {
  const auto* tape = dynamic_cast<const FlowTape<T>*>(samples.tape.get());
  if (tape == nullptr || tape->version != impl_->version ||
      tape->memory.size() != tile_count(tape->rows) * impl_->tape_size) {
    throw std::invalid_argument(
        "add_sample_scores: expected samples drawn from this flow with KeepTape::yes since its "
        "parameters were last edited");
  }
  const Eigen::Index rows = tape->rows;
  check_size("weights", weights.size(), rows);
  check_size("gradient", static_cast<std::int64_t>(gradient.size()),
             static_cast<std::int64_t>(impl_->layout.size()));
  const auto run = [this](std::size_t count, const auto& job) { this->run(count, job); };
  impl_->sum_over_tiles(run, tile_count(rows), gradient, [&](std::size_t tile, T* accumulator) {
    Scratch::Frame frame;
    const TileRows at = tile_rows(rows, tile);
    T* weight = frame.take_zeros<T>(kTileRows);
    std::copy_n(weights.data() + at.first, at.rows, weight);
    impl_->backward_tile(tape->memory.data() + tile * impl_->tape_size, weight, nullptr, nullptr,
                         accumulator);
  });
}

template class SplineFlow<float>;
template class SplineFlow<double>;

}  // namespace jeffreys
