// A mixture of Gaussians with full covariances: a simple density that can be the main model, a
// normalised proxy, or a baseline. With conditions its weights and its means are linear in them:
//   log p(x | c) = log sum_k pi_k(c) N(x; m_k + A_k c, (L_k^T L_k)^-1),  pi(c) = softmax(b + B c),
// where L_k is lower triangular with a positive diagonal, which is stored as its logarithm.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jeffreys/model/density.h"

namespace jeffreys {

struct GaussianMixtureOptions {
  Eigen::Index features = 0;
  Eigen::Index context_features = 0;
  Eigen::Index components = 8;
  std::uint64_t seed = 0;  // of the initial means, which are standard normal

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;

  // See SplineFlowOptions.
  static constexpr const char* kModelName = "gaussian_mixture";
  template <typename Options, typename Visit>
  static void visit_architecture(Options& o, Visit&& visit) {
    visit("features", o.features);
    visit("context_features", o.context_features);
    visit("components", o.components);
  }
  [[nodiscard]] double least_parameters() const;
};

// One Gaussian of a mixture without conditions.
struct GaussianComponent {
  double weight = 1;
  Vector<double> mean;
  Matrix<double> factor;  // lower Cholesky factor of the covariance
};

template <typename T>
class GaussianMixture final : public Density<T> {
 public:
  using Options = GaussianMixtureOptions;

  // Starts with equal weights and unit covariances, and without any influence of the conditions.
  explicit GaussianMixture(const GaussianMixtureOptions& options);
  // A mixture that is known: from expectation maximisation, for instance. Throws
  // std::invalid_argument for none, for weights or diagonals that are not positive, for shapes that
  // differ, and for what is not finite.
  explicit GaussianMixture(const std::vector<GaussianComponent>& components);

  [[nodiscard]] const GaussianMixtureOptions& options() const { return options_; }

  [[nodiscard]] std::string architecture() const override;
  [[nodiscard]] std::unique_ptr<UnnormalizedDensity<T>> clone() const override;
  [[nodiscard]] Eigen::Index features() const override { return options_.features; }
  [[nodiscard]] Eigen::Index context_features() const override { return options_.context_features; }
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  [[nodiscard]] std::span<const T> parameters() const override { return parameters_; }
  void edit_parameters(const std::function<void(std::span<T>)>& edit) override;

  [[nodiscard]] Vector<T> log_unnormalized(
      const MatrixView<T>& x, const MatrixView<T>& context = Matrix<T>()) const override;

  using UnnormalizedDensity<T>::add_scores;
  Vector<T> add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                       const WeightFunction<T>& weights, std::span<T> gradient) const override;

  [[nodiscard]] bool has_input_gradient() const override { return true; }
  [[nodiscard]] InputGradient<T> input_gradient(
      const MatrixView<T>& x, const MatrixView<T>& context = Matrix<T>(),
      ContextGradient wanted = ContextGradient::yes) const override;

  // The last number of a row of noise chooses the component.
  [[nodiscard]] Eigen::Index noise_features() const override { return options_.features + 1; }
  using Density<T>::sample_from_noise;
  void sample_from_noise(const MatrixView<T>& noise, const MatrixView<T>& context,
                         Samples<T>& samples, KeepTape keep = KeepTape::no) const override;

  // Evaluates the samples again, with the present parameters.
  void add_sample_scores(const Samples<T>& samples, const VectorView<T>& weights,
                         std::span<T> gradient) const override;

 private:
  struct Component {
    T log_weight = 0;  // b_k
    T log_volume = 0;  // log |L_k| - features / 2 log(2 pi)
    Vector<T> mean;
    Matrix<T> factor;         // L_k
    Vector<T> weight_slopes;  // row k of B
    Matrix<T> mean_slopes;    // A_k
  };
  struct Tile;

  void set_layout();
  void pack();
  [[nodiscard]] Tile load(const MatrixView<T>& x, const MatrixView<T>& context,
                          std::size_t tile) const;
  [[nodiscard]] Matrix<T> log_weights(const Matrix<T>& context) const;
  void evaluate(Tile& tile) const;
  void add_tile_scores(const Tile& tile, const Vector<T>& weights, std::span<T> gradient) const;

  GaussianMixtureOptions options_;
  ParameterLayout layout_;
  std::vector<T> parameters_;
  std::vector<Component> components_;
};

extern template class GaussianMixture<float>;
extern template class GaussianMixture<double>;

}  // namespace jeffreys
