// One step of the dual method in the form that is the default (log zeta in the constraints, zeta
// from the samples of the reverse KL) against autograd of the Lagrangian in libtorch, in double.
#include <gtest/gtest.h>
#include <torch/autograd.h>

#include <cmath>
#include <memory>
#include <ostream>
#include <string>

#include "support/model_helpers.h"
#include "torch/tensors.h"
#include "torch/twin_energy.h"
#include "torch/twin_flow.h"
#include "train/training_run.h"

namespace jeffreys {
namespace {

using testing::normals;
using torch::Tensor;
using twin::to_tensor;

constexpr Eigen::Index kStepRows = 12;
constexpr Eigen::Index kEach = 4;  // samples of a condition
constexpr double kStepTolerance = 1e-9;
const Multipliers kMultipliers{0.7, 1.9, 1.2, 0.4, 1.1};

struct StepCase {
  std::string name;
  bool conditional = false;
  bool bounded = false;
  double pull = 0;
};
void PrintTo(const StepCase& step, std::ostream* stream) { *stream << step.name; }

// [samples of a condition, conditions], or [samples, 1].
Tensor by_condition(const Tensor& values, std::int64_t conditions) {
  return values.reshape({-1, conditions});
}

void expect_near(const Tensor& expected, std::span<const double> found) {
  const Tensor values = expected.detach().contiguous();
  ASSERT_EQ(values.numel(), static_cast<std::int64_t>(found.size()));
  const double largest = values.abs().max().item<double>();
  ASSERT_GT(largest, 1e-3);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], values.data_ptr<double>()[i], kStepTolerance * std::max(1.0, largest))
        << i;
  }
}

class StableStep : public ::testing::TestWithParam<StepCase> {
 protected:
  static constexpr double kSlack = 0.25;

  // Twins are taken before the step, which changes the models.
  template <typename Energy>
  void compare(Energy& proxy, SplineFlow<double>& main) {
    const bool conditional = GetParam().conditional;
    testing::add_parameter_noise<double>(main, 0.2, 2);
    testing::add_parameter_noise<double>(proxy, 0.2, 3);
    const Matrix<double> x = normals(kStepRows, 2, 4);
    const Matrix<double> context = normals(conditional ? kStepRows : 0, conditional ? 2 : 0, 5);
    const std::int64_t conditions = conditional ? kStepRows : 1;
    const Eigen::Index samples = conditional ? kStepRows * kEach : kStepRows;
    const GivenNoise<double> noise{normals(samples, 2, 6), {}};
    const twin::FlowTwin main_twin(main);
    twin::EnergyTwin proxy_twin(proxy);
    proxy_twin.power_iterate();
    const Tensor c = conditional ? to_tensor<double>(context) : Tensor();
    const Tensor cs = conditional ? c.repeat({kEach, 1}) : Tensor();
    const Tensor y = main_twin.sample(to_tensor<double>(noise.reverse), cs).detach();
    const Tensor log_p = main_twin.log_prob(y, cs);
    const Tensor f = proxy_twin.value(y, cs);

    TrainingRun<double> run(
        main, &proxy, {x, conditional ? context : Matrix<double>(kStepRows, 0), {}, {}},
        {.method = Method::weighted,
         .multipliers = kMultipliers,
         .dual = {.level_scale = 0.6,
                  .reverse_scale = 1.7,
                  .zeta_slack = kSlack,
                  .zeta_pull = GetParam().pull,
                  .reverse_estimator = ReverseEstimator::leave_one_out},
         .zeta = {.estimator = ZetaEstimator::shared, .samples_per_condition = kEach}});
    const StepRecord record = run.step(&noise);

    const Tensor log_weights = by_condition(f - log_p.detach(), conditions);
    const Tensor log_zeta =
        torch::logsumexp(log_weights, 0) - std::log(static_cast<double>(log_weights.size(0)));
    const Tensor level = log_zeta.mean();
    const double upper = std::log1p(kSlack);
    // Quadratic outside of the bounds, from a distance of 1 on linear.
    const Tensor distance = torch::relu(log_zeta - upper) + torch::relu(-log_zeta);
    const Tensor pull = torch::where(distance < 1, distance * distance / 2, distance - 0.5).mean();
    const Tensor data = proxy_twin.value(to_tensor<double>(x), c);
    const Tensor lagrangian = kMultipliers.reverse * 1.7 * ((log_p.detach() - f).mean() + level) +
                              kMultipliers.proxy * 0.6 * (level - data.mean()) -
                              kMultipliers.zeta_lower * level +
                              kMultipliers.zeta_upper * (level - upper) + GetParam().pull * pull;
    EXPECT_NEAR(record.log_zeta, level.item<double>(), 1e-12);
    EXPECT_NEAR(record.log_zeta_lowest, log_zeta.min().item<double>(), 1e-12);
    expect_near(torch::autograd::grad({lagrangian}, {proxy_twin.parameters()})[0],
                run.proxy_gradient());

    // The score function estimate, less the mean of the condition's other samples.
    const Tensor ratio = by_condition((log_p - f).detach(), conditions) + log_zeta.detach();
    const double n = static_cast<double>(ratio.size(0));
    const Tensor weights = ((ratio - ratio.mean(0)) * (n / (n - 1))).reshape({-1});
    const Tensor main_value =
        kMultipliers.reverse * 1.7 * (weights * log_p).mean() -
        kMultipliers.forward * 0.6 * main_twin.log_prob(to_tensor<double>(x), c).mean();
    expect_near(torch::autograd::grad({main_value}, {main_twin.parameters()})[0],
                run.main_gradient());
  }
};

TEST_P(StableStep, HasTheGradientsOfTheLagrangian) {
  const bool conditional = GetParam().conditional;
  SplineFlow<double> main({.features = 2,
                           .context_features = conditional ? 2 : 0,
                           .transforms = 2,
                           .bins = 4,
                           .hidden = {8}});
  if (conditional) {
    FilmEnergy<double> proxy({.features = 2,
                              .context_features = 2,
                              .hidden = 10,
                              .blocks = 2,
                              .bounded = GetParam().bounded});
    compare(proxy, main);
  } else {
    ResidualEnergy<double> proxy({.features = 2, .hidden = 10, .blocks = 2});
    compare(proxy, main);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, StableStep,
                         ::testing::Values(StepCase{"Plain"},
                                           StepCase{"PlainPulled", false, false, 2},
                                           StepCase{"Conditional", true},
                                           StepCase{"ConditionalBounded", true, true},
                                           StepCase{"ConditionalBoundedPulled", true, true, 2}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace jeffreys
