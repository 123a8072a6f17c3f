#include <type_traits>

#include "kernels/reductions.h"
#include "kernels/scratch.h"
#include "kernels/silu.h"
#include "model/energy_block.h"
#include "model/norm_body.h"
#include "model/silu_network.h"

namespace jeffreys {
namespace {

using kernels::kTileRows;

constexpr std::size_t kBodyLayers = 2;

// Body: a SiluNetwork as in the paper, or a NormBody, whose output is bounded.
template <typename T, typename Body>
class FilmBlock final : public EnergyBlock<T> {
 public:
  static constexpr bool kBounded = std::is_same_v<Body, NormBody<T>>;

  FilmBlock(const std::string& name, std::size_t width, std::size_t context,
            std::size_t film_layers, ParameterLayout& parameters, ParameterLayout& vectors)
      : width_(width),
        context_(context),
        alpha_(parameters.add(name + ".alpha", {})),
        gamma_(name + ".gamma", context, width, film_layers, kSpectral, parameters, vectors),
        beta_(name + ".beta", context, width, film_layers, kSpectral, parameters, vectors),
        body_(make_body(name + ".body", width, parameters, vectors)) {}

  [[nodiscard]] std::unique_ptr<EnergyBlock<T>> clone() const override {
    return std::make_unique<FilmBlock>(*this);
  }

  [[nodiscard]] std::vector<EnergyLayer<T>*> layers() override {
    std::vector<EnergyLayer<T>*> all;
    for (EnergyLayer<T>* layer : gamma_.layers()) all.push_back(layer);
    for (EnergyLayer<T>* layer : beta_.layers()) all.push_back(layer);
    for (EnergyLayer<T>* layer : body_.layers()) all.push_back(layer);
    return all;
  }

  [[nodiscard]] std::size_t tape_size(std::size_t tiles) const override {
    return gamma_.tape_size(tiles) + beta_.tape_size(tiles) + body_.tape_size(tiles) +
           4 * size(tiles);
  }

  void condition(const T* context, std::size_t tiles, T* tape) const override {
    const Tape at = split(tape, tiles);
    gamma_.forward(context, tiles, at.gamma, at.gamma_value);
    beta_.forward(context, tiles, at.beta, at.beta_value);
  }

  void forward(const T* parameters, const T* input, std::size_t tiles, T* tape,
               T* output) const override {
    const Tape at = split(tape, tiles);
    if constexpr (kBounded) {
      body_.forward(parameters, input, tiles, at.body, at.body_value);
    } else {
      body_.forward(input, tiles, at.body, at.body_value);
    }
    kernels::silu(kernels::SiluArguments<T>{.size = size(tiles),
                                            .input = at.body_value,
                                            .gamma = at.gamma_value,
                                            .beta = at.beta_value,
                                            .residual = input,
                                            .alpha = parameters[alpha_],
                                            .output = output,
                                            .slope = at.slope});
  }

  [[nodiscard]] std::size_t accumulator_size() const override {
    return kernels::kGradientAlign + gamma_.accumulator_size() + beta_.accumulator_size() +
           body_.accumulator_size();
  }

