#include "model/spline_transform.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/scratch.h"
#include "kernels/spline.h"

namespace jeffreys {
namespace {

using kernels::kTileRows;

// Zuko deals the classes of dependence out to hidden units in turn. A class is the number of
// features that it sees: class 0 (context alone) exists only with a context.
std::vector<std::int64_t> hidden_degrees(std::size_t units, std::size_t features, bool context) {
  const std::size_t first = context ? 0 : 1;
  const std::size_t classes = std::max<std::size_t>(features - first, 1);
  std::vector<std::int64_t> degrees(units);
  for (std::size_t h = 0; h < units; ++h) {
    degrees[h] = static_cast<std::int64_t>(first + h % classes);
  }
  return degrees;
}

// The network's input is concat(x, context): a feature becomes visible one degree after its
// position.
std::vector<std::int64_t> input_degrees(const SplineTransformShape& shape) {
  std::vector<std::int64_t> degrees;
  if (shape.features > 1) {
    for (const std::int64_t position : shape.order) degrees.push_back(position + 1);
  }
  degrees.resize(degrees.size() + shape.context, 0);
  return degrees;
}

std::vector<std::int64_t> output_degrees(const SplineTransformShape& shape) {
  std::vector<std::int64_t> degrees;
  for (const std::int64_t position : shape.order) {
    degrees.insert(degrees.end(), kernels::spline_parameters(shape.bins), position);
  }
  return degrees;
}

std::int64_t signed_size(std::size_t size) { return static_cast<std::int64_t>(size); }

}  // namespace

template <typename T>
SplineTransform<T>::SplineTransform(const SplineTransformShape& shape, const std::string& name,
                                    ParameterLayout& layout)
    : features_(shape.features),
      context_(shape.context),
      bins_(shape.bins),
      first_is_shared_(shape.context == 0),
      feature_at_(shape.features) {
  for (std::size_t f = 0; f < features_; ++f) {
    feature_at_[static_cast<std::size_t>(shape.order[f])] = f;
  }
  if (first_is_shared_) shared_raw_.resize(kernels::spline_parameters(bins_));
  if (features_ == 1 && context_ == 0) {
    shared_offset_ = layout.add(name + ".phi.0", {1, signed_size(bins_)});
    layout.add(name + ".phi.1", {1, signed_size(bins_)});
    layout.add(name + ".phi.2", {1, signed_size(bins_) - 1});
    return;
  }
  std::vector<std::int64_t> before = input_degrees(shape);
  for (std::size_t l = 0; l <= shape.hidden.size(); ++l) {
    std::vector<std::int64_t> after = l < shape.hidden.size()
                                          ? hidden_degrees(shape.hidden[l], features_, context_ > 0)
                                          : output_degrees(shape);
    const std::string layer = name + ".hyper." + std::to_string(2 * l);
    weights_.push_back(
        layout.add(layer + ".weight", {signed_size(after.size()), signed_size(before.size())}));
    biases_.push_back(layout.add(layer + ".bias", {signed_size(after.size())}));
    layers_.emplace_back(before, after);
    before = std::move(after);
  }
  shared_offset_ = biases_.back() + feature_at(0) * kernels::spline_parameters(bins_);
  const bool sees_one_number = features_ == 1 ? context_ == 1 : features_ == 2 && context_ == 0;
  if (sees_one_number && layers_.size() > 2) {
    scalar_.emplace(layers_[0].inputs(), features_ == 1 ? 0 : feature_at(0), layers_[0].outputs(),
                    layers_[1].outputs());
  }
}

template <typename T>
void SplineTransform<T>::pack(const T* parameters) {
  if (scalar_) {
    scalar_->pack(parameters + weights_[0], parameters + biases_[0], parameters + weights_[1],
                  parameters + biases_[1]);
  }
  for (std::size_t l = first_dense(); l < layers_.size(); ++l) {
    layers_[l].pack(parameters + weights_[l], parameters + biases_[l]);
  }
  if (first_is_shared_) {
    std::copy_n(parameters + shared_offset_, shared_raw_.size(), shared_raw_.begin());
    shared_.build(bins_, shared_raw_.data());
  }
}

template <typename T>
std::size_t SplineTransform<T>::input_rows() const {
  return context_ + features_;
}

template <typename T>
std::size_t SplineTransform<T>::tape_size() const {
  std::size_t rows = input_rows();
  for (const TileLayer<T>& layer : layers_) rows += layer.outputs();
  return rows * kTileRows;
}

// The context comes first, then the features by position: sorted by degree.
template <typename T>
void SplineTransform<T>::load_input(const T* x, const T* context, T* input) const {
  std::copy_n(context, context_ * kTileRows, input);
  if (!x) return;
  for (std::size_t p = 0; p < features_; ++p) {
    std::copy_n(x + feature_at(p) * kTileRows, kTileRows, input + (context_ + p) * kTileRows);
  }
}

template <typename T>
void SplineTransform<T>::spline(std::size_t position, bool inverse, const T* raw, const T* from,
                                T* to, T* log_determinant, T* scratch) const {
  if (position == 0 && first_is_shared_) {
    const kernels::SharedSplineArguments<T> a{&shared_, from, to, log_determinant};
    inverse ? shared_spline_inverse(a) : shared_spline_forward(a);
    return;
  }
  const T* own = raw + position * kernels::spline_parameters(bins_) * kTileRows;
  const kernels::SplineArguments<T> a{bins_, own, from, to, log_determinant, scratch};
  inverse ? spline_inverse(a) : spline_forward(a);
}

// u is the first row of the sorted input. The first layer's activations are not computed; their
// place keeps the rows' pieces.
template <typename T>
void SplineTransform<T>::run_scalar_layers(T* tape) const {
  T* first = tape + input_rows() * kTileRows;
  scalar_->forward(tape, first + layers_[0].outputs() * kTileRows, first);
}

template <typename T>
void SplineTransform<T>::run_network(T* tape) const {
  if (scalar_) run_scalar_layers(tape);
  const T* before = tape;
  T* activations = tape + input_rows() * kTileRows;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (l >= first_dense()) layers_[l].forward(before, activations, l + 1 < layers_.size());
    before = activations;
    activations += layers_[l].outputs() * kTileRows;
  }
}

