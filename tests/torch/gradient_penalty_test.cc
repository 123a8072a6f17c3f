// The penalty of a WGAN-GP and its gradient, against autograd, before and after training steps.
#include "torch/gradient_penalty.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "jeffreys/torch/wgan.h"
#include "support/model_helpers.h"
#include "torch/tensors.h"
#include "torch/twin_energy.h"

namespace jeffreys {
namespace {

using testing::normals;
using torch::Tensor;

struct Penalty {
  double value;
  std::vector<double> gradient;
};

Penalty by_autograd(const ResidualEnergy<double>& critic, const Matrix<double>& x, double weight) {
  const twin::EnergyTwin twin(critic);
  const Tensor points = twin::to_tensor<double>(x).set_requires_grad(true);
  const Tensor slopes =
      torch::autograd::grad({twin.value(points).sum()}, {points}, {}, c10::nullopt, true)[0];
  const Tensor penalty = (slopes.norm(2, {1}) - 1).square().mean();
  Penalty result{.value = penalty.item<double>(),
                 .gradient = std::vector<double>(critic.parameters().size())};
  twin::add_to<double>(torch::autograd::grad({penalty * weight}, {twin.parameters()})[0],
                       result.gradient);
  return result;
}

template <typename T>
Penalty fused(const ResidualEnergy<T>& critic, const Matrix<double>& x, double weight) {
  std::vector<T> gradient(critic.parameters().size());
  const double value = add_gradient_penalty<T>(critic, Matrix<T>(x.cast<T>()), weight, gradient);
  return {.value = value, .gradient = {gradient.begin(), gradient.end()}};
}

// |actual - expected| / |expected| of whole gradients.
double distance(const Penalty& actual, const Penalty& expected) {
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < expected.gradient.size(); ++i) {
    difference += std::pow(actual.gradient[i] - expected.gradient[i], 2);
    size += std::pow(expected.gradient[i], 2);
  }
  return std::sqrt(difference / size);
}

// A critic of the size that the experiments have, in both precisions and with the same weights,
// after so many iterations of a WGAN.
struct Critics {
  explicit Critics(int iterations) {
    SplineFlow<float> generator(
        {.features = 2, .transforms = 2, .bins = 4, .hidden = {8, 8}, .seed = 4});
    WganTrainer<float> trainer(generator, single, normals(64, 2, 9).cast<float>(),
                               {.learning_rate_generator = 1e-3, .learning_rate_critic = 1e-2});
    for (int i = 0; i < iterations; ++i) EXPECT_FALSE(trainer.step().skipped);
    twice.edit_parameters([&](std::span<double> p) {
      std::copy(single.parameters().begin(), single.parameters().end(), p.begin());
    });
    twice.set_state(std::vector<double>(single.state().begin(), single.state().end()));
  }

  static constexpr ResidualEnergyOptions kOptions{
      .features = 2, .hidden = 128, .blocks = 2, .seed = 3};
  ResidualEnergy<float> single{kOptions};
  ResidualEnergy<double> twice{kOptions};
};

class GradientPenaltyAfter : public ::testing::TestWithParam<int> {};

TEST_P(GradientPenaltyAfter, AgreesWithAutograd) {
  const Critics critics(GetParam());
  const Matrix<double> x = normals(200, 2, 7);
  const Penalty expected = by_autograd(critics.twice, x, 0.1);
  const Penalty twice = fused(critics.twice, x, 0.1);
  const Penalty single = fused(critics.single, x, 0.1);
  EXPECT_NEAR(twice.value, expected.value, 1e-12 * expected.value);
  EXPECT_NEAR(single.value, expected.value, 1e-5 * expected.value);
  // A central difference: in double precision rounding and truncation leave some 1e-10.
  EXPECT_LT(distance(twice, expected), 1e-9);
  EXPECT_LT(distance(single, expected), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Iterations, GradientPenaltyAfter, ::testing::Values(0, 30));

TEST(GradientPenalty, IsNotAddedWhereASlopeIsNotFinite) {
  const Critics critics(0);
  Matrix<double> x = normals(3, 2, 7);
  x(1, 0) = NAN;
  const Penalty penalty = fused(critics.single, x, 0.1);
  EXPECT_TRUE(std::isnan(penalty.value));
  for (const double item : penalty.gradient) ASSERT_EQ(item, 0);
}

}  // namespace
}  // namespace jeffreys
