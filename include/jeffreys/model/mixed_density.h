// Models of rows with categories. A row is [x_1 .. x_D, k_1 .. k_C]: D continuous numbers, then the
// codes of C categories as numbers. A category with n classes has the codes 0 to n - 1, and n for a
// class that was never seen; a row with any other number there has the value NaN.
//
// To the models inside a class is a one-hot code, n numbers for each category, all of them 0 for a
// class that was never seen.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jeffreys/model/any_model.h"
#include "jeffreys/model/density.h"

namespace jeffreys {

class CategoryColumns;
template <typename T>
class CategoryNetwork;
template <typename T>
struct CategoryPass;

struct MixedDensityOptions {
  Eigen::Index features = 0;                  // the continuous ones; there may be none
  std::vector<Eigen::Index> categories = {};  // the number of classes of each
  Eigen::Index context_features = 0;
  std::vector<Eigen::Index> hidden = {32};  // the hidden layers of the network for the categories
  std::uint64_t seed = 0;                   // of its initial weights

  // Throws std::invalid_argument naming the field, expected and actual value.
  void validate() const;

  // See SplineFlowOptions. The architecture has one more field, "given".
  static constexpr const char* kModelName = "mixed";
  template <typename Options, typename Visit>
  static void visit_architecture(Options& o, Visit&& visit) {
    visit("features", o.features);
    visit("categories", o.categories);
    visit("context_features", o.context_features);
    visit("hidden", o.hidden);
  }
  // Of the network for the categories.
  [[nodiscard]] double least_parameters() const;

  // What the model given the categories has for its context: the one-hot codes, then the context.
  [[nodiscard]] Eigen::Index given_context_features() const;
};

// p(x, k | c) = P(k | c) p(x | k, c). The first factor is a product over the categories in their
// order, each by a network that sees the context and the categories before it. The second is any
// density of x whose context is (one-hot codes, c). The factor of a class that was never seen is 1:
// somebody else accounts for its mass, and it is never drawn.
template <typename T>
class MixedDensity final : public Density<T> {
 public:
  using Options = MixedDensityOptions;

  // `given` is p(x | k, c), or none if there are no continuous features. Throws
  // std::invalid_argument for a model of other sizes, for one that does not draw samples, and for
  // one that is mixed itself. All classes start equally probable.
  explicit MixedDensity(const MixedDensityOptions& options,
                        std::unique_ptr<UnnormalizedDensity<T>> given = nullptr);

  [[nodiscard]] const MixedDensityOptions& options() const { return options_; }
  // nullptr if there are no continuous features.
  [[nodiscard]] const Density<T>* given() const { return given_ ? &**given_ : nullptr; }

  // In a fresh model gives every class its frequency in these rows [rows, features]; half a row is
  // added to each class, so that none is impossible.
  void set_frequencies(const MatrixView<T>& x);

  [[nodiscard]] std::string architecture() const override;
  [[nodiscard]] std::unique_ptr<UnnormalizedDensity<T>> clone() const override;
  [[nodiscard]] Eigen::Index features() const override;
  [[nodiscard]] Eigen::Index context_features() const override { return options_.context_features; }
  [[nodiscard]] Eigen::Index continuous_features() const override { return options_.features; }
  // Blocks "categories.*", then "given.*".
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  [[nodiscard]] std::span<const T> parameters() const override { return parameters_; }
  void edit_parameters(const std::function<void(std::span<T>)>& edit) override;

  [[nodiscard]] const ParameterLayout& state_layout() const override { return state_layout_; }
  [[nodiscard]] std::span<const T> state() const override;
  void set_state(std::span<const T> values) override;
  void advance_state() override;
  void use_threads(std::shared_ptr<ThreadPool> pool) override;

  [[nodiscard]] Vector<T> log_unnormalized(
      const MatrixView<T>& x, const MatrixView<T>& context = Matrix<T>()) const override;

  using UnnormalizedDensity<T>::add_scores;
  Vector<T> add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                       const WeightFunction<T>& weights, std::span<T> gradient) const override;
  Vector<T> add_scores_of_batch(const MatrixView<T>& x, const MatrixView<T>& context,
                                const BatchWeightFunction<T>& weights,
                                std::span<T> gradient) const override;

  // The noise of the model that is given the categories, then a number for each category.
  [[nodiscard]] Eigen::Index noise_features() const override;
  using Density<T>::sample_from_noise;
  void sample_from_noise(const MatrixView<T>& noise, const MatrixView<T>& context,
                         Samples<T>& samples, KeepTape keep = KeepTape::no) const override;

