#include "torch/wgan_run.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "torch/gradient_penalty.h"

namespace jeffreys {
namespace {

template <typename T>
void check_fit(const SplineFlow<T>& generator, const ResidualEnergy<T>& critic,
               const Matrix<T>& data) {
  if (generator.context_features() != 0) {
    throw std::invalid_argument(fmt::format("generator: expected 0 context features, got {}",
                                            generator.context_features()));
  }
  if (critic.features() != generator.features()) {
    throw std::invalid_argument(fmt::format("critic: expected {} features (as generator), got {}",
                                            generator.features(), critic.features()));
  }
  if (data.cols() != generator.features()) {
    throw std::invalid_argument(fmt::format("data: expected {} columns (as generator), got {}",
                                            generator.features(), data.cols()));
  }
  if (data.rows() < 1) throw std::invalid_argument("data: expected at least 1 row, got 0");
  for (Eigen::Index i = 0; i < data.rows(); ++i) {
    if (!data.row(i).allFinite()) {
      throw std::invalid_argument(
          fmt::format("data: expected finite numbers, row {} has others", i));
    }
  }
}

OptimizerOptions optimizer_of(const WganOptions& options) {
  return {.beta1 = options.beta1,
          .beta2 = options.beta2,
          .weight_decay = options.weight_decay,
          .clip_norm = options.clip_norm};
}

template <typename T>
std::vector<T> copy_of(std::span<const T> values) {
  return {values.begin(), values.end()};
}

template <typename T>
void set_parameters(UnnormalizedDensity<T>& model, const std::vector<T>& values) {
  model.edit_parameters([&](std::span<T> parameters) {
    std::copy(values.begin(), values.end(), parameters.begin());
  });
}

template <typename T>
Matrix<T> take_rows(const Matrix<T>& data, const std::vector<Eigen::Index>& rows) {
  return rows.empty() ? data : Matrix<T>(data(rows, Eigen::all));
}

template <typename T>
double mean(const VectorView<T>& values) {
  return values.template cast<double>().mean();
}

}  // namespace

template <typename T>
WganRun<T>::WganRun(SplineFlow<T>& generator, ResidualEnergy<T>& critic, Matrix<T> data,
                    const WganOptions& options)
    : generator_(generator),
      critic_(critic),
      data_((options.validate(), check_fit(generator, critic, data), std::move(data))),
      options_(options),
      generator_update_(generator, optimizer_of(options), 0),
      critic_update_(critic, optimizer_of(options), 0),
      path_(generator) {}

template <typename T>
WganRecord WganRun<T>::step() {
  return step(draw_wgan_noise<T>(options_, data_.rows(), data_.cols(), iteration_));
}

template <typename T>
WganRecord WganRun<T>::step(const WganNoise<T>& noise) {
  const WganState<T> before = take_state();
  WganRecord record{.iteration = ++iteration_};
  bool finite = true;
  for (const CriticNoise<T>& critic : noise.critic) {
    finite = finite && update_critic(critic, record);
  }
  finite = finite && update_generator(noise.generator, record);
  if (!finite) {
    restore(before);
    record.skipped = true;
  }
  skipped_in_a_row_ = finite ? 0 : skipped_in_a_row_ + 1;
  return record;
}

// The critic sees the generator's samples as constants here, so they come from the fused model: the
// numbers that the twin would give but for rounding, in a small part of the time. The Wasserstein
// part of the loss is a weighted sum of scores, so that is fused too, and so is the penalty.
template <typename T>
bool WganRun<T>::update_critic(const CriticNoise<T>& noise, WganRecord& record) {
  const Matrix<T> x = take_rows(data_, noise.rows);
  const Eigen::Index rows = x.rows();
  generator_.sample_from_noise(noise.normals, Matrix<T>(), samples_);
  Matrix<T> both(2 * rows, x.cols());
  both << x, samples_.x;
  Vector<T> weights(2 * rows);
  weights << Vector<T>::Constant(rows, T(-1) / static_cast<T>(rows)),
      Vector<T>::Constant(rows, T(1) / static_cast<T>(rows));

  const std::span<T> gradient = critic_update_.clear_gradient();
  critic_.advance_state();
  const Vector<T> values = critic_.add_scores(both, Matrix<T>(), weights, gradient);
  record.wasserstein = mean<T>(values.head(rows)) - mean<T>(values.tail(rows));

  critic_.advance_state();
  const Matrix<T> mid = noise.mixing.asDiagonal() * (x - samples_.x) + samples_.x;
  record.penalty = add_gradient_penalty<T>(critic_, mid, options_.penalty, gradient);
  record.critic_loss = options_.penalty * record.penalty - record.wasserstein;

  record.critic_gradient_norm = critic_update_.gradient_norm();
  if (!std::isfinite(record.critic_loss) || !std::isfinite(record.critic_gradient_norm)) {
    return false;
  }
  critic_update_.apply(options_.learning_rate_critic, record.critic_gradient_norm);
  return true;
}

// The chain rule in two parts: d loss / d samples from the fused critic, then along the samples'
// path to the generator's parameters by autograd.
template <typename T>
bool WganRun<T>::update_generator(const Matrix<T>& noise, WganRecord& record) {
  const Matrix<T> samples = path_.sample(generator_, noise);
  critic_.advance_state();
  const InputGradient<T> critic = critic_.input_gradient(samples);
  record.generator_loss = -mean<T>(critic.values);
  path_.add(critic.x * (T(-1) / static_cast<T>(samples.rows())),
            generator_update_.clear_gradient());

  record.generator_gradient_norm = generator_update_.gradient_norm();
  if (!std::isfinite(record.generator_loss) || !std::isfinite(record.generator_gradient_norm)) {
    return false;
  }
  generator_update_.apply(options_.learning_rate_generator, record.generator_gradient_norm);
  return true;
}

template <typename T>
WganState<T> WganRun<T>::take_state() const {
  return {.generator = copy_of(generator_.parameters()),
          .critic = copy_of(critic_.parameters()),
          .spectral_vectors = copy_of(critic_.state()),
          .generator_update = generator_update_.state(),
          .critic_update = critic_update_.state()};
}

template <typename T>
void WganRun<T>::restore(const WganState<T>& state) {
  set_parameters(generator_, state.generator);
  set_parameters(critic_, state.critic);
  critic_.set_state(state.spectral_vectors);
  generator_update_.set_state(state.generator_update);
  critic_update_.set_state(state.critic_update);
}

template class WganRun<float>;
template class WganRun<double>;

}  // namespace jeffreys
