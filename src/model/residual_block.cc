#include "kernels/layer_norm.h"
#include "kernels/reductions.h"
#include "kernels/silu.h"
#include "model/energy_block.h"
#include "model/scratch.h"

namespace jeffreys {
namespace {

using kernels::kTileRows;

// LayerNorm followed by SiLU.
template <typename T>
struct NormSilu {
  std::size_t width;
  std::size_t weight;  // offsets in the parameters
  std::size_t bias;

  NormSilu(const std::string& name, std::size_t units, ParameterLayout& parameters)
      : width(units),
        weight(parameters.add(name + ".weight", {static_cast<std::int64_t>(units)})),
        bias(parameters.add(name + ".bias", {static_cast<std::int64_t>(units)})) {}

  // Output, slope, mean, inverse standard deviation.
  [[nodiscard]] std::size_t tape_size(std::size_t tiles) const {
    return tiles * (2 * width + 2) * kTileRows;
  }

  void forward(const T* parameters, const T* input, std::size_t tiles, T* tape) const {
    const std::size_t size = width * kTileRows;
    T* slope = tape + tiles * size;
    T* moments = slope + tiles * size;
    for (std::size_t t = 0; t < tiles; ++t) {
      T* mean = moments + 2 * t * kTileRows;
      kernels::norm_silu(kernels::NormSiluArguments<T>{width, input + t * size, parameters + weight,
                                                       parameters + bias, tape + t * size,
                                                       slope + t * size, mean, mean + kTileRows});
    }
  }

  [[nodiscard]] std::size_t accumulator_size() const { return 2 * kernels::gradient_stride(width); }

  void backward(const T* parameters, const T* input, const T* tape, T* output_gradient,
                std::size_t tiles, bool accumulate, T* input_gradient, T* accumulator) const {
    const std::size_t size = width * kTileRows;
    const T* slope = tape + tiles * size;
    const T* moments = slope + tiles * size;
    for (std::size_t t = 0; t < tiles; ++t) {
      const T* mean = moments + 2 * t * kTileRows;
      kernels::norm_silu_backward(kernels::NormSiluBackwardArguments<T>{
          .width = width,
          .input = input + t * size,
          .weight = parameters + weight,
          .slope = slope + t * size,
          .mean = mean,
          .inverse_std = mean + kTileRows,
          .output_gradient = output_gradient + t * size,
          .input_gradient = input_gradient + t * size,
          .accumulate = accumulate,
          .weight_gradient = accumulator,
          .bias_gradient = accumulator ? accumulator + kernels::gradient_stride(width) : nullptr});
    }
  }

  void add_gradient(const T* accumulator, T* gradient) const {
    kernels::add(gradient + weight, accumulator, width);
    kernels::add(gradient + bias, accumulator + kernels::gradient_stride(width), width);
  }
};

template <typename T>
class ResidualBlock final : public EnergyBlock<T> {
 public:
  ResidualBlock(const std::string& name, std::size_t width, ParameterLayout& parameters,
                ParameterLayout& vectors)
      : width_(width),
        alpha_(parameters.add(name + ".alpha", {})),
        norm1_(name + ".ln1", width, parameters),
        linear1_(name + ".lin1", width, width, Spectral::yes, parameters, vectors),
        norm2_(name + ".ln2", width, parameters),
        linear2_(name + ".lin2", width, width, Spectral::yes, parameters, vectors) {}

  [[nodiscard]] std::unique_ptr<EnergyBlock<T>> clone() const override {
    return std::make_unique<ResidualBlock>(*this);
  }

  [[nodiscard]] std::vector<EnergyLayer<T>*> layers() override { return {&linear1_, &linear2_}; }

  [[nodiscard]] std::size_t tape_size(std::size_t tiles) const override {
    return norm1_.tape_size(tiles) + norm2_.tape_size(tiles) + 2 * size(tiles);
  }

  void forward(const T* parameters, const T* input, std::size_t tiles, T* tape,
               T* output) const override {
    const Tape at = split(tape, tiles);
    norm1_.forward(parameters, input, tiles, at.norm1);
    linear1_.forward(at.norm1, at.middle, tiles);
    norm2_.forward(parameters, at.middle, tiles, at.norm2);
    linear2_.forward(at.norm2, output, tiles);
    kernels::silu(kernels::SiluArguments<T>{.size = size(tiles),
                                            .input = output,
                                            .residual = input,
                                            .alpha = parameters[alpha_],
                                            .output = output,
                                            .slope = at.slope});
  }

