#include "model/norm_body.h"

#include "kernels/layer_norm.h"
#include "kernels/reductions.h"
#include "kernels/scratch.h"

namespace jeffreys {

using kernels::kTileRows;

template <typename T>
NormSilu<T>::NormSilu(const std::string& name, std::size_t width, ParameterLayout& parameters)
    : width_(width),
      weight_(parameters.add(name + ".weight", {static_cast<std::int64_t>(width)})),
      bias_(parameters.add(name + ".bias", {static_cast<std::int64_t>(width)})) {}

template <typename T>
std::size_t NormSilu<T>::tape_size(std::size_t tiles) const {
  return tiles * (2 * width_ + 2) * kTileRows;
}

template <typename T>
void NormSilu<T>::forward(const T* parameters, const T* input, std::size_t tiles, T* tape) const {
  const std::size_t size = width_ * kTileRows;
  T* slope = tape + tiles * size;
  T* moments = slope + tiles * size;
  for (std::size_t t = 0; t < tiles; ++t) {
    T* mean = moments + 2 * t * kTileRows;
    kernels::norm_silu(kernels::NormSiluArguments<T>{width_, input + t * size, parameters + weight_,
                                                     parameters + bias_, tape + t * size,
                                                     slope + t * size, mean, mean + kTileRows});
  }
}

template <typename T>
std::size_t NormSilu<T>::accumulator_size() const {
  return 2 * kernels::gradient_stride(width_);
}

template <typename T>
void NormSilu<T>::backward(const T* parameters, const T* input, const T* tape, T* output_gradient,
                           std::size_t tiles, bool add, T* input_gradient, T* accumulator) const {
  const std::size_t size = width_ * kTileRows;
  const T* slope = tape + tiles * size;
  const T* moments = slope + tiles * size;
  for (std::size_t t = 0; t < tiles; ++t) {
    const T* mean = moments + 2 * t * kTileRows;
    kernels::norm_silu_backward(kernels::NormSiluBackwardArguments<T>{
        .width = width_,
        .input = input + t * size,
        .weight = parameters + weight_,
        .slope = slope + t * size,
        .mean = mean,
        .inverse_std = mean + kTileRows,
        .output_gradient = output_gradient + t * size,
        .input_gradient = input_gradient + t * size,
        .accumulate = add,
        .weight_gradient = accumulator,
        .bias_gradient = accumulator ? accumulator + kernels::gradient_stride(width_) : nullptr});
  }
}

template <typename T>
void NormSilu<T>::add_gradient(const T* accumulator, T* gradient) const {
  kernels::add(gradient + weight_, accumulator, width_);
  kernels::add(gradient + bias_, accumulator + kernels::gradient_stride(width_), width_);
}

template <typename T>
NormBody<T>::NormBody(const std::string& name, std::size_t width, ParameterLayout& parameters,
                      ParameterLayout& vectors)
    : width_(width),
      norm1_(name + ".ln1", width, parameters),
      linear1_(name + ".lin1", width, width, Spectral::yes, parameters, vectors),
      norm2_(name + ".ln2", width, parameters),
      linear2_(name + ".lin2", width, width, Spectral::yes, parameters, vectors) {}

template <typename T>
std::size_t NormBody<T>::size(std::size_t tiles) const {
  return tiles * width_ * kTileRows;
}

template <typename T>
std::size_t NormBody<T>::tape_size(std::size_t tiles) const {
  return norm1_.tape_size(tiles) + norm2_.tape_size(tiles) + size(tiles);
}

template <typename T>
auto NormBody<T>::split(T* tape, std::size_t tiles) const -> Tape {
  Tape at{};
  at.norm1 = tape;
  at.middle = at.norm1 + norm1_.tape_size(tiles);
  at.norm2 = at.middle + size(tiles);
  return at;
}

template <typename T>
void NormBody<T>::forward(const T* parameters, const T* input, std::size_t tiles, T* tape,
                          T* output) const {
  const Tape at = split(tape, tiles);
  norm1_.forward(parameters, input, tiles, at.norm1);
  linear1_.forward(at.norm1, at.middle, tiles);
  norm2_.forward(parameters, at.middle, tiles, at.norm2);
  linear2_.forward(at.norm2, output, tiles);
}

template <typename T>
std::size_t NormBody<T>::accumulator_size() const {
  return norm1_.accumulator_size() + norm2_.accumulator_size() + linear1_.accumulator_size() +
         linear2_.accumulator_size();
}

template <typename T>
template <typename U>
auto NormBody<T>::split_sums(U* accumulator) const -> Sums<U> {
  if (!accumulator) return {};
  Sums<U> sums{};
  sums.norm1 = accumulator;
  sums.norm2 = sums.norm1 + norm1_.accumulator_size();
  sums.linear1 = sums.norm2 + norm2_.accumulator_size();
  sums.linear2 = sums.linear1 + linear1_.accumulator_size();
  return sums;
}

template <typename T>
void NormBody<T>::backward(const T* parameters, const T* input, const T* tape, T* gradient,
                           std::size_t tiles, bool add, T* input_gradient, T* accumulator) const {
  Scratch::Frame frame;
  const Tape at = split(const_cast<T*>(tape), tiles);  // NOLINT: only read below
  const Sums<T> sums = split_sums(accumulator);
  T* before = frame.take<T>(size(tiles));
  if (accumulator) linear2_.accumulate(gradient, at.norm2, sums.linear2, tiles);
  linear2_.backward(gradient, before, tiles);
  norm2_.backward(parameters, at.middle, at.norm2, before, tiles, false, gradient, sums.norm2);
  if (accumulator) linear1_.accumulate(gradient, at.norm1, sums.linear1, tiles);
  linear1_.backward(gradient, before, tiles);
  norm1_.backward(parameters, input, at.norm1, before, tiles, add, input_gradient, sums.norm1);
}

template <typename T>
void NormBody<T>::add_gradient(const T* accumulator, const T* parameters, const T* vectors,
                               T* gradient) const {
  const Sums<const T> sums = split_sums(accumulator);
  norm1_.add_gradient(sums.norm1, gradient);
  norm2_.add_gradient(sums.norm2, gradient);
  linear1_.add_gradient(sums.linear1, parameters, vectors, gradient);
  linear2_.add_gradient(sums.linear2, parameters, vectors, gradient);
}

template class NormSilu<float>;
template class NormSilu<double>;
template class NormBody<float>;
template class NormBody<double>;

}  // namespace jeffreys
