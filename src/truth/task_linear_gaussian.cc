// A normal prior around 0 and normal noise: with variances P and N the evidence is normal with
// variance P + N, and the posterior has the mean outcome P / (P + N) and the variance P N / (P +
// N).
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "truth/task_kinds.h"

namespace jeffreys {
namespace {

constexpr double kPriorVariance = 0.1;
constexpr double kNoiseVariance = 0.1;
constexpr double kShare = kPriorVariance / (kPriorVariance + kNoiseVariance);
constexpr double kPosteriorVariance = kShare * kNoiseVariance;
constexpr double kMargin = 7;  // deviations

double log_normal(double squared_distance, std::size_t dimension, double variance) {
  return -0.5 * squared_distance / variance -
         0.5 * static_cast<double>(dimension) * std::log(2 * std::numbers::pi * variance);
}

class LinearGaussian : public Task {
 public:
  LinearGaussian(std::string name, Eigen::Index dimension)
      : Task(std::move(name), dimension, dimension) {}

  // The paper has no such task: a value at about one deviation of the evidence.
  Vector<double> observation() const override { return Vector<double>::Constant(outcomes(), 0.5); }

  ParameterRange prior_range() const override {
    const double end = kMargin * std::sqrt(kPriorVariance);
    return {Vector<double>::Constant(parameters(), -end),
            Vector<double>::Constant(parameters(), end)};
  }

 private:
  void place_prior(const Noise& noise, std::span<double> parameter) const override {
    for (std::size_t c = 0; c < parameter.size(); ++c) {
      parameter[c] = std::sqrt(kPriorVariance) * noise.normal[c];
    }
  }

  void place_outcome(Row parameter, const Noise& noise, std::span<double> outcome) const override {
    for (std::size_t c = 0; c < outcome.size(); ++c) {
      outcome[c] = parameter[c] + std::sqrt(kNoiseVariance) * noise.normal[c];
    }
  }

  bool place_posterior(Row observation, const Noise& noise,
                       std::span<double> parameter) const override {
    for (std::size_t c = 0; c < parameter.size(); ++c) {
      parameter[c] = kShare * observation[c] + std::sqrt(kPosteriorVariance) * noise.normal[c];
    }
    return true;
  }

  double prior(Row parameter) const override {
    double squares = 0;
    for (const double value : parameter) squares += value * value;
    return log_normal(squares, parameter.size(), kPriorVariance);
  }

  double likelihood(Row parameter, Row outcome) const override {
    double squares = 0;
    for (std::size_t c = 0; c < outcome.size(); ++c) {
      squares += (outcome[c] - parameter[c]) * (outcome[c] - parameter[c]);
    }
    return log_normal(squares, outcome.size(), kNoiseVariance);
  }

  double evidence(Row observation) const override {
    double squares = 0;
    for (const double value : observation) squares += value * value;
    return log_normal(squares, observation.size(), kPriorVariance + kNoiseVariance);
  }

  ParameterRange range_given(Row observation) const override {
    const double margin = kMargin * std::sqrt(kPosteriorVariance);
    const Vector<double> mean =
        kShare * Eigen::Map<const Vector<double>>(observation.data(), outcomes());
    return {mean.array() - margin, mean.array() + margin};
  }
};

}  // namespace

std::unique_ptr<Task> make_linear_gaussian(std::string name, Eigen::Index dimension) {
  if (dimension < 1) {
    throw std::invalid_argument(fmt::format("dimension: expected 1 or more, got {}", dimension));
  }
  return std::make_unique<LinearGaussian>(std::move(name), dimension);
}

}  // namespace jeffreys