  void add_sample_scores(const Samples<T>& samples, const VectorView<T>& weights,
                         std::span<T> gradient) const override;

 private:
  void check(const MatrixView<T>& x, const MatrixView<T>& context) const;
  void check_gradient(std::span<T> gradient) const;
  [[nodiscard]] std::size_t network_size() const;
  [[nodiscard]] CategoryPass<T> evaluate(const MatrixView<T>& x, Matrix<T> context) const;
  [[nodiscard]] Matrix<T> given_context(const CategoryPass<T>& pass) const;
  void sample_part(const MatrixView<T>& noise, Matrix<T> context, KeepTape keep,
                   CategoryPass<T>& pass, Samples<T>& given, Samples<T>& samples) const;

  MixedDensityOptions options_;
  std::shared_ptr<const CategoryNetwork<T>> network_;  // it never changes, so copies share it
  std::optional<AnyDensity<T>> given_;
  ParameterLayout layout_;
  ParameterLayout state_layout_;
  std::vector<T> parameters_;
  std::uint64_t version_ = 0;  // of the parameters
};

struct MixedEnergyOptions {
  Eigen::Index features = 0;                  // the continuous ones; there may be none
  std::vector<Eigen::Index> categories = {};  // the number of classes of each

  void validate() const;

  // See SplineFlowOptions. The architecture has one more field, "energy".
  static constexpr const char* kModelName = "mixed_energy";
  template <typename Options, typename Visit>
  static void visit_architecture(Options& o, Visit&& visit) {
    visit("features", o.features);
    visit("categories", o.categories);
  }

  // What the model inside sees of a row: x, then the one-hot codes.
  [[nodiscard]] Eigen::Index inner_features() const;
};

// An unnormalised density of rows with categories: any unnormalised density of (x, one-hot codes).
// Parameters, state and context are those of the model inside. It has no input gradient, since
// there is nothing between two classes.
template <typename T>
class MixedEnergy final : public UnnormalizedDensity<T> {
 public:
  using Options = MixedEnergyOptions;

  // Throws std::invalid_argument for a model of another size, and for one that is mixed itself.
  MixedEnergy(const MixedEnergyOptions& options, std::unique_ptr<UnnormalizedDensity<T>> energy);

  [[nodiscard]] const MixedEnergyOptions& options() const { return options_; }
  [[nodiscard]] const UnnormalizedDensity<T>& energy() const { return *energy_; }

  [[nodiscard]] std::string architecture() const override;
  [[nodiscard]] std::unique_ptr<UnnormalizedDensity<T>> clone() const override;
  [[nodiscard]] Eigen::Index features() const override;
  [[nodiscard]] Eigen::Index context_features() const override {
    return energy_->context_features();
  }
  [[nodiscard]] Eigen::Index continuous_features() const override { return options_.features; }
  [[nodiscard]] const ParameterLayout& layout() const override { return energy_->layout(); }
  [[nodiscard]] std::span<const T> parameters() const override { return energy_->parameters(); }
  void edit_parameters(const std::function<void(std::span<T>)>& edit) override {
    energy_->edit_parameters(edit);
  }

  [[nodiscard]] const ParameterLayout& state_layout() const override {
    return energy_->state_layout();
  }
  [[nodiscard]] std::span<const T> state() const override { return energy_->state(); }
  void set_state(std::span<const T> values) override { energy_->set_state(values); }
  void advance_state() override { energy_->advance_state(); }
  void use_threads(std::shared_ptr<ThreadPool> pool) override;

  [[nodiscard]] Vector<T> log_unnormalized(
      const MatrixView<T>& x, const MatrixView<T>& context = Matrix<T>()) const override;

  using UnnormalizedDensity<T>::add_scores;
  Vector<T> add_scores(const MatrixView<T>& x, const MatrixView<T>& context,
                       const WeightFunction<T>& weights, std::span<T> gradient) const override;
  Vector<T> add_scores_of_batch(const MatrixView<T>& x, const MatrixView<T>& context,
                                const BatchWeightFunction<T>& weights,
                                std::span<T> gradient) const override;

 private:
  [[nodiscard]] Matrix<T> inner_rows(const MatrixView<T>& x) const;

  MixedEnergyOptions options_;
  std::shared_ptr<const CategoryColumns> columns_;  // they never change, so copies share them
  AnyModel<T> energy_;
};

extern template class MixedDensity<float>;
extern template class MixedDensity<double>;
extern template class MixedEnergy<float>;
extern template class MixedEnergy<double>;

}  // namespace jeffreys
