#include "jeffreys/model/density_mixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/checks.h"
#include "base/log_sum_exp.h"
#include "model/choose_by_noise.h"
#include "model/mixed_architecture.h"

namespace jeffreys {
namespace {

constexpr const char* kComponents = "components";

// Samples are scored by evaluating them again, at their conditions.
template <typename T>
class BlendTape final : public SampleTape {
 public:
  Matrix<T> context;
};

template <typename T>
void check_components(const std::vector<AnyDensity<T>>& components,
                      const std::vector<double>& weights) {
  if (components.empty()) throw std::invalid_argument("components: expected at least one");
  check_size("weights", std::ssize(weights), std::ssize(components));
  for (const double weight : weights) {
    if (!(weight > 0) || !std::isfinite(weight)) {
      throw std::invalid_argument(
          fmt::format("weights: expected positive numbers, got {}", weight));
    }
  }
  const Density<T>& first = *components.front();
  for (const AnyDensity<T>& part : components) {
    refuse_mixture(kComponents, nlohmann::json::parse(part->architecture()));
    check_size("components.features", part->features(), first.features());
    check_size("components.context_features", part->context_features(), first.context_features());
    check_size("components.continuous_features", part->continuous_features(),
               first.continuous_features());
    check_size("components.state", std::ssize(part->state()), 0);
  }
}

// The architectures of the components.
nlohmann::json read_components(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) throw std::invalid_argument("the architecture is not a JSON object");
  if (!json.contains(kComponents) || !json.at(kComponents).is_array() ||
      json.at(kComponents).empty()) {
    architecture::refuse(kComponents, "the architectures of models");
  }
  if (json.size() != 2) {
    throw std::invalid_argument(
        "the architecture has fields that this program does not know: it was written by a newer "
        "one");
  }
  return json.at(kComponents);
}

template <typename T>
ModelKind<T> component_kind(const nlohmann::json& inner) {
  refuse_mixture(kComponents, inner);
  return find_model_kind<T>(model_name(kComponents, inner));
}

// The rows of x or noise that a component has to do with, and their conditions.
template <typename T>
Matrix<T> taken(const MatrixView<T>& context, const std::vector<Eigen::Index>& rows) {
  if (context.rows() <= 1) return context;
  Matrix<T> result(std::ssize(rows), context.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    result.row(static_cast<Eigen::Index>(i)) = context.row(rows[i] % context.rows());
  }
  return result;
}

}  // namespace

template <typename T>
ModelKind<T> density_mixture_kind() {
  return {.name = DensityMixtureOptions::kModelName,
          .least_parameters =
              [](const std::string& text) {
                double least = 0;
                for (const nlohmann::json& inner : read_components(text)) {
                  least += 1 + component_kind<T>(inner).least_parameters(inner.dump());
                }
                return least;
              },
          .make = [](const std::string& text) -> std::unique_ptr<UnnormalizedDensity<T>> {
            std::vector<AnyDensity<T>> components;
            for (const nlohmann::json& inner : read_components(text)) {
              components.emplace_back(component_kind<T>(inner).make(inner.dump()));
            }
            const std::vector<double> equal(components.size(), 1.0);
            return std::make_unique<DensityMixture<T>>(std::move(components), equal);
          }};
}

template <typename T>
DensityMixture<T>::DensityMixture(std::vector<AnyDensity<T>> components,
                                  const std::vector<double>& weights)
    : components_(std::move(components)) {
  check_components<T>(components_, weights);
  layout_.add("log_weights", {std::ssize(components_)});
  double sum = 0;
  for (const double weight : weights) sum += weight;
  for (const double weight : weights) {
    parameters_.push_back(static_cast<T>(std::log(weight / sum)));
  }
  for (std::size_t k = 0; k < components_.size(); ++k) {
    for (const ParameterBlock& block : components_[k]->layout().blocks()) {
      layout_.add(fmt::format("{}.{}", k + 1, block.name), block.shape);
    }
    const std::span<const T> inner = components_[k]->parameters();
    parameters_.insert(parameters_.end(), inner.begin(), inner.end());
  }
}

