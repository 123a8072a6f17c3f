#include "kernels/scratch.h"
#include "kernels/silu.h"
#include "model/energy_block.h"
#include "model/norm_body.h"

namespace jeffreys {
namespace {

template <typename T>
class ResidualBlock final : public EnergyBlock<T> {
 public:
  ResidualBlock(const std::string& name, std::size_t width, ParameterLayout& parameters,
                ParameterLayout& vectors)
      : width_(width),
        alpha_(parameters.add(name + ".alpha", {})),
        body_(name, width, parameters, vectors) {}

  [[nodiscard]] std::unique_ptr<EnergyBlock<T>> clone() const override {
    return std::make_unique<ResidualBlock>(*this);
  }

  [[nodiscard]] std::vector<EnergyLayer<T>*> layers() override { return body_.layers(); }

  // That of the body, then the slope of the last SiLU.
  [[nodiscard]] std::size_t tape_size(std::size_t tiles) const override {
    return body_.tape_size(tiles) + size(tiles);
  }

  void forward(const T* parameters, const T* input, std::size_t tiles, T* tape,
               T* output) const override {
    body_.forward(parameters, input, tiles, tape, output);
    kernels::silu(kernels::SiluArguments<T>{.size = size(tiles),
                                            .input = output,
                                            .residual = input,
                                            .alpha = parameters[alpha_],
                                            .output = output,
                                            .slope = tape + body_.tape_size(tiles)});
  }

  // alpha comes first.
  [[nodiscard]] std::size_t accumulator_size() const override {
    return kernels::kGradientAlign + body_.accumulator_size();
  }

  void backward(const T* parameters, const T* input, const T* /*context*/, const T* tape,
                const T* output_gradient, std::size_t tiles, T* input_gradient,
                T* /*context_gradient*/, T* accumulator) const override {
    Scratch::Frame frame;
    T* gradient = frame.take<T>(size(tiles));
    kernels::silu_backward(kernels::SiluBackwardArguments<T>{.size = size(tiles),
                                                             .output_gradient = output_gradient,
                                                             .slope = tape + body_.tape_size(tiles),
                                                             .residual = input,
                                                             .alpha = parameters[alpha_],
                                                             .input_gradient = gradient,
                                                             .residual_gradient = input_gradient,
                                                             .alpha_gradient = accumulator});
    body_.backward(parameters, input, tape, gradient, tiles, true, input_gradient,
                   accumulator ? accumulator + kernels::kGradientAlign : nullptr);
  }

  void add_gradient(const T* accumulator, const EnergyBuffers<T>& buffers,
                    T* gradient) const override {
    gradient[alpha_] += accumulator[0];
    body_.add_gradient(accumulator + kernels::kGradientAlign, buffers.parameters, buffers.vectors,
                       gradient);
  }

 private:
  [[nodiscard]] std::size_t size(std::size_t tiles) const {
    return tiles * width_ * kernels::kTileRows;
  }

  std::size_t width_;
  std::size_t alpha_;
  NormBody<T> body_;
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
