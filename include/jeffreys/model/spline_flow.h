// Neural spline flow: the paper's main model p_theta ("Model architectures"), equal to Zuko's NSF
// to rounding. Data x become noise z = t_{T-1}(... t_0(x)); log p(x) = log base(z) + sum of log
// determinants, where the base is standard normal unless said otherwise. Splines live on [-5, 5];
// beyond, a spline is the identity and the density that of the base, so data should be
// standardised.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jeffreys/model/density.h"

namespace jeffreys {

enum class FeatureOrder {
  alternating,  // ascending, descending, ascending, ...
  random        // drawn for each transform from the seed
};

// Which inputs the networks look at before training. A network that starts with zero weights on an
// input learns what depends on it. One that starts with random weights must also unlearn what does
// not, and from few rows it does not manage to (docs/evidence.md, "How a flow starts").
enum class FlowStart {
  random,         // all weights as torch.nn.Linear draws them
  unconditional,  // the weights of the conditions are 0: the same density for every condition
  independent     // those of the features are 0 as well: each feature has a density of its own
};

struct SplineFlowOptions {
  Eigen::Index features = 0;
  Eigen::Index context_features = 0;
  Eigen::Index transforms = 3;
  Eigen::Index bins = 8;
  std::vector<Eigen::Index> hidden = {64, 64};  // the hidden layers of each transform's network
  FeatureOrder order = FeatureOrder::alternating;
  FlowStart start = FlowStart::random;
  // Whether a triangular affine transform comes before the splines: it takes correlations out.
  bool affine = false;
  // The base distribution, to which the transforms lead: independent Student-t numbers with so many
  // degrees of freedom, whose tails are heavy, or standard normal numbers if this is 0.
  double student_t = 0;
  std::uint64_t seed = 0;  // of the initial weights, and of random orders

  // The order of the features in each transform: orders[t][feature] = position. Empty: as `order`
  // says.
  std::vector<std::vector<std::int64_t>> orders = {};

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;

  // What model files need to know about the architecture: its name, its fields, and a lower bound
  // of the number of parameters that a flow with these fields has.
  static constexpr const char* kModelName = "spline_flow";
  template <typename Options, typename Visit>
  static void visit_architecture(Options& o, Visit&& visit) {
    visit("features", o.features);
    visit("context_features", o.context_features);
    visit("transforms", o.transforms);
    visit("bins", o.bins);
    visit("hidden", o.hidden);
    visit("orders", o.orders);
    visit("affine", o.affine, kNotInFirstVersion);
    visit("student_t", o.student_t, kNotInFirstVersion);
  }
  [[nodiscard]] double least_parameters() const;
};

template <typename T>
class SplineFlow final : public Density<T> {
 public:
  using Options = SplineFlowOptions;

  // Weights as torch.nn.Linear draws them: U(-1/sqrt(inputs), 1/sqrt(inputs)), but for those that
  // `start` leaves at 0; masked weights are 0.
  explicit SplineFlow(const SplineFlowOptions& options);
  ~SplineFlow() override;
  SplineFlow(const SplineFlow& other);
  SplineFlow& operator=(const SplineFlow& other);
  SplineFlow(SplineFlow&&) noexcept;
  SplineFlow& operator=(SplineFlow&&) noexcept;

  // The options, with the orders filled in.
  [[nodiscard]] const SplineFlowOptions& options() const;

  [[nodiscard]] std::string architecture() const override;
  [[nodiscard]] std::unique_ptr<UnnormalizedDensity<T>> clone() const override;
  [[nodiscard]] Eigen::Index features() const override;
  [[nodiscard]] Eigen::Index context_features() const override;
  [[nodiscard]] const ParameterLayout& layout() const override;
  [[nodiscard]] std::span<const T> parameters() const override;
  void edit_parameters(const std::function<void(std::span<T>)>& edit) override;

  // For a block of weights, which of them the flow uses (row-major, as the block); empty for a
  // block that has no mask.
  [[nodiscard]] std::vector<std::uint8_t> mask(const ParameterBlock& block) const;

  [[nodiscard]] Vector<T> log_unnormalized(
      const MatrixView<T>& x, const MatrixView<T>& context = Matrix<T>()) const override;

  using UnnormalizedDensity<T>::add_scores;
  Vector<T> add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                       const WeightFunction<T>& weights, std::span<T> gradient) const override;

  [[nodiscard]] bool has_input_gradient() const override { return true; }
  [[nodiscard]] InputGradient<T> input_gradient(
      const MatrixView<T>& x, const MatrixView<T>& context = Matrix<T>(),
      ContextGradient wanted = ContextGradient::yes) const override;

  // What the transforms make of x, [rows, features]: numbers of the base distribution. With a
  // Student-t base they are not the normal numbers that sample_from_noise takes.
  [[nodiscard]] Matrix<T> to_noise(const MatrixView<T>& x,
                                   const MatrixView<T>& context = Matrix<T>()) const;

  using Density<T>::sample_from_noise;
  void sample_from_noise(const MatrixView<T>& noise, const MatrixView<T>& context,
                         Samples<T>& samples, KeepTape keep = KeepTape::no) const override;

  void add_sample_scores(const Samples<T>& samples, const VectorView<T>& weights,
                         std::span<T> gradient) const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class SplineFlow<float>;
extern template class SplineFlow<double>;

}  // namespace jeffreys
