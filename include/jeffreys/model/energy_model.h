// Energy models: the paper's unnormalised proxy q_psi = exp(f_psi / T) / zeta, with a residual
// network f
// ("Model architectures"; temperature: "Training in high dimensions"). ResidualEnergy is the
// unconditional one, FilmEnergy the conditional one.
//
// Spectral normalisation divides a layer's weights by sigma = u^T W v. The vectors u and v belong
// to the model but are no parameters: only power_iterate() moves them. Training takes one step of
// it before each evaluation, as torch does in training mode.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "jeffreys/model/density.h"

namespace jeffreys {

template <typename T>
class EnergyModel : public UnnormalizedDensity<T> {
 public:
  ~EnergyModel() override;

  [[nodiscard]] double temperature() const;

  // One or more power iterations of all spectral layers.
  void power_iterate(int iterations = 1);

  // u and v of all spectral layers as one flat buffer, with its layout.
  [[nodiscard]] const ParameterLayout& state_layout() const override;
  [[nodiscard]] std::span<const T> state() const override;
  void set_state(std::span<const T> vectors) override;
  void advance_state() override { power_iterate(); }

  // A layer's weights [out, in] as they act: divided by sigma where the layer is spectral.
  [[nodiscard]] Matrix<T> effective_weight(const ParameterBlock& block) const;

  [[nodiscard]] Eigen::Index features() const override;
  [[nodiscard]] Eigen::Index context_features() const override;
  [[nodiscard]] const ParameterLayout& layout() const override;
  [[nodiscard]] std::span<const T> parameters() const override;
  void edit_parameters(const std::function<void(std::span<T>)>& edit) override;

  // f_psi(x | c) / temperature
  [[nodiscard]] Vector<T> log_unnormalized(
      const MatrixView<T>& x, const MatrixView<T>& context = Matrix<T>()) const override;

  using UnnormalizedDensity<T>::add_scores;
  Vector<T> add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                       const WeightFunction<T>& weights, std::span<T> gradient) const override;
  // Evaluates once, where there is no context and the activations are not too many to keep.
  Vector<T> add_scores_of_batch(const MatrixView<T>& x, const MatrixView<T>& context,
                                const BatchWeightFunction<T>& weights,
                                std::span<T> gradient) const override;

  [[nodiscard]] bool has_input_gradient() const override { return true; }
  [[nodiscard]] InputGradient<T> input_gradient(
      const MatrixView<T>& x, const MatrixView<T>& context = Matrix<T>(),
      ContextGradient wanted = ContextGradient::yes) const override;

 protected:
  class Impl;
  class GradientGroups;
  explicit EnergyModel(std::unique_ptr<Impl> impl);
  EnergyModel(const EnergyModel& other);
  EnergyModel& operator=(const EnergyModel& other);
  EnergyModel(EnergyModel&&) noexcept;
  EnergyModel& operator=(EnergyModel&&) noexcept;

 private:
  std::unique_ptr<Impl> impl_;
};

// Differs from the paper: a confined energy model adds to f / T the logarithm of a fixed density,
//   -1/2 sum_j max(|x_j| - 5, 0)^2,
// flat where standardised data are (and where a spline flow acts) and normal beyond. Without it
// nothing makes exp(f) integrable: far from all data it may have any mass, even an infinite one.
inline constexpr double kConfinement = 5;

struct ResidualEnergyOptions {
  Eigen::Index features = 0;
  Eigen::Index hidden = 128;
  Eigen::Index blocks = 2;
  bool confined = false;
  double temperature = 1.0;
  std::uint64_t seed = 0;  // of the initial weights

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;

  // See SplineFlowOptions.
  static constexpr const char* kModelName = "residual_energy";
  template <typename Options, typename Visit>
  static void visit_architecture(Options& o, Visit&& visit) {
    visit("features", o.features);
    visit("hidden", o.hidden);
    visit("blocks", o.blocks);
    visit("confined", o.confined, kNotInFirstVersion);
    visit("temperature", o.temperature);
  }
  [[nodiscard]] double least_parameters() const;
};

// The paper's residual MLP (label alg:residual_mlp).
template <typename T>
class ResidualEnergy final : public EnergyModel<T> {
 public:
  using Options = ResidualEnergyOptions;

  // Weights as torch.nn.Linear draws them; 15 power iterations.
  explicit ResidualEnergy(const ResidualEnergyOptions& options);
  [[nodiscard]] const ResidualEnergyOptions& options() const { return options_; }
  [[nodiscard]] std::string architecture() const override;
  [[nodiscard]] std::unique_ptr<UnnormalizedDensity<T>> clone() const override;

 private:
  ResidualEnergyOptions options_;
};

struct FilmEnergyOptions {
  Eigen::Index features = 0;
  Eigen::Index context_features = 0;
  Eigen::Index hidden = 128;
  Eigen::Index blocks = 3;
  Eigen::Index film_layers = 2;
  // Spectral normalisation in all layers of the FiLM parts and LayerNorm inside the blocks. In the
  // paper's form (false) nothing bounds how far f grows.
  bool bounded = false;
  bool confined = false;
  double temperature = 1.0;
  std::uint64_t seed = 0;

  void validate() const;

  // See SplineFlowOptions.
  static constexpr const char* kModelName = "film_energy";
  template <typename Options, typename Visit>
  static void visit_architecture(Options& o, Visit&& visit) {
    visit("features", o.features);
    visit("context_features", o.context_features);
    visit("hidden", o.hidden);
    visit("blocks", o.blocks);
    visit("film_layers", o.film_layers);
    visit("bounded", o.bounded, kNotInFirstVersion);
    visit("confined", o.confined, kNotInFirstVersion);
    visit("temperature", o.temperature);
  }
  [[nodiscard]] double least_parameters() const;
};

// Its conditional version: residual FiLM blocks (label alg:cond_residual_block).
template <typename T>
class FilmEnergy final : public EnergyModel<T> {
 public:
  using Options = FilmEnergyOptions;

  explicit FilmEnergy(const FilmEnergyOptions& options);
  [[nodiscard]] const FilmEnergyOptions& options() const { return options_; }
  [[nodiscard]] std::string architecture() const override;
  [[nodiscard]] std::unique_ptr<UnnormalizedDensity<T>> clone() const override;

 private:
  FilmEnergyOptions options_;
};

extern template class EnergyModel<float>;
extern template class EnergyModel<double>;
extern template class ResidualEnergy<float>;
extern template class ResidualEnergy<double>;
extern template class FilmEnergy<float>;
extern template class FilmEnergy<double>;

}  // namespace jeffreys