template <typename T>
Vector<T> DensityMixture<T>::log_weights() const {
  const Vector<double> logits =
      Eigen::Map<const Vector<T>>(parameters_.data(), std::ssize(components_))
          .template cast<double>();
  const double top = logits.maxCoeff();
  return (logits.array() - top - std::log((logits.array() - top).exp().sum())).template cast<T>();
}

template <typename T>
std::vector<double> DensityMixture<T>::weights() const {
  const Vector<double> shares = log_weights().template cast<double>().array().exp();
  return {shares.begin(), shares.end()};
}

template <typename T>
std::string DensityMixture<T>::architecture() const {
  nlohmann::json json{{"model", DensityMixtureOptions::kModelName},
                      {kComponents, nlohmann::json::array()}};
  for (const AnyDensity<T>& part : components_) {
    json[kComponents].push_back(nlohmann::json::parse(part->architecture()));
  }
  return json.dump();
}

template <typename T>
std::unique_ptr<UnnormalizedDensity<T>> DensityMixture<T>::clone() const {
  return std::make_unique<DensityMixture>(*this);
}

template <typename T>
void DensityMixture<T>::edit_parameters(const std::function<void(std::span<T>)>& edit) {
  edit(parameters_);
  auto from = parameters_.begin() + std::ssize(components_);
  for (AnyDensity<T>& part : components_) {
    part->edit_parameters([&](std::span<T> inner) {
      std::copy_n(from, inner.size(), inner.begin());
      from += std::ssize(inner);
    });
  }
}

template <typename T>
void DensityMixture<T>::use_threads(std::shared_ptr<ThreadPool> pool) {
  for (AnyDensity<T>& part : components_) part->use_threads(pool);
  Density<T>::use_threads(std::move(pool));
}

template <typename T>
Matrix<T> DensityMixture<T>::log_joint(const MatrixView<T>& x, const MatrixView<T>& context) const {
  const Vector<T> shares = log_weights();
  Matrix<T> joint(x.rows(), std::ssize(components_));
  for (std::size_t k = 0; k < components_.size(); ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    joint.col(column) = components_[k]->log_unnormalized(x, context).array() + shares(column);
  }
  return joint;
}

template <typename T>
Vector<T> DensityMixture<T>::log_unnormalized(const MatrixView<T>& x,
                                              const MatrixView<T>& context) const {
  const Matrix<T> joint = log_joint(x, context);
  // A sum keeps what is NaN, a maximum may not.
  return log_sum_exp_of_rows<T>(joint).array() + T(0) * x.rowwise().sum().array();
}

template <typename T>
Vector<T> DensityMixture<T>::add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                                        const WeightFunction<T>& weights,
                                        std::span<T> gradient) const {
  check_size("gradient", std::ssize(gradient), static_cast<std::int64_t>(layout_.size()));
  const Matrix<T> joint = log_joint(x, context);
  Vector<T> values = log_sum_exp_of_rows<T>(joint);
  Vector<T> chosen(x.rows());
  if (x.rows() > 0) {
    const auto rows = static_cast<std::size_t>(x.rows());
    weights(0, {values.data(), rows}, {chosen.data(), rows});
  }
  const Vector<T> shares = log_weights().array().exp();
  std::size_t first = components_.size();
  for (std::size_t k = 0; k < components_.size(); ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    const Vector<T> own = (joint.col(column) - values).array().exp() * chosen.array();
    gradient[k] += own.sum() - shares(column) * chosen.sum();
    const std::size_t size = components_[k]->layout().size();
    components_[k]->add_scores(x, context, own, gradient.subspan(first, size));
    first += size;
  }
  return values;
}