// The part of the network that has become known with the feature before: its units of one degree.
template <typename T>
void SplineTransform<T>::run_degree(std::size_t degree, T* tape) const {
  if (scalar_ && degree + 1 == features_) run_scalar_layers(tape);
  const T* before = tape;
  T* activations = tape + input_rows() * kTileRows;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (l >= first_dense()) {
      layers_[l].forward_degree(static_cast<std::int64_t>(degree), before, activations,
                                l + 1 < layers_.size());
    }
    before = activations;
    activations += layers_[l].outputs() * kTileRows;
  }
}

// The output layer's part of a tape: its last.
template <typename T>
const T* SplineTransform<T>::raw_splines(const T* tape) const {
  return tape + tape_size() - (layers_.empty() ? 0 : layers_.back().outputs() * kTileRows);
}

template <typename T>
void SplineTransform<T>::forward(const T* x, const T* context, T* tape, T* y,
                                 T* log_determinant) const {
  Scratch::Frame frame;
  T* scratch = frame.take<T>(2 * bins_ * kTileRows);
  load_input(x, context, tape);
  run_network(tape);
  for (std::size_t p = 0; p < features_; ++p) {
    spline(p, false, raw_splines(tape), tape + (context_ + p) * kTileRows,
           y + feature_at(p) * kTileRows, log_determinant, scratch);
  }
}

template <typename T>
void SplineTransform<T>::inverse(const T* y, const T* context, T* tape, T* x,
                                 T* log_determinant) const {
  Scratch::Frame frame;
  T* scratch = frame.take<T>(2 * bins_ * kTileRows);
  load_input(nullptr, context, tape);
  for (std::size_t p = 0; p < features_; ++p) {
    run_degree(p, tape);
    spline(p, true, raw_splines(tape), y + feature_at(p) * kTileRows,
           tape + (context_ + p) * kTileRows, log_determinant, scratch);
  }
  for (std::size_t p = 0; p < features_; ++p) {
    std::copy_n(tape + (context_ + p) * kTileRows, kTileRows, x + feature_at(p) * kTileRows);
  }
}

// An accumulator holds the sums for the shared spline, for the scalar layers, and for each dense
// layer.
template <typename T>
std::size_t SplineTransform<T>::accumulator_size() const {
  std::size_t size = kernels::gradient_stride(kernels::kBinNumbers * bins_);
  if (scalar_) size += scalar_->accumulator_size();
  for (std::size_t l = first_dense(); l < layers_.size(); ++l)
    size += layers_[l].accumulator_size();
  return size;
}

