#include "train/selection.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "jeffreys/base/random_purpose.h"
#include "jeffreys/model/defensive_samples.h"
#include "jeffreys/objective/importance.h"

namespace jeffreys {
namespace {

// Averaged weights need their own spectral vectors; from those of the last step few iterations do.
constexpr int kAveragedStateSteps = 5;

// log zeta of each condition, or one for all. Samples with wider tails count mass that the main
// model's own do not see: without them the states that have most of it would look best.
template <typename T>
Vector<double> log_zeta_of(const UnnormalizedDensity<T>& model, const Density<T>& main,
                           const MatrixView<T>& context, Eigen::Index samples,
                           const RandomStream& stream) {
  const Eigen::Index conditions = model.context_features() > 0 ? context.rows() : 1;
  const DefensiveSamples<T> drawn = defensive_samples<T>(main, samples, context, stream);
  const Vector<double> log_weights =
      model.log_unnormalized(drawn.x, context).template cast<double>() - drawn.log_mixture;
  return jackknife_log_zeta({log_weights.data(), static_cast<std::size_t>(log_weights.size())},
                            conditions);
}

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
AveragedWeights<T>::AveragedWeights(UnnormalizedDensity<T>& model, std::span<const T> average)
    : model_(model), own_(take_snapshot(model)) {
  restore({{average.begin(), average.end()}, own_.state}, model_);
  for (int i = 0; i < kAveragedStateSteps && !own_.state.empty(); ++i) model_.advance_state();
}

template <typename T>
AveragedWeights<T>::~AveragedWeights() {
  restore(own_, model_);
}

template <typename T>
Selection<T>::Selection(Density<T>& main, UnnormalizedDensity<T>* proxy,
                        const TrainingData<T>& data, const TrainOptions& options)
    : main_model_(main),
      proxy_model_(proxy),
      x_(data.validation_x),
      context_(data.validation_context),
      data_(data),
      options_(options.validation),
      seed_(options.seed) {}

template <typename T>
Evaluation Selection<T>::evaluate(std::int64_t iteration, const ModelUpdate<T>& main_update,
                                  const ModelUpdate<T>* proxy_update) {
  Evaluation result{.iteration = iteration};
  Snapshot<T> averaged;
  result.main = nll(main_model_, iteration);
  result.main_averaged = averaged_nll(main_model_, main_update.average(), iteration, averaged);
  choose(main_best_, main_snapshot_, iteration, main_model_, result.main, result.main_averaged,
         averaged);
  if (proxy_model_ == nullptr) return result;

  result.proxy = nll(*proxy_model_, iteration);
  result.proxy_averaged = averaged_nll(*proxy_model_, proxy_update->average(), iteration, averaged);
  choose(proxy_best_, proxy_snapshot_, iteration, *proxy_model_, result.proxy,
         result.proxy_averaged, averaged);
  return result;
}

template <typename T>
double Selection<T>::nll(const UnnormalizedDensity<T>& model, std::int64_t iteration) const {
  Vector<double> values = model.log_unnormalized(x_, context_).template cast<double>();
  const bool plain = data_.validation_weights.size() + data_.validation_log_weights.size() == 0;
  if (model.normalized()) return plain ? -values.mean() : weighted_nll(std::move(values));

  const RandomStream stream{seed_, kValidation, static_cast<std::uint64_t>(iteration)};
  const bool conditional = model.context_features() > 0;
  const Eigen::Index samples =
      conditional ? options_.zeta_samples_per_condition : options_.zeta_samples;
  const Matrix<T> context = conditional ? context_ : Matrix<T>();
  const Vector<double> log_zeta =
      log_zeta_of<T>(model, main_model_, context, samples / 2 * 2, stream);
  if (plain) return -values.mean() + log_zeta.mean();
  values -= log_zeta.replicate(conditional ? 1 : values.size(), 1);
  return weighted_nll(std::move(values));
}

template <typename T>
double Selection<T>::weighted_nll(Vector<double> points) const {
  const Eigen::Index each = data_.validation_points;
  const Eigen::Index rows = points.size() / each;
  const bool inside = data_.validation_log_weights.size() > 0;
  if (inside) points += data_.validation_log_weights;
  const Eigen::Map<const Matrix<double>> by_point(points.data(), each, rows);
  Vector<double> log_density = by_point.colwise().mean();
  if (inside) {
    const Eigen::RowVectorXd most = by_point.colwise().maxCoeff();
    log_density = (most.array() + (by_point.rowwise() - most).array().exp().colwise().mean().log())
                      .transpose();
  }
  const Vector<double>& weights = data_.validation_weights;
  return weights.size() > 0 ? -log_density.dot(weights) / weights.sum() : -log_density.mean();
}

template <typename T>
double Selection<T>::averaged_nll(UnnormalizedDensity<T>& model, std::span<const T> average,
                                  std::int64_t iteration, Snapshot<T>& averaged) const {
  if (average.empty()) return kNotMeasured;
  const AveragedWeights<T> held(model, average);
  const double value = nll(model, iteration);
  averaged = take_snapshot(model);
  return value;
}

template <typename T>
void Selection<T>::choose(Selected& best, Snapshot<T>& snapshot, std::int64_t iteration,
                          const UnnormalizedDensity<T>& model, double raw, double averaged,
                          const Snapshot<T>& averaged_state) const {
  const bool take_averaged = averaged < raw || (std::isnan(raw) && !std::isnan(averaged));
  const double value = take_averaged ? averaged : raw;
  if (!(value < best.nll)) return;
  best = {.iteration = iteration, .nll = value, .averaged = take_averaged};
  snapshot = take_averaged ? averaged_state : take_snapshot(model);
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
  template class AveragedWeights<T>;                                               \
  template class Selection<T>;

JEFFREYS_INSTANTIATE(float)
JEFFREYS_INSTANTIATE(double)

#undef JEFFREYS_INSTANTIATE

}  // namespace jeffreys