  void backward(const T* parameters, const T* input, const T* context, const T* tape,
                const T* output_gradient, std::size_t tiles, T* input_gradient, T* context_gradient,
                T* accumulator) const override {
    Scratch::Frame frame;
    const Tape at = split(const_cast<T*>(tape), tiles);  // NOLINT: only read below
    T* body = frame.take<T>(size(tiles));
    const bool film_wanted = accumulator || context_gradient;
    T* gamma = film_wanted ? frame.take<T>(size(tiles)) : nullptr;
    T* beta = film_wanted ? frame.take<T>(size(tiles)) : nullptr;
    T* residual = frame.take<T>(size(tiles));
    kernels::silu_backward(kernels::SiluBackwardArguments<T>{.size = size(tiles),
                                                             .output_gradient = output_gradient,
                                                             .slope = at.slope,
                                                             .input = at.body_value,
                                                             .gamma = at.gamma_value,
                                                             .residual = input,
                                                             .alpha = parameters[alpha_],
                                                             .input_gradient = body,
                                                             .gamma_gradient = gamma,
                                                             .beta_gradient = beta,
                                                             .residual_gradient = residual,
                                                             .alpha_gradient = accumulator});
    T* sums = accumulator ? accumulator + kernels::kGradientAlign : nullptr;
    T* own_context = context_gradient ? frame.take<T>(tiles * context_ * kTileRows) : nullptr;
    const auto film = [&](const SiluNetwork<T>& network, const T* network_tape, const T* gradient) {
      network.backward(context, network_tape, gradient, tiles, own_context, sums);
      if (context_gradient)
        kernels::add(context_gradient, own_context, tiles * context_ * kTileRows);
      if (sums) sums += network.accumulator_size();
    };
    if (film_wanted) {
      film(gamma_, at.gamma, gamma);
      film(beta_, at.beta, beta);
    }
    if constexpr (kBounded) {
      body_.backward(parameters, input, at.body, body, tiles, false, input_gradient, sums);
    } else {
      body_.backward(input, at.body, body, tiles, input_gradient, sums);
    }
    kernels::add(input_gradient, residual, size(tiles));
  }

  void add_gradient(const T* accumulator, const EnergyBuffers<T>& buffers,
                    T* gradient) const override {
    gradient[alpha_] += accumulator[0];
    const T* sums = accumulator + kernels::kGradientAlign;
    const auto add = [&](const auto& part) {
      part.add_gradient(sums, buffers.parameters, buffers.vectors, gradient);
      sums += part.accumulator_size();
    };
    add(gamma_);
    add(beta_);
    add(body_);
  }

 private:
  static constexpr Spectral kSpectral = kBounded ? Spectral::yes : Spectral::no;

  static Body make_body(const std::string& name, std::size_t width, ParameterLayout& parameters,
                        ParameterLayout& vectors) {
    if constexpr (kBounded) {
      return Body(name, width, parameters, vectors);
    } else {
      return Body(name, width, width, kBodyLayers, Spectral::no, parameters, vectors);
    }
  }

  struct Tape {
    T* gamma;
    T* beta;
    T* body;
    T* gamma_value;
    T* beta_value;
    T* body_value;
    T* slope;  // of the last SiLU
  };

  [[nodiscard]] std::size_t size(std::size_t tiles) const { return tiles * width_ * kTileRows; }

  Tape split(T* tape, std::size_t tiles) const {
    Tape at{};
    at.gamma = tape;
    at.beta = at.gamma + gamma_.tape_size(tiles);
    at.body = at.beta + beta_.tape_size(tiles);
    at.gamma_value = at.body + body_.tape_size(tiles);
    at.beta_value = at.gamma_value + size(tiles);
    at.body_value = at.beta_value + size(tiles);
    at.slope = at.body_value + size(tiles);
    return at;
  }

  std::size_t width_;
  std::size_t context_;
  std::size_t alpha_;
  SiluNetwork<T> gamma_;
  SiluNetwork<T> beta_;
  Body body_;
};

}  // namespace

template <typename T>
std::unique_ptr<EnergyBlock<T>> make_film_block(const std::string& name, std::size_t width,
                                                std::size_t context, std::size_t film_layers,
                                                bool bounded, ParameterLayout& parameters,
                                                ParameterLayout& vectors) {
  if (bounded) {
    return std::make_unique<FilmBlock<T, NormBody<T>>>(name, width, context, film_layers,
                                                       parameters, vectors);
  }
  return std::make_unique<FilmBlock<T, SiluNetwork<T>>>(name, width, context, film_layers,
                                                        parameters, vectors);
}

template std::unique_ptr<EnergyBlock<float>> make_film_block(const std::string&, std::size_t,
                                                             std::size_t, std::size_t, bool,
                                                             ParameterLayout&, ParameterLayout&);
template std::unique_ptr<EnergyBlock<double>> make_film_block(const std::string&, std::size_t,
                                                              std::size_t, std::size_t, bool,
                                                              ParameterLayout&, ParameterLayout&);

}  // namespace jeffreys