  [[nodiscard]] std::size_t accumulator_size() const override {
    return kernels::kGradientAlign + norm1_.accumulator_size() + norm2_.accumulator_size() +
           linear1_.accumulator_size() + linear2_.accumulator_size();
  }

  void backward(const T* parameters, const T* input, const T* /*context*/, const T* tape,
                const T* output_gradient, std::size_t tiles, T* input_gradient,
                T* /*context_gradient*/, T* accumulator) const override {
    Scratch::Frame frame;
    const Tape at = split(const_cast<T*>(tape), tiles);  // NOLINT: only read below
    const Sums<T> sums = split_sums(accumulator);
    T* a = frame.take<T>(size(tiles));
    T* b = frame.take<T>(size(tiles));
    kernels::silu_backward(kernels::SiluBackwardArguments<T>{.size = size(tiles),
                                                             .output_gradient = output_gradient,
                                                             .slope = at.slope,
                                                             .residual = input,
                                                             .alpha = parameters[alpha_],
                                                             .input_gradient = a,
                                                             .residual_gradient = input_gradient,
                                                             .alpha_gradient = accumulator});
    if (accumulator) linear2_.accumulate(a, at.norm2, sums.linear2, tiles);
    linear2_.backward(a, b, tiles);
    norm2_.backward(parameters, at.middle, at.norm2, b, tiles, false, a, sums.norm2);
    if (accumulator) linear1_.accumulate(a, at.norm1, sums.linear1, tiles);
    linear1_.backward(a, b, tiles);
    norm1_.backward(parameters, input, at.norm1, b, tiles, true, input_gradient, sums.norm1);
  }

  void add_gradient(const T* accumulator, const EnergyBuffers<T>& buffers,
                    T* gradient) const override {
    const Sums<const T> sums = split_sums(accumulator);
    gradient[alpha_] += accumulator[0];
    norm1_.add_gradient(sums.norm1, gradient);
    norm2_.add_gradient(sums.norm2, gradient);
    linear1_.add_gradient(sums.linear1, buffers.parameters, buffers.vectors, gradient);
    linear2_.add_gradient(sums.linear2, buffers.parameters, buffers.vectors, gradient);
  }

 private:
  struct Tape {
    T* norm1;
    T* middle;  // output of the first linear layer
    T* norm2;
    T* slope;  // of the last SiLU
  };
  template <typename U>
  struct Sums {
    U* norm1;
    U* norm2;
    U* linear1;
    U* linear2;
  };

  [[nodiscard]] std::size_t size(std::size_t tiles) const { return tiles * width_ * kTileRows; }

  Tape split(T* tape, std::size_t tiles) const {
    Tape at{};
    at.norm1 = tape;
    at.middle = at.norm1 + norm1_.tape_size(tiles);
    at.norm2 = at.middle + size(tiles);
    at.slope = at.norm2 + norm2_.tape_size(tiles);
    return at;
  }

  template <typename U>
  Sums<U> split_sums(U* accumulator) const {
    if (!accumulator) return {};
    Sums<U> sums{};
    sums.norm1 = accumulator + kernels::kGradientAlign;  // alpha comes first
    sums.norm2 = sums.norm1 + norm1_.accumulator_size();
    sums.linear1 = sums.norm2 + norm2_.accumulator_size();
    sums.linear2 = sums.linear1 + linear1_.accumulator_size();
    return sums;
  }

  std::size_t width_;
  std::size_t alpha_;
  NormSilu<T> norm1_;
  EnergyLayer<T> linear1_;
  NormSilu<T> norm2_;
  EnergyLayer<T> linear2_;
};

}  // namespace

template <typename T>
std::unique_ptr<EnergyBlock<T>> make_residual_block(const std::string& name, std::size_t width,
                                                    ParameterLayout& parameters,
                                                    ParameterLayout& vectors) {
  return std::make_unique<ResidualBlock<T>>(name, width, parameters, vectors);
}

template std::unique_ptr<EnergyBlock<float>> make_residual_block(const std::string&, std::size_t,
                                                                 ParameterLayout&,
                                                                 ParameterLayout&);
template std::unique_ptr<EnergyBlock<double>> make_residual_block(const std::string&, std::size_t,
                                                                  ParameterLayout&,
                                                                  ParameterLayout&);

}  // namespace jeffreys
