// Models with few parameters, whose best values are known: normal densities, an unnormalised one,
// and a mixture.
#pragma once

#include <cmath>
#include <numbers>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "jeffreys/model/density.h"
#include "kernels/random.h"

namespace jeffreys::testing {

inline double log_normal(double x, double mean, double deviation) {
  const double z = (x - mean) / deviation;
  return -0.5 * z * z - std::log(deviation) - 0.5 * std::log(2 * std::numbers::pi);
}

// A model of one feature by the value and the score of one number. Base: Density<double> or
// UnnormalizedDensity<double>.
template <typename Base>
class ToyModel : public Base {
 public:
  // One block for each name, of one number.
  ToyModel(const std::vector<const char*>& names, std::vector<double> parameters)
      : parameters_(std::move(parameters)) {
    for (const char* name : names) layout_.add(name, {});
  }

  [[nodiscard]] Eigen::Index features() const override { return 1; }
  [[nodiscard]] Eigen::Index context_features() const override { return 0; }
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  [[nodiscard]] std::span<const double> parameters() const override { return parameters_; }
  void edit_parameters(const std::function<void(std::span<double>)>& edit) override {
    edit(parameters_);
  }
  [[nodiscard]] double parameter(std::size_t i) const { return parameters_[i]; }

  [[nodiscard]] Vector<double> log_unnormalized(const MatrixView<double>& x,
                                                const MatrixView<double>&) const override {
    Vector<double> values(x.rows());
    for (Eigen::Index i = 0; i < x.rows(); ++i) values(i) = value(x(i, 0));
    return values;
  }

  using UnnormalizedDensity<double>::add_scores;
  Vector<double> add_scores(const MatrixView<double>& x, const MatrixView<double>& context,
                            const WeightFunction<double>& weights,
                            std::span<double> gradient) const override {
    const Vector<double> values = log_unnormalized(x, context);
    Vector<double> w(x.rows());
    const auto rows = static_cast<std::size_t>(x.rows());
    weights(0, {values.data(), rows}, {w.data(), rows});
    for (Eigen::Index i = 0; i < x.rows(); ++i) add_score(x(i, 0), w(i), gradient);
    return values;
  }

  [[nodiscard]] std::string architecture() const override { return R"({"model": "toy"})"; }
  [[nodiscard]] std::unique_ptr<UnnormalizedDensity<double>> clone() const override {
    throw std::logic_error("not needed by training");
  }

 protected:
  [[nodiscard]] virtual double value(double x) const = 0;
  // gradient += weight * d value(x) / d parameters
  virtual void add_score(double x, double weight, std::span<double> gradient) const = 0;

 private:
  ParameterLayout layout_;
  std::vector<double> parameters_;
};

// A toy density that samples: noise becomes x by `from_noise`.
class ToyDensity : public ToyModel<Density<double>> {
 public:
  using ToyModel::ToyModel;

  using Density<double>::sample_from_noise;
  void sample_from_noise(const MatrixView<double>& noise, const MatrixView<double>& context,
                         Samples<double>& samples, KeepTape) const override {
    samples.x = noise.unaryExpr([this](double z) { return from_noise(z); });
    samples.log_prob = log_unnormalized(samples.x, context);
  }

  void add_sample_scores(const Samples<double>& samples, const VectorView<double>& weights,
                         std::span<double> gradient) const override {
    for (Eigen::Index i = 0; i < samples.x.rows(); ++i) {
      add_score(samples.x(i, 0), weights(i), gradient);
    }
  }

 protected:
  [[nodiscard]] virtual double from_noise(double z) const = 0;
};

class GaussianDensity final : public ToyDensity {
 public:
  GaussianDensity(double mean, double deviation)
      : ToyDensity({"mean", "log_deviation"}, {mean, std::log(deviation)}) {}

  [[nodiscard]] double mean() const { return parameter(0); }
  [[nodiscard]] double deviation() const { return std::exp(parameter(1)); }

 protected:
  [[nodiscard]] double value(double x) const override { return log_normal(x, mean(), deviation()); }
  void add_score(double x, double weight, std::span<double> gradient) const override {
    const double z = (x - mean()) / deviation();
    gradient[0] += weight * z / deviation();
    gradient[1] += weight * (z * z - 1);
  }
  [[nodiscard]] double from_noise(double z) const override { return mean() + deviation() * z; }
};

// f(x) = offset - (x - mean)^2 / (2 deviation^2)
class GaussianEnergy final : public ToyModel<UnnormalizedDensity<double>> {
 public:
  GaussianEnergy(double mean, double deviation, double offset)
      : ToyModel({"mean", "log_deviation", "offset"}, {mean, std::log(deviation), offset}) {}

  [[nodiscard]] double mean() const { return parameter(0); }
  [[nodiscard]] double deviation() const { return std::exp(parameter(1)); }
  [[nodiscard]] double log_zeta() const {
    return parameter(2) + parameter(1) + 0.5 * std::log(2 * std::numbers::pi);
  }

 protected:
  [[nodiscard]] double value(double x) const override {
    const double z = (x - mean()) / deviation();
    return parameter(2) - 0.5 * z * z;
  }
  void add_score(double x, double weight, std::span<double> gradient) const override {
    const double z = (x - mean()) / deviation();
    gradient[0] += weight * z / deviation();
    gradient[1] += weight * z * z;
    gradient[2] += weight;
  }
};

// A normalised proxy that has two humps and no parameter of consequence.
class TwoHumps final : public ToyModel<UnnormalizedDensity<double>> {
 public:
  TwoHumps() : ToyModel({"unused"}, {0.0}) {}

  [[nodiscard]] bool normalized() const override { return true; }
  [[nodiscard]] static double log_density(double x) {
    return std::log(0.7 * std::exp(log_normal(x, -0.4, 0.5)) +
                    0.3 * std::exp(log_normal(x, 1.2, 1.2)));
  }

 protected:
  [[nodiscard]] double value(double x) const override { return log_density(x); }
  void add_score(double, double, std::span<double>) const override {}
};

// log p(x) = parameter * x: no density, but its score is x, so that every gradient and every step
// of AdamW is known.
class SlopeModel : public ToyDensity {
 public:
  explicit SlopeModel(double slope = 0) : ToyDensity({"slope"}, {slope}) {}
  [[nodiscard]] double slope() const { return parameter(0); }

 protected:
  [[nodiscard]] double value(double x) const override { return slope() * x; }
  void add_score(double x, double weight, std::span<double> gradient) const override {
    gradient[0] += weight * x;
  }
  [[nodiscard]] double from_noise(double z) const override { return z; }
};

}  // namespace jeffreys::testing
