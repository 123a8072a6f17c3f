#include "train/likelihood_step.h"

#include "base/stopwatch.h"
#include "jeffreys/base/random_purpose.h"
#include "jeffreys/objective/likelihood.h"
#include "kernels/random.h"

namespace jeffreys {

template <typename T>
LikelihoodStep<T>::LikelihoodStep(const Density<T>& main, const TrainOptions& options)
    : main_(main),
      method_(options.method),
      noise_(options.noise),
      entropy_weight_(options.entropy_weight),
      seed_(options.seed) {}

template <typename T>
void LikelihoodStep<T>::compute(const MatrixView<T>& x, const MatrixView<T>& context,
                                std::int64_t iteration, std::span<T> gradient, StepRecord& record,
                                const Vector<T>& row_weights) {
  Stopwatch watch;
  if (method_ == Method::mle_entropy) {
    main_.sample(x.rows(), context, {seed_, kReverseSamples, static_cast<std::uint64_t>(iteration)},
                 samples_, KeepTape::yes);
    record.times.sampling = watch.lap();
    main_.add_sample_scores(
        samples_,
        entropy_sample_weights(samples_.log_prob.template cast<double>(), entropy_weight_)
            .template cast<T>(),
        gradient);
  }
  const auto weight = static_cast<T>(likelihood_data_weight(x.rows()));
  Vector<T> weights = Vector<T>::Constant(x.rows(), weight);
  if (row_weights.size() > 0) weights = weights.cwiseProduct(row_weights);
  const Vector<T> log_prob =
      method_ == Method::mle_noise
          ? main_.add_scores(with_noise(x, iteration), context, weights, gradient)
          : main_.add_scores(x, context, weights, gradient);
  record.divergences.forward =
      -(row_weights.size() > 0 ? Vector<T>(log_prob.cwiseProduct(row_weights)) : log_prob)
           .template cast<double>()
           .mean();
  record.times.scores = watch.lap();
}

template <typename T>
Matrix<T> LikelihoodStep<T>::with_noise(const MatrixView<T>& x, std::int64_t iteration) const {
  Matrix<T> noise(x.rows(), main_.continuous_features());
  kernels::fill_normals(
      kernels::RandomArguments<T>{{seed_, kDataNoise, static_cast<std::uint64_t>(iteration)},
                                  0,
                                  static_cast<std::size_t>(x.rows()),
                                  static_cast<std::size_t>(noise.cols()),
                                  noise.data()});
  Matrix<T> noisy = x;
  noisy.leftCols(noise.cols()) += static_cast<T>(noise_) * noise;
  return noisy;
}

template class LikelihoodStep<float>;
template class LikelihoodStep<double>;

}  // namespace jeffreys
