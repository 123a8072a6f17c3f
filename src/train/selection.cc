#include "train/selection.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "jeffreys/objective/importance.h"
#include "train/random_purpose.h"

namespace jeffreys {
namespace {

// Averaged weights need their own spectral vectors; from those of the last step few iterations do.
constexpr int kAveragedStateSteps = 5;

}  // namespace

template <typename T>
Snapshot<T> take_snapshot(const UnnormalizedDensity<T>& model) {
  return {{model.parameters().begin(), model.parameters().end()},
          {model.state().begin(), model.state().end()}};
}

template <typename T>
void restore(const Snapshot<T>& snapshot, UnnormalizedDensity<T>& model) {
  model.edit_parameters([&](std::span<T> parameters) {
    std::copy(snapshot.parameters.begin(), snapshot.parameters.end(), parameters.begin());
  });
  if (!snapshot.state.empty()) model.set_state(snapshot.state);
}

template <typename T>
void check_snapshot(const Snapshot<T>& snapshot, const UnnormalizedDensity<T>& model) {
  if (snapshot.empty()) return;
  if (snapshot.parameters.size() != model.parameters().size() ||
      snapshot.state.size() != model.state().size()) {
    throw std::invalid_argument("a kept state has another size than the model");
  }
}

template <typename T>
Selection<T>::Selection(Density<T>& main, UnnormalizedDensity<T>* proxy,
                        const TrainingData<T>& data, const TrainOptions& options)
    : main_model_(main),
      proxy_model_(proxy),
      x_(data.validation_x),
      context_(data.validation_context),
      zeta_samples_(options.validation.zeta_samples),
      seed_(options.seed) {}

template <typename T>
Evaluation Selection<T>::evaluate(std::int64_t iteration, const ModelUpdate<T>& main_update,
                                  const ModelUpdate<T>* proxy_update) {
  Evaluation result{.iteration = iteration};
  Snapshot<T> averaged;
  result.main = nll(main_model_, iteration);
  result.main_averaged = averaged_nll(main_model_, main_update.average(), iteration, averaged);
  const bool main_improved = choose(main_best_, main_snapshot_, iteration, main_model_, result.main,
                                    result.main_averaged, averaged);
  if (proxy_model_ == nullptr) return result;

  result.proxy = nll(*proxy_model_, iteration);
  result.proxy_averaged = averaged_nll(*proxy_model_, proxy_update->average(), iteration, averaged);
  if (proxy_model_->normalized()) {
    choose(proxy_best_, proxy_snapshot_, iteration, *proxy_model_, result.proxy,
           result.proxy_averaged, averaged);
  } else if (main_improved) {
    // An energy model's NLL hangs on an estimate of zeta with the main model of this moment: the
    // two stay together.
    proxy_best_ = {.iteration = iteration,
                   .nll = main_best_.averaged ? result.proxy_averaged : result.proxy,
                   .averaged = main_best_.averaged};
    proxy_snapshot_ = main_best_.averaged ? averaged : take_snapshot(*proxy_model_);
  }
  return result;
}

template <typename T>
double Selection<T>::nll(const UnnormalizedDensity<T>& model, std::int64_t iteration) const {
  const double value = -model.log_unnormalized(x_, context_).template cast<double>().mean();
  if (model.normalized()) return value;

  const RandomStream stream{seed_, kValidation, static_cast<std::uint64_t>(iteration)};
  if (model.context_features() == 0) {
    const Samples<T> samples = main_model_.sample(zeta_samples_, stream);
    const Vector<double> log_weights =
        (model.log_unnormalized(samples.x) - samples.log_prob).template cast<double>();
    return value +
           importance_estimate({log_weights.data(), static_cast<std::size_t>(log_weights.size())})
               .log_zeta;
  }
  const Eigen::Index per_condition = std::max<Eigen::Index>(zeta_samples_ / x_.rows(), 10);
  const Samples<T> samples = main_model_.sample(per_condition * x_.rows(), context_, stream);
  const Vector<double> log_weights =
      (model.log_unnormalized(samples.x, context_) - samples.log_prob).template cast<double>();
  return value + log_zeta_by_condition(
                     {log_weights.data(), static_cast<std::size_t>(log_weights.size())}, x_.rows())
                     .mean();
}

template <typename T>
double Selection<T>::averaged_nll(UnnormalizedDensity<T>& model, std::span<const T> average,
                                  std::int64_t iteration, Snapshot<T>& averaged) const {
  if (average.empty()) return kNotMeasured;
  const Snapshot<T> raw = take_snapshot(model);
  restore({{average.begin(), average.end()}, raw.state}, model);
  for (int i = 0; i < kAveragedStateSteps && !raw.state.empty(); ++i) model.advance_state();
  const double value = nll(model, iteration);
  averaged = take_snapshot(model);
  restore(raw, model);
  return value;
}

template <typename T>
bool Selection<T>::choose(Selected& best, Snapshot<T>& snapshot, std::int64_t iteration,
                          const UnnormalizedDensity<T>& model, double raw, double averaged,
                          const Snapshot<T>& averaged_state) const {
  const bool take_averaged = averaged < raw || (std::isnan(raw) && !std::isnan(averaged));
  const double value = take_averaged ? averaged : raw;
  if (!(value < best.nll)) return false;
  best = {.iteration = iteration, .nll = value, .averaged = take_averaged};
  snapshot = take_averaged ? averaged_state : take_snapshot(model);
  return true;
}

template <typename T>
void Selection<T>::check_sizes() const {
  check_snapshot(main_snapshot_, main_model_);
  if (proxy_model_ != nullptr) check_snapshot(proxy_snapshot_, *proxy_model_);
}

template <typename T>
void Selection<T>::restore_best() {
  if (!main_snapshot_.empty()) restore(main_snapshot_, main_model_);
  if (proxy_model_ != nullptr && !proxy_snapshot_.empty()) restore(proxy_snapshot_, *proxy_model_);
}

template <typename T>
std::int64_t Selection<T>::last_improvement() const {
  return std::max(main_best_.iteration, proxy_best_.iteration);
}

#define JEFFREYS_INSTANTIATE(T)                                                    \
  template Snapshot<T> take_snapshot(const UnnormalizedDensity<T>&);               \
  template void restore(const Snapshot<T>&, UnnormalizedDensity<T>&);              \
  template void check_snapshot(const Snapshot<T>&, const UnnormalizedDensity<T>&); \
  template class Selection<T>;

JEFFREYS_INSTANTIATE(float)
JEFFREYS_INSTANTIATE(double)

#undef JEFFREYS_INSTANTIATE

}  // namespace jeffreys
