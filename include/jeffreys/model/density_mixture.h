// A mixture of densities of any kinds, log p(x | c) = log sum_k w_k p_k(x | c): several fits that
// speak as one. Its samples are those of a component that is drawn by the weights.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jeffreys/model/any_model.h"
#include "jeffreys/model/density.h"

namespace jeffreys {

struct DensityMixtureOptions {
  static constexpr const char* kModelName = "density_mixture";
};

template <typename T>
class DensityMixture final : public Density<T> {
 public:
  // weights: positive, in any unit. Throws std::invalid_argument for no components, for weights
  // that are not positive or not as many, for components of different sizes, for one with state
  // (an energy model's), and for one that is such a mixture itself.
  DensityMixture(std::vector<AnyDensity<T>> components, const std::vector<double>& weights);

  [[nodiscard]] std::size_t size() const { return components_.size(); }
  [[nodiscard]] const Density<T>& component(std::size_t k) const { return *components_.at(k); }
  // They sum to 1.
  [[nodiscard]] std::vector<double> weights() const;

  [[nodiscard]] std::string architecture() const override;
  [[nodiscard]] std::unique_ptr<UnnormalizedDensity<T>> clone() const override;
  [[nodiscard]] Eigen::Index features() const override { return components_.front()->features(); }
  [[nodiscard]] Eigen::Index context_features() const override {
    return components_.front()->context_features();
  }
  [[nodiscard]] Eigen::Index continuous_features() const override {
    return components_.front()->continuous_features();
  }
  // The block "log_weights", then those of each component: "1.*", "2.*", ...
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  [[nodiscard]] std::span<const T> parameters() const override { return parameters_; }
  void edit_parameters(const std::function<void(std::span<T>)>& edit) override;
  void use_threads(std::shared_ptr<ThreadPool> pool) override;

  [[nodiscard]] Vector<T> log_unnormalized(
      const MatrixView<T>& x, const MatrixView<T>& context = Matrix<T>()) const override;

  using UnnormalizedDensity<T>::add_scores;
  Vector<T> add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                       const WeightFunction<T>& weights, std::span<T> gradient) const override;

  [[nodiscard]] bool has_input_gradient() const override;
  [[nodiscard]] InputGradient<T> input_gradient(
      const MatrixView<T>& x, const MatrixView<T>& context = Matrix<T>(),
      ContextGradient wanted = ContextGradient::yes) const override;

  // As many numbers as the component that takes most, and one that chooses the component.
  [[nodiscard]] Eigen::Index noise_features() const override;
  using Density<T>::sample_from_noise;
  void sample_from_noise(const MatrixView<T>& noise, const MatrixView<T>& context,
                         Samples<T>& samples, KeepTape keep = KeepTape::no) const override;
  void add_sample_scores(const Samples<T>& samples, const VectorView<T>& weights,
                         std::span<T> gradient) const override;

 private:
  [[nodiscard]] Vector<T> log_weights() const;
  // Log of weight times density, [rows, components].
  [[nodiscard]] Matrix<T> log_joint(const MatrixView<T>& x, const MatrixView<T>& context) const;

  std::vector<AnyDensity<T>> components_;
  ParameterLayout layout_;
  std::vector<T> parameters_;
};

extern template class DensityMixture<float>;
extern template class DensityMixture<double>;

}  // namespace jeffreys