template <typename T>
void SplineTransform<T>::backward(const T* tape, const T* output_gradient,
                                  const T* log_determinant_gradient, T* input_gradient,
                                  T* context_gradient, T* accumulator) const {
  Scratch::Frame frame;
  const std::size_t parameters = kernels::spline_parameters(bins_);
  T* scratch = frame.take<T>(2 * bins_ * kTileRows);
  T* own_gradient = frame.take<T>(features_ * kTileRows);  // by position, through the splines alone
  T* gradient = layers_.empty() ? nullptr : frame.take<T>(layers_.back().outputs() * kTileRows);
  T* bins_sum = accumulator ? accumulator : frame.take<T>(kernels::kBinNumbers * bins_);
  for (std::size_t p = 0; p < features_; ++p) {
    const T* x = tape + (context_ + p) * kTileRows;
    const T* gy = output_gradient + feature_at(p) * kTileRows;
    T* gx = own_gradient + p * kTileRows;
    if (p == 0 && first_is_shared_) {
      kernels::shared_spline_backward(kernels::SharedSplineBackwardArguments<T>{
          &shared_, x, gy, log_determinant_gradient, bins_sum, gx});
    } else {
      const std::size_t at = p * parameters * kTileRows;
      kernels::spline_backward(kernels::SplineBackwardArguments<T>{bins_, raw_splines(tape) + at, x,
                                                                   gy, log_determinant_gradient,
                                                                   gradient + at, gx, scratch});
    }
  }

  // Back through the layers; the accumulator's parts are met from its end.
  T* sums = accumulator ? accumulator + accumulator_size() : nullptr;
  const T* activations = raw_splines(tape);
  for (std::size_t l = layers_.size(); l-- > first_dense();) {
    const TileLayer<T>& layer = layers_[l];
    const T* input = l > 0 ? activations - layers_[l - 1].outputs() * kTileRows : tape;
    if (accumulator) {
      sums -= layer.accumulator_size();
      layer.accumulate(gradient, input, sums);
    }
    if (l == 0 && !input_gradient && !context_gradient) return;
    T* before = frame.take<T>(layer.inputs() * kTileRows);
    layer.backward(gradient, l > 0 ? input : nullptr, before);
    gradient = before;
    activations = input;
  }
  if (scalar_) {
    if (accumulator) sums -= scalar_->accumulator_size();
    T* before = frame.take_zeros<T>(input_rows() * kTileRows);
    scalar_->backward(tape, tape + input_rows() * kTileRows, gradient, before, sums);
    gradient = before;
  }
  add_input_gradients(own_gradient, gradient, input_gradient, context_gradient);
}

// network_gradient is sorted: context, then features by position. A network of one feature sees the
// context alone.
template <typename T>
void SplineTransform<T>::add_input_gradients(const T* own_gradient, const T* network_gradient,
                                             T* input_gradient, T* context_gradient) const {
  for (std::size_t p = 0; input_gradient && p < features_; ++p) {
    T* gx = input_gradient + feature_at(p) * kTileRows;
    const T* own = own_gradient + p * kTileRows;
    const T* through = features_ > 1 ? network_gradient + (context_ + p) * kTileRows : nullptr;
    for (std::size_t r = 0; r < kTileRows; ++r) gx[r] = own[r] + (through ? through[r] : T(0));
  }
  for (std::size_t i = 0; context_gradient && i < context_ * kTileRows; ++i) {
    context_gradient[i] += network_gradient[i];
  }
}

template <typename T>
void SplineTransform<T>::add_gradient(const T* accumulator, const T* parameters,
                                      T* gradient) const {
  if (first_is_shared_) {
    shared_.add_raw_gradient(parameters + shared_offset_, accumulator, gradient + shared_offset_);
  }
  const T* sums = accumulator + kernels::gradient_stride(kernels::kBinNumbers * bins_);
  if (scalar_) {
    scalar_->add_gradient(sums, parameters + weights_[0], parameters + biases_[0],
                          parameters + weights_[1], gradient + weights_[0], gradient + biases_[0],
                          gradient + weights_[1], gradient + biases_[1]);
    sums += scalar_->accumulator_size();
  }
  for (std::size_t l = first_dense(); l < layers_.size(); ++l) {
    layers_[l].add_gradient(sums, gradient + weights_[l], gradient + biases_[l]);
    sums += layers_[l].accumulator_size();
  }
}

template <typename T>
std::unique_ptr<FlowTransform<T>> SplineTransform<T>::clone() const {
  return std::make_unique<SplineTransform>(*this);
}

template <typename T>
std::vector<std::uint8_t> SplineTransform<T>::mask(const ParameterBlock& block) const {
  for (std::size_t l = 0; features_ > 1 && l < layers_.size(); ++l) {
    if (weights_[l] != block.offset) continue;
    std::vector<std::uint8_t> mask;
    for (std::size_t o = 0; o < layers_[l].outputs(); ++o) {
      for (std::size_t i = 0; i < layers_[l].inputs(); ++i) {
        mask.push_back(layers_[l].allowed(o, i) ? 1 : 0);
      }
    }
    return mask;
  }
  return {};
}

template <typename T>
void SplineTransform<T>::spread_weights(FlowStart start, T* parameters) const {
  const auto starts_at_zero = [&](std::size_t input) {  // features, then conditions
    if (start == FlowStart::unconditional) return input >= features_;
    return start == FlowStart::independent;
  };
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const TileLayer<T>& layer = layers_[l];
    const T bound = T(1) / std::sqrt(static_cast<T>(layer.inputs()));
    const auto spread = [&](T& u) { u = bound * (2 * u - 1); };
    for (std::size_t o = 0; o < layer.outputs(); ++o) {
      spread(parameters[biases_[l] + o]);
      for (std::size_t i = 0; i < layer.inputs(); ++i) {
        T& weight = parameters[weights_[l] + o * layer.inputs() + i];
        spread(weight);
        if (!layer.allowed(o, i) || (l == 0 && starts_at_zero(i))) weight = 0;
      }
    }
  }
}

template class SplineTransform<float>;
template class SplineTransform<double>;

}  // namespace jeffreys