template <typename T>
bool DensityMixture<T>::has_input_gradient() const {
  return std::all_of(components_.begin(), components_.end(),
                     [](const AnyDensity<T>& part) { return part->has_input_gradient(); });
}

template <typename T>
InputGradient<T> DensityMixture<T>::input_gradient(const MatrixView<T>& x,
                                                   const MatrixView<T>& context,
                                                   ContextGradient wanted) const {
  std::vector<InputGradient<T>> each;
  Matrix<T> joint(x.rows(), std::ssize(components_));
  const Vector<T> shares = log_weights();
  for (std::size_t k = 0; k < components_.size(); ++k) {
    each.push_back(components_[k]->input_gradient(x, context, wanted));
    const auto column = static_cast<Eigen::Index>(k);
    joint.col(column) = each[k].values.array() + shares(column);
  }
  InputGradient<T> result{
      log_sum_exp_of_rows<T>(joint), Matrix<T>::Zero(x.rows(), x.cols()),
      Matrix<T>::Zero(each.front().context.rows(), each.front().context.cols())};
  for (std::size_t k = 0; k < components_.size(); ++k) {
    const Vector<T> own = (joint.col(static_cast<Eigen::Index>(k)) - result.values).array().exp();
    result.x += own.asDiagonal() * each[k].x;
    if (result.context.size() > 0) result.context += own.asDiagonal() * each[k].context;
  }
  return result;
}

template <typename T>
Eigen::Index DensityMixture<T>::noise_features() const {
  Eigen::Index most = 0;
  for (const AnyDensity<T>& part : components_) most = std::max(most, part->noise_features());
  return most + 1;
}

template <typename T>
void DensityMixture<T>::sample_from_noise(const MatrixView<T>& noise, const MatrixView<T>& context,
                                          Samples<T>& samples, KeepTape keep) const {
  check_columns("noise", noise.cols(), noise_features());
  check_context<T>(context, noise.rows(), context_features());
  const std::vector<double> shares = weights();
  std::vector<std::vector<Eigen::Index>> rows_of(components_.size());
  for (Eigen::Index r = 0; r < noise.rows(); ++r) {
    const auto choice = static_cast<double>(noise(r, noise.cols() - 1));
    rows_of[static_cast<std::size_t>(choose_by_noise<double>(shares, choice))].push_back(r);
  }
  samples.x.resize(noise.rows(), features());
  for (std::size_t k = 0; k < components_.size(); ++k) {
    if (rows_of[k].empty()) continue;
    const Matrix<T> own = noise(rows_of[k], Eigen::seqN(0, components_[k]->noise_features()));
    const Samples<T> drawn = components_[k]->sample_from_noise(own, taken<T>(context, rows_of[k]));
    samples.x(rows_of[k], Eigen::all) = drawn.x;
  }
  // A choice that is NaN makes its row so.
  samples.x.leftCols(continuous_features()).colwise() +=
      Vector<T>(T(0) * noise.col(noise.cols() - 1));
  samples.log_prob = log_unnormalized(samples.x, context);
  samples.tape.reset();
  if (keep == KeepTape::no) return;
  auto tape = std::make_shared<BlendTape<T>>();
  tape->context = context;
  samples.tape = std::move(tape);
}

template <typename T>
void DensityMixture<T>::add_sample_scores(const Samples<T>& samples, const VectorView<T>& weights,
                                          std::span<T> gradient) const {
  const auto* tape = dynamic_cast<const BlendTape<T>*>(samples.tape.get());
  if (tape == nullptr) {
    throw std::invalid_argument(
        "add_sample_scores: expected samples drawn from a mixture of densities with "
        "KeepTape::yes");
  }
  add_scores(samples.x, tape->context, weights, gradient);
}

template class DensityMixture<float>;
template class DensityMixture<double>;
template ModelKind<float> density_mixture_kind();
template ModelKind<double> density_mixture_kind();

}  // namespace jeffreys
