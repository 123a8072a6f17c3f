// Normal noise of two deviations, with even chances. Parameters given an outcome have the same two
// Gaussians around the outcome, cut off by the prior's square; the evidence is the probability of
// the square, a product of two normal probabilities for each deviation.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "truth/task_kinds.h"
#include "truth/task_square.h"

namespace jeffreys {
namespace {

constexpr std::array<double, 2> kDeviations = {1, 0.1};

double deviation_of(double uniform) { return uniform < 0.5 ? kDeviations[0] : kDeviations[1]; }

// The number between two bounds that splits a standard normal number's probability between them:
// `part` lies below. By bisection, which keeps the accuracy of normal_probability() in the tails.
double normal_between(double from, double to, double part) {
  constexpr int kHalvings = 60;
  const double below = part * normal_probability(from, to);
  double least = from;
  double most = to;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (least + most);
    (normal_probability(from, middle) < below ? least : most) = middle;
  }
  return least;
}

class GaussianMixture : public SquareTask {
 public:
  GaussianMixture(std::string name, double lower, double upper)
      : SquareTask(std::move(name), lower, upper, 1) {}

  Vector<double> observation() const override { return Vector<double>::Constant(2, 0.75); }

 private:
  void place_outcome(Row parameter, const Noise& noise, std::span<double> outcome) const override {
    const double deviation = deviation_of(noise.uniform[0]);
    outcome[0] = parameter[0] + deviation * noise.normal[0];
    outcome[1] = parameter[1] + deviation * noise.normal[1];
  }

  // Without rejection: an outcome far from the square is common, and almost all of the noise around
  // it lies outside.
  bool place_posterior(Row observation, const Noise& noise,
                       std::span<double> parameter) const override {
    const double wide = part_inside(observation, kDeviations[0]);
    const double narrow = part_inside(observation, kDeviations[1]);
    const double deviation =
        noise.uniform[0] * (wide + narrow) < wide ? kDeviations[0] : kDeviations[1];
    for (std::size_t c = 0; c < parameter.size(); ++c) {
      const double z = normal_between((lower() - observation[c]) / deviation,
                                      (upper() - observation[c]) / deviation, noise.uniform[c + 1]);
      parameter[c] = std::clamp(observation[c] + deviation * z, lower(), upper());
    }
    return true;
  }

  double likelihood(Row parameter, Row outcome) const override {
    const double distance = std::hypot(outcome[0] - parameter[0], outcome[1] - parameter[1]);
    const double wide = log_normal(distance, kDeviations[0]);
    const double narrow = log_normal(distance, kDeviations[1]);
    const double most = std::max(wide, narrow);
    // Also so far away that differences mean nothing.
    if (std::isinf(most)) return most;
    return most + std::log(0.5 * (std::exp(wide - most) + std::exp(narrow - most)));
  }

  // In the plane, around 0.
  static double log_normal(double distance, double deviation) {
    const double z = distance / deviation;
    return -0.5 * z * z - std::log(2 * std::numbers::pi * deviation * deviation);
  }

  double part_inside(Row observation) const override {
    return 0.5 *
           (part_inside(observation, kDeviations[0]) + part_inside(observation, kDeviations[1]));
  }

  double part_inside(Row observation, double deviation) const {
    double part = 1;
    for (const double center : observation) {
      part *= normal_probability((lower() - center) / deviation, (upper() - center) / deviation);
    }
    return part;
  }

  ParameterRange reach(Row observation) const override {
    constexpr double kMargin = 7 * kDeviations[0];
    const Eigen::Vector2d center(observation[0], observation[1]);
    return {center.array() - kMargin, center.array() + kMargin};
  }
};

}  // namespace

std::unique_ptr<Task> make_gaussian_mixture(std::string name, double lower, double upper) {
  return std::make_unique<GaussianMixture>(std::move(name), lower, upper);
}

}  // namespace jeffreys
